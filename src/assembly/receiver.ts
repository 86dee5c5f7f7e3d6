/** The role `receiver`: receives webhooks. */

import { makeBodyDays } from '../ledger/bodies/bodyDays.ts';
import { batchJob } from '../ledger/inbox/jobs.ts';
import { createRejectionCount } from '../monitor/countRejections.ts';
import { insertLoss } from '../monitor/store/failoverLosses.ts';
import { addCounts } from '../monitor/store/watch.ts';
import { monotonicMs } from '../platform/clock.ts';
import { startExpressServer } from '../platform/expressServer.ts';
import { createReceiverApp } from '../receiver/app.ts';
import { createEnqueuer } from '../receiver/enqueuer.ts';
import { createGuard } from '../receiver/guard.ts';
import { createIntake, storeWithBodyDay } from '../receiver/intake.ts';
import { createReceiverMetrics } from '../receiver/metrics.ts';
import { createRecall } from '../receiver/recall.ts';
import { readTimeline } from '../receiver/store/inbox.ts';
import { webhookSecretsOf } from './settings.ts';
import type { PoolOptions, Shared } from './shared.ts';

/** Senders wait half a minute for a response, so intake must time out sooner when it cannot store. */
const RECEIVER_POOL: PoolOptions = { maxConnections: 4, responseTimeoutMs: 10_000, plans: 'any' };

export interface RunningReceiver {
  readonly port: number;
  /** Throws unless the connections that persist events respond. */
  readonly probe: () => Promise<void>;
}

export async function startReceiver(shared: Shared): Promise<RunningReceiver> {
  const { clock, config, events, gate, log, metrics, openPool, onClose, onDrain, processName } =
    shared;
  const webhookSecrets = webhookSecretsOf(config, shared.roles.has('sandbox'));
  const db = openPool('receiver', RECEIVER_POOL);
  const enqueuer = createEnqueuer(
    { add: (ids) => events.add([batchJob(ids)]), countJobs: events.countJobs },
    log,
  );
  onClose(() => enqueuer.drain());
  const receiverMetrics = createReceiverMetrics(metrics, webhookSecrets.length);
  const rejections = createRejectionCount((counts) => addCounts(db, counts), log);
  onClose(() => rejections.drain());
  const storing = { db, log, makeBodyDays: () => makeBodyDays(db, log) };
  const recall = createRecall({
    persist: (events, receivedAt) => storeWithBodyDay(storing, events, receivedAt),
    readTimeline: () => readTimeline(db),
    enqueue: enqueuer.enqueue,
    report: (loss) => insertLoss(db, { ...loss, process: processName }),
    log,
    monotonicMs,
  });
  onClose(() => recall.close());
  const intake = createIntake({
    ...storing,
    clock,
    monotonicMs,
    enqueue: enqueuer.enqueue,
    observeBatchSize: receiverMetrics.batchSize,
    keep: recall.keep,
  });
  gate.whenOpen(() => {
    storing
      .makeBodyDays()
      .catch((error: unknown) => log.error({ error }, 'receiver.body_days_not_made'));
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
      accept: (body, secretFingerprint) =>
        gate.isOpen()
          ? intake.accept(body, secretFingerprint)
          : Promise.resolve({ outcome: 'unavailable' }),
    },
    metrics: receiverMetrics,
    countRefusal: rejections.count,
    clock,
    random: Math.random,
    log,
  });
  const server = await startExpressServer({
    host: config.host,
    port: config.port,
    app,
    portSetting: 'PORT',
    hostSetting: 'HOST',
    admit: guard.admit,
    handlesContinue: true,
    respondsToHalfClosed: true,
  });
  onDrain(() => server.drain());
  onClose(() => server.close());
  log.info({ port: server.port, path: config.webhookPath }, 'receiver.listening');
  return { port: server.port, probe: () => db.probe() };
}
