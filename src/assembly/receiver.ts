/** The role `receiver`: receives webhooks. */

import { batchJob } from '../ledger/inbox/jobs.ts';
import { createRejectionCount } from '../monitor/countRejections.ts';
import { addCounts } from '../monitor/store/watch.ts';
import type { Database } from '../platform/db/database.ts';
import {
  CLOCK_SKEW_UNREADY_MS,
  CLOCK_SKEW_WARNING_MS,
  type DatabaseClock,
} from '../platform/db/databaseClock.ts';
import type { Gate } from '../platform/db/gate.ts';
import { startHttpServer } from '../platform/httpServer.ts';
import type { QueueBackend } from '../platform/queue/index.ts';
import { createReceiverApp, type Readiness } from '../receiver/app.ts';
import { createEnqueuer } from '../receiver/enqueuer.ts';
import { createGuard } from '../receiver/guard.ts';
import { createIntake } from '../receiver/intake.ts';
import { createReceiverMetrics } from '../receiver/metrics.ts';
import { webhookSecretsOf } from './settings.ts';
import type { PoolOptions, Shared } from './shared.ts';

/** Senders wait half a minute for a response, so intake must time out sooner when it cannot store. */
const RECEIVER_POOL: PoolOptions = { maxConnections: 4, responseTimeoutMs: 10_000, plans: 'any' };

export async function startReceiver(shared: Shared): Promise<number> {
  const { clock, config, events, gate, log, metrics, openPool, onClose, queues } = shared;
  const webhookSecrets = webhookSecretsOf(config);
  const db = openPool('receiver', RECEIVER_POOL);
  const enqueuer = createEnqueuer((ids) => events.add([batchJob(ids)]), log);
  onClose(() => enqueuer.drain());
  const receiverMetrics = createReceiverMetrics(metrics, webhookSecrets.length);
  const rejections = createRejectionCount((counts) => addCounts(db, counts), log);
  onClose(() => rejections.drain());
  const intake = createIntake({
    db,
    clock,
    log,
    enqueue: enqueuer.enqueue,
    observeBatchSize: receiverMetrics.batchSize,
  });
  onClose(() => intake.drain());
  const guard = createGuard({
    maxBodyBytes: config.webhookMaxBodyBytes,
    trustedProxies: config.trustedProxies,
    connectionClosed: receiverMetrics.connectionClosed,
  });
  const app = createReceiverApp({
    webhookPath: config.webhookPath,
    webhookSecrets,
    maxBodyBytes: config.webhookMaxBodyBytes,
    guard,
    intake: {
      ...intake,
      accept: (body) =>
        gate.isOpen() ? intake.accept(body) : Promise.resolve({ outcome: 'unavailable' }),
    },
    readiness: () => readiness({ db, clock, gate, queues }),
    metrics: receiverMetrics,
    countRefusal: rejections.count,
    clock,
    log,
  });
  const server = await startHttpServer({
    host: config.host,
    port: config.port,
    handler: app,
    portSetting: 'PORT',
    hostSetting: 'HOST',
    admit: guard.admit,
    handlesContinue: true,
  });
  onClose(() => server.close());
  log.info({ port: server.port, path: config.webhookPath }, 'receiver.listening');
  return server.port;
}

/** Without its queue the process is degraded, not unready: the sweep enqueues what is missing. */
async function readiness(parts: {
  readonly db: Database;
  readonly clock: Pick<DatabaseClock, 'skewMs'>;
  readonly gate: Gate;
  readonly queues: QueueBackend;
}): Promise<Readiness> {
  const isReachable = (probe: Promise<void>) =>
    probe.then(
      () => true,
      () => false,
    );
  const [database, queue] = await Promise.all([
    isReachable(parts.db.probe()),
    isReachable(parts.queues.probe()),
  ]);
  const clock = clockCheck(parts.clock.skewMs());
  return {
    ready: database && parts.gate.isOpen() && clock.isFit,
    checks: {
      database: database ? 'reachable' : 'unavailable',
      migrations: parts.gate.isOpen() ? 'at head' : parts.gate.reason(),
      clock: clock.text,
      queue: queue ? 'reachable' : 'degraded: events wait for the sweep',
    },
  };
}

/**
 * A machine with a clock skew of more than a minute is not ready. It still accepts the events that
 * reach it, because they are persisted and checked by the database's clock.
 */
function clockCheck(skewMs: number | undefined): {
  readonly isFit: boolean;
  readonly text: string;
} {
  if (skewMs === undefined) return { isFit: true, text: "not compared with the database's yet" };
  const offMs = Math.abs(skewMs);
  const isFit = offMs <= CLOCK_SKEW_UNREADY_MS;
  if (offMs <= CLOCK_SKEW_WARNING_MS) return { isFit, text: "agrees with the database's" };
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  const text = `${Math.round(offMs / 1000)} s ${side} the database's: let this machine keep its time by NTP`;
  return { isFit, text };
}
