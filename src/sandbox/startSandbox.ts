/**
 * Starts the sandbox, a local stand-in for the payment service. It imports the contract and the
 * platform, and nothing of the code that it tests, so the two cannot share a mistake.
 */
import { join } from 'node:path';
import { type Clock, systemClock } from '../platform/clock.ts';
import { createDatabase } from '../platform/db/database.ts';
import { migrateSchema } from '../platform/db/migrateSchema.ts';
import { OperatorError } from '../platform/errors.ts';
import { startHttpServer } from '../platform/httpServer.ts';
import type { Log } from '../platform/log.ts';
import { packageRoot } from '../platform/packageRoot.ts';
import { createSandboxClock } from './clock.ts';
import { lockDatabase } from './databaseLock.ts';
import { createEngine, type Engine } from './engine.ts';
import { createActiveFaults } from './faults/activeFaults.ts';
import { type FaultsInput, faultsSchema } from './faults/settings.ts';
import { createSandboxApp } from './http/app.ts';
import { hashKey } from './http/authenticate.ts';
import { createIgnoredFields } from './http/ignoredFields.ts';
import { createRateLimit } from './http/rateLimit.ts';
import { createResourceWriter } from './resourceWriter.ts';
import { refuseForeignLedger, SANDBOX_MERCHANT_ID, SANDBOX_PROFILE_ID } from './safety.ts';
import type { Services } from './services.ts';
import { readAdvance, storeAdvance, upsertKey } from './store/account.ts';
import { createSender } from './webhooks/sender.ts';

export interface SandboxOptions {
  readonly databaseUrl: string;
  /** Loopback only; 0 chooses a free port. */
  readonly port: number;
  /** The secret key, `snd_…`, that callers use. */
  readonly apiKey: string;
  readonly webhook: {
    /** Without a URL nothing is sent; PUT /_sandbox/webhook sets it later. */
    readonly url?: string | undefined;
    readonly secret: string;
  };
  readonly log: Log;
  readonly requestsPerMinute?: number | undefined;
  readonly faults?: FaultsInput | undefined;
  /** The clock that the sandbox's own clock is based on. */
  readonly clock?: Clock | undefined;
  /** Sets the clock of an empty sandbox before it starts. */
  readonly startAtMs?: number | undefined;
  /** How long a webhook's receiver may take to respond. */
  readonly webhookTimeoutMs?: number | undefined;
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
const WEBHOOK_TIMEOUT_MS = 30_000;

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
    await upsertKey(db, { sha256: hashKey(options.apiKey), kind: 'secret' });
    let baseUrl = '';
    const services = await createServices(options, { db, baseUrl: () => baseUrl });
    closers.push(() => services.engine.close());
    if (options.startAtMs !== undefined) await setClock(services, options.startAtMs);
    const app = createSandboxApp(services, log);
    const server = await startHttpServer({
      host: HOST,
      port,
      handler: app,
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

type Opened = Pick<Services, 'db' | 'baseUrl'>;

async function createServices(options: SandboxOptions, opened: Opened): Promise<Services> {
  const { db } = opened;
  const { log } = options;
  const clock = createSandboxClock({
    machine: options.clock ?? systemClock,
    advanceMs: await readAdvance(db),
    store: (advanceMs) => storeAdvance(db, advanceMs),
  });
  const faults = createActiveFaults(faultsSchema.parse(options.faults ?? {}));
  let target = { url: options.webhook.url, secret: options.webhook.secret };
  const webhook: Services['webhook'] = {
    target: () => target,
    set: (next) => {
      target = { url: next.url, secret: next.secret };
    },
  };
  const account = { merchantId: SANDBOX_MERCHANT_ID, profileId: SANDBOX_PROFILE_ID };
  // The writer wakes the engine after a change, and the engine changes resources through the writer.
  let engine: Engine | undefined;
  const resources = createResourceWriter({
    db,
    clock,
    faults,
    merchantId: account.merchantId,
    target: webhook.target,
    onChange: () => engine?.wake(),
  });
  const sender = createSender({
    db,
    clock,
    target: webhook.target,
    responseTimeoutMs: options.webhookTimeoutMs ?? WEBHOOK_TIMEOUT_MS,
    onCapacity: () => engine?.wake(),
  });
  engine = createEngine({ db, clock, resources, sender, log });
  const shownClock = { nowMs: () => clock.nowMs() + faults.current().clock_offset_ms };
  const rateLimit = createRateLimit(shownClock, options.requestsPerMinute);
  const ignoredFields = createIgnoredFields(clock, log);
  return {
    ...opened,
    resources,
    clock,
    shownClock,
    engine,
    faults,
    rateLimit,
    ignoredFields,
    account,
    webhook,
  };
}
