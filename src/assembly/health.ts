/** The health port of a process, and the checks behind `/readyz`. */
import { PENDING_LIMIT_MS } from '../ledger/inbox/pendingLimit.ts';
import { readPendingAgeMs } from '../ledger/inbox/store/arrivals.ts';
import type { Queryable } from '../platform/db/database.ts';
import { CLOCK_SKEW_UNREADY_MS, CLOCK_SKEW_WARNING_MS } from '../platform/db/databaseClock.ts';
import type { Gate } from '../platform/db/gate.ts';
import { refuseNewerSchema } from '../platform/db/pendingMigrations.ts';
import { OperatorError } from '../platform/errors.ts';
import { type HealthServerParts, startHealthServer } from '../platform/healthServer.ts';
import { type HttpServer, PortInUse } from '../platform/httpServer.ts';
import type { QueueProblem } from '../platform/queue/index.ts';
import { SECOND_MS } from '../platform/time.ts';
import { type CheckResult, type CheckResults, judgeReadiness } from './readiness.ts';
import { ROLES, type Role } from './roles.ts';
import type { Shared } from './shared.ts';

/** The first role's port; the others follow in the order of ROLES, so that a Procfile needs no setting. */
const FIRST_PORT = 8083;

/** The default port of a process: that of its first role. */
function defaultPort(roles: ReadonlySet<Role>): number {
  return FIRST_PORT + ROLES.findIndex((role) => roles.has(role));
}

/** Well before probes give up: those in deploy/ after 5 s. A receiver needs no queue, which may hang for longer. */
const QUEUE_LIMIT_MS = 2 * SECOND_MS;

/**
 * Starts the health port.
 * @param probeDatabase throws unless the connections that matter most to the process respond
 */
export async function startHealth(
  shared: Shared,
  roles: ReadonlySet<Role>,
  probeDatabase: () => Promise<void>,
): Promise<number> {
  const { gate, heartbeat, log, metrics, onClose, onDrain, queueWatch } = shared;
  let isStopping = false;
  onDrain(() => {
    isStopping = true;
  });
  const readiness = async () => {
    const checkQueue = () => queueWatch.checkWithin(QUEUE_LIMIT_MS);
    const results = await runChecks(shared, { probeDatabase, checkQueue });
    return judgeReadiness(roles, results, isStopping);
  };
  // The queue is checked every ten seconds anyway: what is reported is the latest result.
  const latest = { probeDatabase, checkQueue: async () => queueWatch.latest() };
  gate.whenOpen(() =>
    heartbeat.start(async () => {
      const results = await runChecks(shared, latest);
      return {
        isReady: judgeReadiness(roles, results, isStopping).ready,
        failures: failuresOf(results),
      };
    }),
  );
  const server = await listen({ metrics, readiness }, shared, defaultPort(roles));
  onClose(() => server.close());
  log.info({ port: server.port }, 'health.listening');
  return server.port;
}

/** A default port in use is no reason not to start: a second worker on the machine gets a free one. */
async function listen(
  parts: HealthServerParts,
  { config, log }: Shared,
  fallback: number,
): Promise<HttpServer> {
  const { metricsHost: host, metricsPort } = config;
  if (metricsPort !== undefined) return await startHealthServer(parts, { host, port: metricsPort });
  try {
    return await startHealthServer(parts, { host, port: fallback });
  } catch (error) {
    if (!(error instanceof PortInUse)) throw error;
    log.warn({ port: fallback }, 'health.default_port_in_use: set METRICS_PORT to choose one');
    return await startHealthServer(parts, { host, port: 0 });
  }
}

interface Probes {
  readonly probeDatabase: () => Promise<void>;
  readonly checkQueue: () => Promise<QueueProblem | undefined>;
}

async function runChecks(
  { clock, db, gate }: Shared,
  { probeDatabase, checkQueue }: Probes,
): Promise<CheckResults> {
  const [database, migrations, queue, pending] = await Promise.all([
    probeDatabase().then(
      () => true,
      () => false,
    ),
    migrationsCheck(gate, db),
    checkQueue(),
    pendingCheck(db),
  ]);
  return {
    database: { isOk: database, text: database ? 'reachable' : 'unavailable' },
    migrations,
    clock: clockCheck(clock.skewMs()),
    queue: queueCheck(queue),
    pending,
  };
}

function failuresOf(results: CheckResults): readonly string[] {
  return Object.entries(results)
    .filter(([, { isOk }]) => !isOk)
    .map(([name, { text }]) => `${name}: ${text}`);
}

function queueCheck(problem: QueueProblem | undefined): CheckResult {
  if (problem === undefined) return { isOk: true, text: 'a job was added, claimed and finished' };
  return { isOk: false, text: `${problem.reason}. ${problem.remedy}` };
}

/** A migration can remove what this process uses while it runs. */
async function migrationsCheck(gate: Gate, db: Queryable): Promise<CheckResult> {
  if (!gate.isOpen()) return { isOk: false, text: gate.reason() };
  try {
    await refuseNewerSchema(db);
  } catch (error) {
    if (error instanceof OperatorError) return { isOk: false, text: error.message };
    // The check of the database reports why it cannot be read.
  }
  return { isOk: true, text: 'at head' };
}

async function pendingCheck(db: Queryable): Promise<CheckResult> {
  try {
    const ageMs = await readPendingAgeMs(db);
    if (ageMs === undefined) return { isOk: true, text: 'no event waits' };
    const seconds = Math.round(ageMs / SECOND_MS);
    if (ageMs <= PENDING_LIMIT_MS) return { isOk: true, text: `the oldest waits for ${seconds} s` };
    const text = `events are not applied: the oldest waits for ${seconds} s. Check that a process with the role events runs, and the queue`;
    return { isOk: false, text };
  } catch {
    return { isOk: false, text: 'unknown: the database cannot be read' };
  }
}

/**
 * A receiver on a machine with a clock skew of more than a minute is not ready. It still accepts the
 * events that reach it, because they are persisted and checked by the database's clock.
 */
function clockCheck(skewMs: number | undefined): CheckResult {
  if (skewMs === undefined) return { isOk: true, text: "not compared with the database's yet" };
  const offMs = Math.abs(skewMs);
  const isOk = offMs <= CLOCK_SKEW_UNREADY_MS;
  if (offMs <= CLOCK_SKEW_WARNING_MS) return { isOk, text: "agrees with the database's" };
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const text = `${Math.round(offMs / 1000)} s ${side} the database's: let this machine keep its time by NTP`;
  return { isOk, text };
}
