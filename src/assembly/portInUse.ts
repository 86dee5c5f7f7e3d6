/** Why a port is in use, for the person who starts Tallyhook. */
import { hostname } from 'node:os';
import { readProcesses } from '../monitor/store/processes.ts';
import { createDatabase } from '../platform/db/database.ts';
import { PortInUse } from '../platform/httpServer.ts';
import type { Log } from '../platform/log.ts';

const MAX_PROCESSES = 200;
const RESPONSE_TIMEOUT_MS = 5_000;

/** Names another process of the same installation on this machine as the cause; rethrows every other error. */
export async function explainPortInUse(
  error: unknown,
  { databaseUrl, log }: { readonly databaseUrl: string; readonly log: Log },
): Promise<never> {
  if (!(error instanceof PortInUse)) throw error;
  const other = await otherProcess(databaseUrl, log).catch(() => undefined);
  if (other === undefined) {
    throw new PortInUse(
      `${error.message} Commands need the same setting, for example in the file .env of this folder.`,
    );
  }
  throw new PortInUse(
    `Tallyhook already runs here: process ${other.pid} uses the same database, with the roles ` +
      `${other.roles.join(', ')}. Commands in this folder reach it, and \`npx tallyhook status\` shows how it is. ` +
      `To start it again, end that process first. ${error.message}`,
  );
}

async function otherProcess(databaseUrl: string, log: Log) {
  const db = createDatabase({
    connectionString: databaseUrl,
    log,
    applicationName: 'tallyhook-start',
    maxConnections: 1,
    responseTimeoutMs: RESPONSE_TIMEOUT_MS,
    plans: 'any',
  });
  try {
    const processes = await readProcesses(db, MAX_PROCESSES);
    return processes.find(
      ({ isSeen, host, pid }) => isSeen && host === hostname() && pid !== process.pid,
    );
  } finally {
    await db.close();
  }
}
