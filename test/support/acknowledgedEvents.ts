/** What the service knows to be acknowledged, from its own record of deliveries. */
import { createDatabase } from '../../src/platform/db/database.ts';
import { silentLog } from './database.ts';
import type { TestSandbox } from './sandbox.ts';

/** Ids of the events that got a response 200 to their own body. */
export async function readAcknowledged({
  databaseUrl,
}: Pick<TestSandbox, 'databaseUrl'>): Promise<ReadonlySet<string>> {
  const service = createDatabase({
    connectionString: databaseUrl,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 1,
    responseTimeoutMs: 60_000,
    plans: 'any',
  });
  try {
    const rows = await service.query<{ id: string }>(
      `select distinct e.event_id as id
         from sandbox.deliveries d join sandbox.events e on e.seq = d.event_seq
        where d.http_status = 200 and d.other_body is null`,
    );
    return new Set(rows.map(({ id }) => id));
  } finally {
    await service.close();
  }
}
