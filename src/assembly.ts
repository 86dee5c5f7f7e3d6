/**
 * The only place that builds the object graph. Roles share what they can: one process may have all
 * of them, or each its own.
 */

import { randomUUID } from 'node:crypto';
import { type Channel, createChannels, subscriptionsOf } from './alerts/channels/index.ts';
import { createDeadlineCheck } from './alerts/checkDeadlines.ts';
import { createRefusalCount } from './alerts/countRefusals.ts';
import { createDeliverer } from './alerts/deliver.ts';
import { dispatchAlerts } from './alerts/dispatch.ts';
import { alertSources } from './alerts/gauges.ts';
import { ALERTS_QUEUE, type AlertsJob, announceDue } from './alerts/jobs.ts';
import { countDeliveries } from './alerts/metrics.ts';
import { speak } from './alerts/speaker.ts';
import { addCounts } from './alerts/store/watch.ts';
import { summariseYesterday } from './alerts/summarise.ts';
import { sweepMessages } from './alerts/sweep.ts';
import { type OrderFeed, tellShop } from './alerts/tellShop.ts';
import { createSystemWatch } from './alerts/watchSystem.ts';
import { createClient, type PaymentServiceClient } from './client/index.ts';
import { createConsoleApp } from './console/app.ts';
import { orderStateBody } from './console/routes/orders.ts';
import { API_KEY_PREFIXES } from './contract/limits.ts';
import { createEventApplier } from './ledger/applyEvents.ts';
import { createChangeFeed } from './ledger/changeFeed.ts';
import { ledgerSources } from './ledger/gauges.ts';
import { bindInstallation } from './ledger/installation.ts';
import { batchJob, createEventsHandler, EVENTS_QUEUE, type EventsJob } from './ledger/jobs.ts';
import { createLedgerMetrics } from './ledger/metrics.ts';
import { createOrderFeed, readOrdersAsTheyStand } from './ledger/orderFeed.ts';
import { createOverdueCheck } from './ledger/overdue.ts';
import { createSweep } from './ledger/sweep.ts';
import { systemClock } from './platform/clock.ts';
import type { Config, NamedToken } from './platform/config.ts';
import {
  createDatabase,
  type Database,
  type DatabaseOptions,
  isDatabaseAway,
} from './platform/db/database.ts';
import { createGate, type Gate } from './platform/db/gate.ts';
import { migrateDatabase, pendingMigrations } from './platform/db/migrate.ts';
import { startEmbeddedPostgres } from './platform/embeddedPostgres/index.ts';
import { OperatorError, toError } from './platform/errors.ts';
import { startHttpServer } from './platform/httpServer.ts';
import { localSecret } from './platform/localSecrets.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { startMetricsServer } from './platform/metricsServer.ts';
import { pause } from './platform/pause.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  createRedisConnections,
  type MeasuredQueue,
  type Producer,
  type QueueBackend,
  queueSource,
} from './platform/queue/index.ts';
import { createAnnouncer } from './receiver/announcer.ts';
import { createReceiverApp, type Readiness } from './receiver/app.ts';
import { createIntake } from './receiver/intake.ts';
import { createReceiverMetrics } from './receiver/metrics.ts';
import {
  type AuthorizationCheck,
  createAuthorizationCheck,
} from './reconcile/authorizations/checkAuthorizations.ts';
import {
  createAuthorizationService,
  type ServiceOptions,
} from './reconcile/authorizations/createService.ts';
import type { AuthorizationService } from './reconcile/authorizations/service.ts';
import { reconcileSources } from './reconcile/gauges.ts';
import {
  createReconcileHandler,
  type Errand,
  enqueueErrand,
  RECONCILE_QUEUE,
  type ReconcileJob,
} from './reconcile/jobs.ts';
import { createReconcileMetrics } from './reconcile/metrics.ts';
import { isPaused } from './reconcile/pause.ts';
import { createRefresh, type Refresh } from './reconcile/refresh.ts';
import { createRefreshOrder, type RefreshOrder } from './reconcile/refreshOrder.ts';
import { createRetrieve, type Retrieve } from './reconcile/retrieve.ts';
import { createReconcile, type Reconcile } from './reconcile/run.ts';
import { createSharedBudget } from './reconcile/sharedBudget.ts';
import { refuseSandboxDatabase, SANDBOX_MERCHANT_ID } from './sandbox/safety.ts';
import { type RunningSandbox, startSandbox } from './sandbox/startSandbox.ts';
import { schedulerSource } from './scheduler/gauges.ts';
import { startScheduler } from './scheduler/scheduler.ts';
import { scheduleTable } from './scheduler/schedules.ts';

export const ROLES = [
  'receiver',
  'events',
  'reconcile',
  'alerts',
  'scheduler',
  'console',
  'sandbox',
] as const;
export type Role = (typeof ROLES)[number];

/** What runs, and where it can be reached. */
export interface Running {
  readonly receiverPort: number | undefined;
  readonly consolePort: number | undefined;
  readonly metricsPort: number | undefined;
  readonly sandbox: RunningSandbox | undefined;
  readonly databaseUrl: string;
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

/** The database that the settings name, started if it is the embedded one. */
export interface OpenedDatabase {
  readonly url: string;
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

/**
 * Whether the sandbox is the payment service here: nobody named another one, and nothing real is kept
 * in the embedded database.
 */
export function usesSandbox(config: Config): boolean {
  const { databaseUrl, apiKey, baseUrl, merchantId = SANDBOX_MERCHANT_ID } = config;
  const namesNoService = apiKey === undefined && baseUrl === undefined;
  return databaseUrl === undefined && namesNoService && merchantId === SANDBOX_MERCHANT_ID;
}

/** The roles that run when nobody chose any. */
export function defaultRoles(config: Config): ReadonlySet<Role> {
  return new Set(ROLES.filter((role) => role !== 'sandbox' || usesSandbox(config)));
}

/** The merchant account that the settings name; the sandbox's where nothing real can be meant. */
export function merchantIdOf(config: Config): string {
  const { apiKey, merchantId } = config;
  if (merchantId === SANDBOX_MERCHANT_ID && isProductionKey(apiKey)) {
    throw new OperatorError(
      `PAYMENTS_MERCHANT_ID is ${SANDBOX_MERCHANT_ID}, the account of the sandbox, but PAYMENTS_API_KEY ` +
        'is a production key. Real payments must not meet invented ones: set your own merchant id.',
    );
  }
  if (merchantId !== undefined) return merchantId;
  if (config.databaseUrl === undefined && apiKey === undefined) return SANDBOX_MERCHANT_ID;
  const reason = apiKey === undefined ? 'DATABASE_URL' : 'PAYMENTS_API_KEY';
  throw new OperatorError(
    `PAYMENTS_MERCHANT_ID is not set. With ${reason} it must be, because the books of one ` +
      'database belong to one merchant account. Set it to your merchant id.',
  );
}

function isProductionKey(apiKey: string | undefined): boolean {
  return apiKey?.startsWith(API_KEY_PREFIXES.productionSecret) ?? false;
}

/** Secrets that verify webhooks: those set, or the one generated for the embedded database. */
export function webhookSecretsOf(config: Config): readonly string[] {
  if (config.webhookSecrets !== undefined) return config.webhookSecrets;
  if (config.databaseUrl === undefined) return [localSecret(config.dataDir, 'webhook-secret')];
  throw new OperatorError(
    'WEBHOOK_SECRETS is not set. Without it no webhook can be verified. Set it to the signing ' +
      'secret of your business profile; several are separated by commas.',
  );
}

/** Tokens of the admin port: those set, or the one generated for the embedded database. */
export function adminTokensOf(config: Config): readonly NamedToken[] {
  if (config.adminTokens !== undefined) return config.adminTokens;
  if (config.databaseUrl === undefined) {
    return [{ name: 'admin', token: localSecret(config.dataDir, 'admin-token') }];
  }
  throw new OperatorError(
    'ADMIN_TOKEN is not set. The admin port refuses every request without one. ' +
      'Set it to a long random value, for example from `openssl rand -hex 32`.',
  );
}

/** Where the payment service is and the key for it; undefined when no key is set. */
export function serviceOf(
  config: Config,
): { readonly baseUrl: string; readonly apiKey: string } | undefined {
  if (usesSandbox(config)) {
    const apiKey = localSecret(config.dataDir, 'sandbox-api-key', 'snd_');
    return { baseUrl: `http://127.0.0.1:${config.sandboxPort}`, apiKey };
  }
  const { baseUrl, apiKey } = config;
  return baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey };
}

/** Opens the database; the embedded one is started and brought up to date. */
export async function openDatabase(config: Config, log: Log): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    return { url: config.databaseUrl, isEmbedded: false, close: () => Promise.resolve() };
  }
  const server = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (message) => log.debug({ message }, 'embedded_postgres'),
  });
  await migrateDatabase(server.connectionString);
  return { url: server.connectionString, isEmbedded: true, close: () => server.stop() };
}

/** The queues that the settings name: Redis, or the database itself. */
export function openQueues(
  config: Config,
  { databaseUrl, log }: { readonly databaseUrl: string; readonly log: Log },
): QueueBackend {
  const connections =
    config.redisUrl === undefined
      ? createPostgresQueueConnections(databaseUrl, log)
      : createRedisConnections(config.redisUrl, log);
  return createQueueBackend(connections, log);
}

type PoolOptions = Pick<DatabaseOptions, 'maxConnections' | 'answerTimeoutMs' | 'plans'>;

/** Senders wait half a minute for a reply, so intake must know sooner that it cannot store. */
const RECEIVER_POOL: PoolOptions = { maxConnections: 4, answerTimeoutMs: 10_000, plans: 'any' };
const GATE_POOL: PoolOptions = { maxConnections: 2, answerTimeoutMs: 5_000, plans: 'any' };
const EVENTS_POOL: PoolOptions = { maxConnections: 4, answerTimeoutMs: 60_000, plans: 'by_key' };
/** Balances add up the whole journal. */
const CONSOLE_POOL: PoolOptions = { maxConnections: 4, answerTimeoutMs: 30_000, plans: 'any' };
/** One scrape reads at a time, and has given up long before (platform/sources.ts). */
const METRICS_POOL: PoolOptions = { maxConnections: 2, answerTimeoutMs: 4_000, plans: 'any' };
const RECONCILE_POOL: PoolOptions = { maxConnections: 6, answerTimeoutMs: 60_000, plans: 'any' };
const ALERTS_POOL: PoolOptions = { maxConnections: 6, answerTimeoutMs: 60_000, plans: 'any' };
const SCHEDULER_POOL: PoolOptions = { maxConnections: 2, answerTimeoutMs: 60_000, plans: 'any' };

/** What all roles of a process share. */
interface Shared {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly gate: Gate;
  readonly queues: QueueBackend;
  readonly events: Producer<EventsJob> & MeasuredQueue;
  readonly openPool: (name: string, limits: PoolOptions) => Database;
  /** Closed in reverse order of being added. */
  readonly onClose: (close: () => Promise<void>) => void;
}

/**
 * Starts roles.
 * @throws OperatorError when something must be put right first
 */
export async function start(config: Config, roles: ReadonlySet<Role>, log: Log): Promise<Running> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closers.splice(0).reverse()) await step();
  };
  try {
    const database = await openDatabase(config, log);
    closers.push(() => database.close());
    const { url: databaseUrl, isEmbedded } = database;
    const isSandboxAlone = [...roles].every((role) => role === 'sandbox');
    const ports = isSandboxAlone
      ? NO_PORTS
      : await startLedgerRoles(config, roles, { log, databaseUrl, closers });
    const sandbox = roles.has('sandbox')
      ? await startSandboxRole(config, { log, databaseUrl, receiverPort: ports.receiverPort })
      : undefined;
    if (sandbox) closers.push(() => sandbox.close());
    return { ...ports, sandbox, databaseUrl, isEmbedded, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Ports = Pick<Running, 'receiverPort' | 'consolePort' | 'metricsPort'>;

const NO_PORTS: Ports = {
  receiverPort: undefined,
  consolePort: undefined,
  metricsPort: undefined,
};

async function startLedgerRoles(
  config: Config,
  roles: ReadonlySet<Role>,
  input: ShareInput,
): Promise<Ports> {
  const shared = await share(config, input);
  for (const role of roles) shared.metrics.fact('tallyhook_role_up', ROLE_UP_HELP, { role });
  const receiverPort = roles.has('receiver') ? await startReceiver(shared) : undefined;
  if (roles.has('events')) startEvents(shared);
  if (roles.has('reconcile')) startReconcile(shared);
  if (roles.has('alerts')) startAlerts(shared);
  if (roles.has('scheduler')) startSchedules(shared);
  const consolePort = roles.has('console') ? await startConsole(shared) : undefined;
  const metricsPort = config.metricsPort === undefined ? undefined : await startMetrics(shared);
  return { receiverPort, consolePort, metricsPort };
}

const ROLE_UP_HELP = 'Roles of this process; absent when no process has the role';

interface SandboxInput {
  readonly log: Log;
  readonly databaseUrl: string;
  /** Of the receiver in this process, if there is one. */
  readonly receiverPort: number | undefined;
}

/** The sandbox signs with the newest of the secrets that the receiver verifies with. */
async function startSandboxRole(config: Config, input: SandboxInput): Promise<RunningSandbox> {
  const { databaseUrl, log, receiverPort = config.port } = input;
  if (isProductionKey(config.apiKey)) {
    throw new OperatorError(
      'PAYMENTS_API_KEY is a production key, and the sandbox never runs beside one: its invented ' +
        'payments could be taken for real. Leave the role sandbox out, or the key.',
    );
  }
  return await startSandbox({
    databaseUrl,
    port: config.sandboxPort,
    apiKey: config.apiKey ?? localSecret(config.dataDir, 'sandbox-api-key', 'snd_'),
    webhook: {
      url: `http://127.0.0.1:${receiverPort}${config.webhookPath}`,
      secret: config.webhookSecrets?.[0] ?? localSecret(config.dataDir, 'webhook-secret'),
    },
    log,
  });
}

interface ShareInput {
  readonly log: Log;
  readonly databaseUrl: string;
  readonly closers: (() => Promise<void>)[];
}

async function share(config: Config, { log, databaseUrl, closers }: ShareInput): Promise<Shared> {
  const openPool = (name: string, limits: PoolOptions): Database => {
    const db = createDatabase({
      connectionString: databaseUrl,
      log,
      applicationName: `tallyhook-${name}`,
      ...limits,
    });
    closers.push(() => db.close());
    return db;
  };
  const merchantId = merchantIdOf(config);
  const db = openPool('gate', GATE_POOL);
  const gate = await createGate(
    async () => {
      await db.probe();
      const pending = await pendingMigrations(db);
      if (pending.length > 0) throw migrationsPending(pending);
      await refuseSandboxDatabase(db, merchantId);
      await bindInstallation(db, merchantId);
    },
    isDatabaseAway,
    log,
  );
  closers.push(() => Promise.resolve(gate.close()));
  const queues = openQueues(config, { databaseUrl, log });
  closers.push(() => queues.close());
  const events = queues.producer<EventsJob>(EVENTS_QUEUE);
  closers.push(() => events.close());
  return {
    config,
    log,
    metrics: createMetrics(),
    gate,
    queues,
    events,
    openPool,
    onClose: (step) => closers.push(step),
  };
}

function migrationsPending(files: readonly string[]): OperatorError {
  return new OperatorError(
    `The database lacks ${files.length} migration(s): ${files.join(', ')}. ` +
      'Running without them would fail on the first event. Run: npx tallyhook migrate',
  );
}

async function startReceiver(shared: Shared): Promise<number> {
  const { config, events, gate, log, metrics, openPool, onClose, queues } = shared;
  const webhookSecrets = webhookSecretsOf(config);
  const db = openPool('receiver', RECEIVER_POOL);
  const announcer = createAnnouncer((ids) => events.add([batchJob(ids)]), log);
  onClose(() => announcer.drain());
  const receiverMetrics = createReceiverMetrics(metrics, webhookSecrets.length);
  const refusals = createRefusalCount((counts) => addCounts(db, counts), log);
  onClose(() => refusals.drain());
  const intake = createIntake({
    db,
    clock: systemClock,
    log,
    announce: announcer.announce,
    observeBatchSize: receiverMetrics.batchSize,
  });
  onClose(() => intake.drain());
  const app = createReceiverApp({
    webhookPath: config.webhookPath,
    webhookSecrets,
    maxBodyBytes: config.webhookMaxBodyBytes,
    intake: {
      ...intake,
      accept: (body) =>
        gate.isOpen() ? intake.accept(body) : Promise.resolve({ outcome: 'unavailable' }),
    },
    readiness: () => readiness({ db, gate, queues }),
    metrics: receiverMetrics,
    countRefusal: refusals.count,
    clock: systemClock,
    log,
  });
  const server = await startHttpServer({
    host: config.host,
    port: config.port,
    handler: app,
    portSetting: 'PORT',
  });
  onClose(() => server.close());
  log.info({ port: server.port, path: config.webhookPath }, 'receiver.listening');
  return server.port;
}

/** A queue that is away makes the process slower, not unready: the sweep announces what it missed. */
async function readiness(parts: {
  readonly db: Database;
  readonly gate: Gate;
  readonly queues: QueueBackend;
}): Promise<Readiness> {
  const answers = (probe: Promise<void>) =>
    probe.then(
      () => true,
      () => false,
    );
  const [database, queue] = await Promise.all([
    answers(parts.db.probe()),
    answers(parts.queues.probe()),
  ]);
  return {
    ready: database && parts.gate.isOpen(),
    checks: {
      database: database ? 'reachable' : 'away',
      migrations: parts.gate.isOpen() ? 'at head' : parts.gate.reason(),
      queue: queue ? 'reachable' : 'degraded: announcements wait for the sweep',
    },
  };
}

function startEvents({
  config,
  events,
  gate,
  log,
  metrics,
  openPool,
  onClose,
  queues,
}: Shared): void {
  const db = openPool('events', EVENTS_POOL);
  const applier = createEventApplier({
    db,
    merchantId: merchantIdOf(config),
    clock: systemClock,
    metrics: createLedgerMetrics(metrics),
  });
  const handle = createEventsHandler({
    db,
    applier,
    producer: events,
    maxAttempts: config.eventMaxAttempts,
    log,
  });
  gate.whenOpen(() => {
    const consumer = queues.consumer<EventsJob>(EVENTS_QUEUE, 1, handle);
    onClose(() => consumer.close());
  });
}

interface AuthorizationOptions extends ServiceOptions {
  readonly db: Database;
  readonly log: Log;
}

/** The watch over authorizations, and what it asks the service by. */
export function authorizationsOf(
  config: Config,
  { db, log, ...options }: AuthorizationOptions,
): { readonly check: AuthorizationCheck; readonly service: AuthorizationService | undefined } {
  const client = clientOf(config, db);
  const service = client && createAuthorizationService({ db, client, clock: systemClock }, options);
  const check = createAuthorizationCheck({
    db,
    clock: systemClock,
    log,
    thresholds: config.authorizationThresholdHours,
    policy: config.authorizationPolicy,
    service,
    isPaused: () => isPaused(db),
  });
  return { check, service };
}

/**
 * A client of the payment service, on the rate budget that all processes share; undefined when no key
 * is set.
 * @throws OperatorError when the address or key cannot be used
 */
export function clientOf(config: Config, db: Database): PaymentServiceClient | undefined {
  const service = serviceOf(config);
  if (service === undefined) return undefined;
  try {
    return createClient({ ...service, budget: createSharedBudget(db, systemClock) });
  } catch (error) {
    throw new OperatorError(
      `PAYMENTS_BASE_URL or PAYMENTS_API_KEY cannot be used: ${toError(error).message}. ` +
        '`npx tallyhook doctor` says more.',
    );
  }
}

/**
 * What retrieves a resource and applies the answer, for a command.
 * @throws OperatorError when no key is set
 */
export function retrieveOf(config: Config, db: Database): Retrieve {
  const client = clientOf(config, db);
  if (client) return createRetrieve({ db, client, clock: systemClock });
  throw new OperatorError(
    'No key of the payment service is set, so that it cannot be asked. Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.',
  );
}

/** What compares with the service, for a command or a role. */
export function reconcileOf(
  client: PaymentServiceClient,
  parts: { readonly db: Database; readonly log: Log; readonly metrics: Metrics },
): { readonly reconcile: Reconcile; readonly refresh: Refresh } {
  const metrics = createReconcileMetrics(parts.metrics);
  const retrieve = createRetrieve({ db: parts.db, client, clock: systemClock });
  const all = { ...parts, client, retrieve, clock: systemClock, metrics, pause };
  return { reconcile: createReconcile(all), refresh: createRefresh(all) };
}

function startReconcile({ config, gate, log, metrics, openPool, onClose, queues }: Shared): void {
  const db = openPool('reconcile', RECONCILE_POOL);
  const client = clientOf(config, db);
  if (!client) {
    log.warn(
      'reconcile.off: no key of the payment service is set, so that what webhooks never told is not ' +
        'found. Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.',
    );
    return;
  }
  const { reconcile, refresh } = reconcileOf(client, { db, log, metrics });
  gate.whenOpen(() => {
    const closing = new AbortController();
    const looking = refresh.loop(closing.signal);
    const handle = createReconcileHandler({
      reconcile,
      isPaused: () => isPaused(db),
      signal: closing.signal,
    });
    const consumer = queues.consumer<ReconcileJob>(RECONCILE_QUEUE, 1, handle);
    onClose(async () => {
      closing.abort();
      await consumer.close();
      await looking;
    });
  });
}

/** The channels that the settings name. */
export function channelsOf(config: Config, log: Log): readonly Channel[] {
  return createChannels(config.channels, { clock: systemClock, log });
}

/** What the shop is told of its orders is what the admin API answers of them. */
export function orderFeedOf(db: Database): OrderFeed {
  return {
    ...createOrderFeed(db),
    readOrders: async (tx, orderKeys) => {
      const orders = await readOrdersAsTheyStand(tx, orderKeys);
      return new Map(
        orders.map((order) => {
          const body = orderStateBody(order);
          const { orderId } = order;
          return [order.orderKey, { orderId, money: JSON.stringify(body.totals), body }];
        }),
      );
    },
  };
}

function startAlerts(shared: Shared): void {
  const { config, gate, log, metrics, openPool, onClose, queues } = shared;
  const db = openPool('alerts', ALERTS_POOL);
  const producer = queues.producer<AlertsJob>(ALERTS_QUEUE);
  onClose(() => producer.close());
  const clock = systemClock;
  const subscriptions = subscriptionsOf(config.channels);
  const newMessageId = () => `msg_${randomUUID()}`;
  gate.whenOpen(() => {
    const closing = new AbortController();
    const deliverer = createDeliverer(
      {
        db,
        clock,
        log,
        channels: countDeliveries(channelsOf(config, log), metrics),
        wakeLater: (channel, delayMs) => announceDue(producer, [{ channel, delayMs }]),
        random: Math.random,
      },
      closing.signal,
    );
    const feed = config.channels.shop && orderFeedOf(db);
    const sources = {
      alerts: () => dispatchAlerts({ db, clock, subscriptions, newMessageId }),
      ...(feed && { orders: () => tellShop({ db, feed, clock, newMessageId }) }),
    };
    const announce = (channels: Iterable<AlertsJob['channel']>) =>
      announceDue(
        producer,
        Array.from(channels, (channel) => ({ channel })),
      );
    const speaking = speak({ db, clock, log, sources, announce, deliverer }, closing.signal);
    const consumer = queues.consumer<AlertsJob>(
      ALERTS_QUEUE,
      deliverer.concurrency,
      ({ data: { channel } }) => deliverer.run(channel),
    );
    onClose(async () => {
      closing.abort();
      await consumer.close();
      await speaking;
    });
  });
}

function startSchedules({ config, events, gate, log, openPool, onClose, queues }: Shared): void {
  const db = openPool('scheduler', SCHEDULER_POOL);
  const sweep = createSweep({ db, producer: events, clock: systemClock, log });
  const checkOverdue = createOverdueCheck({ db, clock: systemClock, log });
  const isReconciling = serviceOf(config) !== undefined;
  const watchSystem = createSystemWatch({ db, log, isReconciling });
  const checkDeadlines = createDeadlineCheck({ db, clock: systemClock, log });
  const stopping = new AbortController();
  const { signal } = stopping;
  const { check } = authorizationsOf(config, { db, log, lane: 'refresh', signal });
  const errands = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  onClose(() => errands.close());
  const wakes = queues.producer<AlertsJob>(ALERTS_QUEUE);
  onClose(() => wakes.close());
  const clock = systemClock;
  const channels = subscriptionsOf(config.channels).map(({ channel }) => channel);
  const hour = config.alertSummaryHour;
  const enqueue = (errand: Errand): Promise<void> => {
    const nowMs = systemClock.nowMs();
    return enqueueErrand(errands, errand, nowMs - (nowMs % 60_000));
  };
  gate.whenOpen(() => {
    const feed = createChangeFeed(db);
    const table = scheduleTable({
      sweep,
      checkOverdue,
      checkAuthorizations: check.run,
      watchSystem,
      checkDeadlines,
      feed,
      sweepMessages: () => sweepMessages({ db, producer: wakes, clock }),
      summary:
        hour === undefined
          ? undefined
          : { hour, run: () => summariseYesterday({ db, clock, channels }) },
      reconcile: serviceOf(config) && enqueue,
    });
    const scheduler = startScheduler(table, { db, clock: systemClock, log });
    onClose(() => {
      stopping.abort();
      return scheduler.close();
    });
  });
}

/** Undefined when no key is set. */
function refreshOrderOf(config: Config, db: Database): RefreshOrder | undefined {
  const client = clientOf(config, db);
  return (
    client &&
    createRefreshOrder({ db, retrieve: createRetrieve({ db, client, clock: systemClock }) })
  );
}

/**
 * Adds what stands in the database and the queues to the metrics. Only the role `console` does: once
 * for an installation is enough, and other processes would show the same again.
 */
function addSources({ events, metrics, onClose, openPool, queues }: Shared): void {
  const db = openPool('metrics', METRICS_POOL);
  const errands = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  onClose(() => errands.close());
  const wakes = queues.producer<AlertsJob>(ALERTS_QUEUE);
  onClose(() => wakes.close());
  const depths = { [EVENTS_QUEUE]: events, [RECONCILE_QUEUE]: errands, [ALERTS_QUEUE]: wakes };
  const sources = [
    ...ledgerSources(db),
    ...reconcileSources(db),
    schedulerSource(db),
    ...alertSources(db),
    queueSource(depths, systemClock),
  ];
  for (const source of sources) metrics.addSource(source);
}

async function startMetrics({ config, log, metrics, onClose }: Shared): Promise<number> {
  const { metricsHost: host, metricsPort: port = 0 } = config;
  const server = await startMetricsServer(metrics, { host, port });
  onClose(() => server.close());
  log.info({ port: server.port }, 'metrics.listening');
  return server.port;
}

async function startConsole(shared: Shared): Promise<number> {
  const { config, gate, log, metrics, openPool, onClose } = shared;
  const db = openPool('console', CONSOLE_POOL);
  addSources(shared);
  const app = createConsoleApp({
    tokens: adminTokensOf(config),
    db,
    refreshOrder: refreshOrderOf(config, db),
    isReady: gate.isOpen,
    metrics,
    clock: systemClock,
    log,
  });
  const server = await startHttpServer({
    host: config.adminHost,
    port: config.adminPort,
    handler: app,
    portSetting: 'ADMIN_PORT',
  });
  onClose(() => server.close());
  log.info({ port: server.port }, 'console.listening');
  return server.port;
}
