/** The sandbox in a process with its database, for benches of a service with a long history. */
import { join } from 'node:path';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { startSandbox } from '../../src/sandbox/startSandbox.ts';
import { startPostgres } from '../database.ts';
import type { BenchParts } from '../runBench.ts';

export const API_KEY = 'snd_bench_0123456789abcdef';

export interface BenchSandbox {
  readonly db: Database;
  readonly baseUrl: string;
}

/** @param name of the database */
export async function startBenchSandbox(
  name: string,
  { folder, cleanup }: BenchParts,
): Promise<BenchSandbox> {
  const postgres = await startPostgres(join(folder, 'data'), cleanup);
  const { url } = await postgres.createDatabase(name);
  const log = createLog('silent');
  const sandbox = await startSandbox({
    databaseUrl: url,
    port: 0,
    apiKey: API_KEY,
    webhook: { secret: 'bench-secret-0123456789' },
    log,
    requestsPerMinute: 10_000_000,
  });
  cleanup.add(() => sandbox.close());
  const db = createDatabase({
    connectionString: url,
    log,
    applicationName: 'tallyhook-bench',
    maxConnections: 4,
    responseTimeoutMs: 600_000,
    plans: 'any',
  });
  cleanup.add(() => db.close());
  return { db, baseUrl: sandbox.baseUrl };
}
