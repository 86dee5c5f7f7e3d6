/** What all roles of a process share. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { createProcessRecord } from '../audit/recordProcess.ts';
import type { Config } from '../config/config.ts';
import { EVENTS_QUEUE, type EventsJob } from '../ledger/inbox/jobs.ts';
import { bindInstallation } from '../ledger/installation.ts';
import { createHeartbeat, type Heartbeat } from '../monitor/heartbeat.ts';
import { createClockReporter } from '../monitor/reportClock.ts';
import { createQueueReporter } from '../monitor/reportQueue.ts';
import { channelNamesOf } from '../notify/channels/targets.ts';
import type { Clock } from '../platform/clock.ts';
import {
  createDatabase,
  type Database,
  type DatabaseOptions,
  type Queryable,
} from '../platform/db/database.ts';
import {
  clockSource,
  createDatabaseClock,
  type DatabaseClock,
  keepMeasuring,
  readDatabaseTimeMs,
} from '../platform/db/databaseClock.ts';
import { isDatabaseUnavailable } from '../platform/db/failures.ts';
import { createGate, type Gate } from '../platform/db/gate.ts';
import { refuseNewerSchema, refusePendingMigrations } from '../platform/db/pendingMigrations.ts';
import type { Pooling } from '../platform/db/pooler.ts';
import { readUserRights } from '../platform/db/rights.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { createMetrics, type Metrics } from '../platform/metrics.ts';
import { osUser } from '../platform/osUser.ts';
import { packageVersion } from '../platform/packageRoot.ts';
import {
  type InspectedQueue,
  type Producer,
  type QueueBackend,
  type QueueWatch,
  watchQueue,
} from '../platform/queue/index.ts';
import { refuseSandboxDatabase } from '../sandbox/safety.ts';
import { reportDatabaseSettings } from './databaseSettings.ts';
import { logPooling, refuseStatementMode } from './pooling.ts';
import { openQueues } from './queues.ts';
import { DATABASE_ROLES, type Role } from './roles.ts';
import { merchantIdOf } from './settings.ts';

export type PoolOptions = Pick<DatabaseOptions, 'maxConnections' | 'responseTimeoutMs' | 'plans'>;

const GATE_POOL: PoolOptions = { maxConnections: 2, responseTimeoutMs: 5_000, plans: 'any' };

/** What all roles of a process share. */
export interface Shared {
  readonly config: Config;
  /** The roles of this process. */
  readonly roles: ReadonlySet<Role>;
  /** The database's time. */
  readonly clock: DatabaseClock;
  /** The machine's clock: it is compared with the database's, and decides nothing else. */
  readonly machine: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly gate: Gate;
  /** For the checks of the process itself. */
  readonly db: Database;
  readonly queues: QueueBackend;
  readonly queueWatch: QueueWatch;
  readonly heartbeat: Heartbeat;
  /** Host and process id. */
  readonly processName: string;
  readonly events: Producer<EventsJob> & InspectedQueue;
  /** @param url of another server than the primary */
  readonly openPool: (name: string, limits: PoolOptions, url?: string) => Database;
  /** Called before anything closes, while the process still serves. */
  readonly onDrain: (begin: () => void) => void;
  /** Closed in reverse order of being added. */
  readonly onClose: (step: Step) => void;
}

export interface ShareInput {
  readonly machine: Clock;
  readonly readTimeMs?: ((db: Queryable) => Promise<number>) | undefined;
  readonly log: Log;
  readonly databaseUrl: string;
  readonly drainers: (() => void)[];
  readonly closers: Step[];
  readonly roles: ReadonlySet<Role>;
}

export async function share(
  config: Config,
  {
    machine,
    readTimeMs = readDatabaseTimeMs,
    log,
    databaseUrl,
    drainers,
    closers,
    roles,
  }: ShareInput,
): Promise<Shared> {
  const onClose = (step: Step): number => closers.push(step);
  const openPool = poolOpener({ databaseUrl, log, onClose });
  const merchantId = merchantIdOf(config);
  const db = openPool('gate', GATE_POOL);
  const clock = createDatabaseClock({ readTimeMs: () => readTimeMs(db), machine });
  let pooling: Pooling = { mode: 'direct' };
  const gate = await createGate(
    async () => {
      await clock.measure();
      pooling = await db.examinePooling();
      refuseStatementMode(pooling, config);
      await refusePendingMigrations(db);
      await refuseNewerSchema(db);
      await refuseSandboxDatabase(db, merchantId);
      await bindInstallation(db, merchantId);
    },
    isDatabaseUnavailable,
    log,
  );
  closers.push(() => Promise.resolve(gate.close()));
  const processName = `${hostname()}:${process.pid}`;
  const heartbeat = reportProcess({ config, db, log, gate, roles, closers });
  gate.whenOpen(() => void reportMissingRights(db, roles, log));
  gate.whenOpen(() => void reportDatabaseSettings(db, log));
  gate.whenOpen(() => logPooling(pooling, config, log));
  const closing = new AbortController();
  const identity = { process: processName, roles: [...roles].join(', ') };
  const reporter = createClockReporter({ db, clock, log, ...identity });
  const measuring = keepMeasuring(clock, reporter.report, closing.signal);
  closers.push(async () => {
    closing.abort();
    await measuring;
    await reporter.close();
  });
  const metrics = createMetrics();
  metrics.addSource(clockSource(clock));
  const queues = openQueues(config, { databaseUrl, log });
  closers.push(() => queues.close());
  const queueReporter = createQueueReporter({ db, ...identity });
  const queueWatch = watchQueue({ queues, log, report: queueReporter.report });
  closers.push(async () => {
    await queueWatch.close();
    await queueReporter.close();
  });
  metrics.addSource(queueWatch.source);
  const events = queues.producer<EventsJob>(EVENTS_QUEUE);
  closers.push(() => events.close());
  return {
    config,
    roles,
    clock,
    machine,
    log,
    metrics,
    gate,
    db,
    queues,
    queueWatch,
    heartbeat,
    processName,
    events,
    openPool,
    onDrain: (begin) => drainers.push(begin),
    onClose,
  };
}

type Step = () => Promise<void>;

function poolOpener({
  databaseUrl,
  log,
  onClose,
}: Pick<ShareInput, 'databaseUrl' | 'log'> & Pick<Shared, 'onClose'>): Shared['openPool'] {
  return (name, limits, url = databaseUrl) => {
    const db = createDatabase({
      connectionString: url,
      log,
      applicationName: `tallyhook-${name}`,
      ...limits,
    });
    onClose(() => db.close());
    return db;
  };
}

/**
 * What roles get, each with steps and pools of its own. They close at the same time: each waits for what it does
 * at that moment, and the receiver must not go on accepting meanwhile.
 */
export function shareWithRoles(
  shared: Shared,
  databaseUrl: string,
): { readonly forRole: () => Shared; readonly close: () => Promise<void> } {
  const steps: Step[][] = [];
  return {
    forRole: () => {
      const own: Step[] = [];
      steps.push(own);
      const onClose = (step: Step): number => own.push(step);
      const openPool = poolOpener({ databaseUrl, log: shared.log, onClose });
      return { ...shared, onClose, openPool };
    },
    close: async () => {
      // A gate that opened later would start work on pools that are closed, which nothing ends any more.
      shared.gate.close();
      await Promise.all(steps.map(closeInReverse));
    },
  };
}

/** Closes what was added last first. */
export async function closeInReverse(steps: Step[]): Promise<void> {
  for (const step of steps.splice(0).reverse()) await step();
}

/** Records the start and the stop of this process, and prepares its reports while it runs. */
function reportProcess({
  config,
  db,
  log,
  gate,
  roles,
  closers,
}: Pick<Shared, 'config' | 'db' | 'log' | 'gate' | 'roles'> &
  Pick<ShareInput, 'closers'>): Heartbeat {
  const facts = { roles: [...roles], version: packageVersion() };
  const [host, { pid }] = [hostname(), process];
  const record = createProcessRecord({
    db,
    log,
    user: osUser(),
    process: `${host}:${pid}`,
    ...facts,
  });
  gate.whenOpen(record.start);
  closers.push(record.stop);
  const channels = roles.has('alerts') ? channelNamesOf(config.channels) : [];
  const identity = { id: randomUUID(), host, pid, channels, ...facts };
  const heartbeat = createHeartbeat({ db, identity });
  closers.push(heartbeat.close);
  return heartbeat;
}

/**
 * Logs the rights that the database user lacks. The process continues: a receiver without the queue
 * still persists webhooks.
 */
async function reportMissingRights(
  db: Queryable,
  roles: ReadonlySet<Role>,
  log: Log,
): Promise<void> {
  try {
    const { user, missing } = await readUserRights(db);
    const databaseRoles = new Set([...roles].map((role) => DATABASE_ROLES[role]));
    for (const role of databaseRoles) {
      const statements = role === undefined ? [] : (missing[role] ?? []);
      if (statements.length === 0) continue;
      const remedy = `grant ${role} to ${user}`;
      log.error({ user, role, missing: statements, remedy }, 'database.rights_missing');
    }
  } catch (error) {
    log.warn({ error: toError(error) }, 'database.rights_unknown');
  }
}
