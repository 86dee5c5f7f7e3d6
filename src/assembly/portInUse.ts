/** Why a port is in use, for the person who starts Tallyhook. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { readProcesses } from '../monitor/store/processes.ts';
import { createDatabase } from '../platform/db/database.ts';
import { PortInUse, startHttpServer } from '../platform/httpServer.ts';
import type { Log } from '../platform/log.ts';
import type { Role } from './roles.ts';

const MAX_PROCESSES = 200;
const RESPONSE_TIMEOUT_MS = 5_000;

const SAME_SETTING = 'Commands need the same setting, for example in the file .env of this folder.';

/**
 * Listens once at each port before a new installation is created: one that is left without a process would
 * respond to commands of this folder, with an empty ledger.
 * @throws PortInUse
 */
export async function refuseUsedPorts(config: Config, roles: ReadonlySet<Role>): Promise<void> {
  if (config.databaseUrl !== undefined || existsSync(config.dataDir)) return;
  const { host, port, adminHost, adminPort, sandboxPort } = config;
  const servers = [
    { role: 'receiver', host, port, portSetting: 'PORT', hostSetting: 'HOST' },
    {
      role: 'console',
      host: adminHost,
      port: adminPort,
      portSetting: 'ADMIN_PORT',
      hostSetting: 'ADMIN_HOST',
    },
    { role: 'sandbox', host: '127.0.0.1', port: sandboxPort, portSetting: 'SANDBOX_PORT' },
  ] as const;
  for (const { role, ...options } of servers) {
    if (!roles.has(role)) continue;
    try {
      const server = await startHttpServer({ ...options, handler: () => undefined });
      await server.close();
    } catch (error) {
      if (!(error instanceof PortInUse)) throw error;
      throw new PortInUse(`${error.message} ${SAME_SETTING} Nothing was created.`);
    }
  }
}

/** Names another process of the same installation on this machine as the cause; rethrows every other error. */
export async function explainPortInUse(
  error: unknown,
  { databaseUrl, log }: { readonly databaseUrl: string; readonly log: Log },
): Promise<never> {
  if (!(error instanceof PortInUse)) throw error;
  const other = await otherProcess(databaseUrl, log).catch(() => undefined);
  if (other === undefined) {
    throw new PortInUse(`${error.message} ${SAME_SETTING}`);
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
