/**
 * Starts the sandbox, a local stand-in for the payment service, in a database. It imports the contract
 * and the platform, and nothing of the code that it tests, so the two cannot share a mistake.
 */
import { join } from 'node:path';
import { createDatabase } from '../platform/db/database.ts';
import { migrateSchema } from '../platform/db/migrateSchema.ts';
import { OperatorError } from '../platform/errors.ts';
import { startExpressServer } from '../platform/expressServer.ts';
import type { Log } from '../platform/log.ts';
import { packageRoot } from '../platform/packageRoot.ts';
import { type AssemblyOptions, assembleSandbox } from './assemble.ts';
import { lockDatabase } from './databaseLock.ts';
import { refuseForeignLedger } from './safety.ts';
import type { Services } from './services.ts';
import { createPostgresStore } from './store/postgres/store.ts';

export interface SandboxOptions extends AssemblyOptions {
  readonly databaseUrl: string;
  /** Loopback only; 0 chooses a free port. */
  readonly port: number;
  readonly log: Log;
  /** Sets the clock of an empty sandbox before it starts. */
  readonly startAtMs?: number | undefined;
}

export interface RunningSandbox {
  /** Without a trailing slash: the PAYMENTS_BASE_URL of its clients. */
  readonly baseUrl: string;
  readonly port: number;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly profileId: string;
  /** Resolves when it is closed; rejects with an OperatorError once another sandbox has its database. */
  readonly ended: Promise<void>;
  /** Stops listening, ends requests and webhooks in flight, and closes the database. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 8;
const DATABASE_RESPONSE_TIMEOUT_MS = 60_000;

/**
 * Migrates the schema and listens.
 * @throws OperatorError when the database has a real ledger, or the port is in use
 */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const { databaseUrl, log, port } = options;
  const db = createDatabase({
    connectionString: databaseUrl,
    log,
    applicationName: 'tallyhook-sandbox',
    maxConnections: MAX_CONNECTIONS,
    responseTimeoutMs: DATABASE_RESPONSE_TIMEOUT_MS,
    plans: 'any',
  });
  const closers: (() => Promise<void>)[] = [() => db.close()];
  const close = async (): Promise<void> => {
    for (const step of closers.splice(0).reverse()) await step();
  };
  try {
    await refuseForeignLedger(db);
    await migrateSchema({
      connectionString: databaseUrl,
      schema: 'sandbox',
      folder: join(packageRoot(), 'migrations', 'sandbox'),
    });
    const lock = await lockDatabase(db, log);
    closers.push(lock.release);
    let baseUrl = '';
    const { services, app } = await assembleSandbox(options, {
      store: createPostgresStore(db),
      baseUrl: () => baseUrl,
    });
    closers.push(() => services.engine.close());
    if (options.startAtMs !== undefined) await setClock(services, options.startAtMs);
    const server = await startExpressServer({
      host: HOST,
      port,
      app,
      portSetting: 'SANDBOX_PORT',
    });
    closers.push(() => server.close());
    baseUrl = `http://${HOST}:${server.port}`;
    log.info({ port: server.port }, 'sandbox.listening');
    const { apiKey } = options;
    const { account } = services;
    return { baseUrl, port: server.port, apiKey, ...account, ended: lock.ended, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function setClock({ engine }: Services, startAtMs: number): Promise<void> {
  if (await engine.startAt(startAtMs)) return;
  throw new OperatorError(
    'This sandbox holds data already, so its clock cannot be set: new payments would have older times ' +
      'than the stored ones. Leave out --at to continue with its clock, or use an empty DATA_DIR or database.',
  );
}
