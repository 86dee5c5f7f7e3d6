/** The role `scheduler`: runs scheduled work. */

import { continueErasures } from '../actions/continueErasures.ts';
import { continueReplays } from '../actions/replayRuns.ts';
import { createDeadlineCheck } from '../alerts/checkDeadlines.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { makeBodyDays } from '../ledger/bodies/bodyDays.ts';
import { createBodiesJob } from '../ledger/bodies/job.ts';
import { createChainJob } from '../ledger/chain/publishChain.ts';
import { createChangeFeed } from '../ledger/changeFeed.ts';
import { createDatingJob } from '../ledger/dateTransfers.ts';
import { batchJob } from '../ledger/inbox/jobs.ts';
import { createSweep } from '../ledger/inbox/sweep.ts';
import { createOverdueCheck } from '../ledger/overdue.ts';
import { createSumsJob } from '../ledger/sumTransfers.ts';
import { createScheduledProof } from '../ledger/verify/scheduledProof.ts';
import { readSentChannels } from '../monitor/store/processes.ts';
import { createSystemWatch } from '../monitor/watchSystem.ts';
import { subscriptionsOf } from '../notify/channels/index.ts';
import { channelNamesOf } from '../notify/channels/targets.ts';
import { enqueueDailySummary } from '../notify/dailySummary.ts';
import { sweepMessages } from '../notify/sweep.ts';
import type { Database } from '../platform/db/database.ts';
import { osUser } from '../platform/osUser.ts';
import { sleep } from '../platform/sleep.ts';
import { MINUTE_MS } from '../platform/time.ts';
import {
  enqueueReconcile,
  RECONCILE_QUEUE,
  type ReconcileJob,
  type ReconcileJobName,
} from '../reconcile/jobs.ts';
import { removeOld } from '../retention/removeOld.ts';
import { startScheduler } from '../scheduler/scheduler.ts';
import { scheduleTable } from '../scheduler/schedules.ts';
import { withRemovalArchive } from './archive.ts';
import { authorizationsOf, confirmOf } from './service.ts';
import { merchantIdOf, serviceOf, signingKeyOf } from './settings.ts';
import type { PoolOptions, Shared } from './shared.ts';

/** Half of what a slot may take, so that a slow last step ends in time. */
const LONGEST_RETENTION_MS = 5 * MINUTE_MS;

/** Lease renewals must not wait behind the work that they protect. */
const SCHEDULER_POOL: PoolOptions = { maxConnections: 4, responseTimeoutMs: 60_000, plans: 'any' };

/** One connection: bodies are moved by one statement at a time. */
const BODIES_POOL: PoolOptions = { maxConnections: 1, responseTimeoutMs: 300_000, plans: 'any' };

/** One connection for the lock, one for what is read. */
const VERIFY_POOL: PoolOptions = { maxConnections: 2, responseTimeoutMs: 60_000, plans: 'any' };

/** One connection that erases, one that reads what it erases, one for the claim. */
const ERASURES_POOL: PoolOptions = { maxConnections: 3, responseTimeoutMs: 300_000, plans: 'any' };

export function startSchedules({
  clock,
  config,
  events,
  gate,
  log,
  machine,
  openPool,
  onClose,
  queues,
}: Shared): void {
  const db = openPool('scheduler', SCHEDULER_POOL);
  const erasuresDb = openPool('erasures', ERASURES_POOL);
  const bodiesDb = openPool('bodies', BODIES_POOL);
  const isReconciling = serviceOf(config) !== undefined;
  const watchSystem = createSystemWatch({
    db,
    log,
    isReconciling,
    ...(isReconciling && {
      reconcileLoss: async (detectedMs: number) => {
        await enqueueReconcile(reconcileJobs, 'loss', Math.floor(detectedMs));
      },
    }),
  });
  const chainKey = signingKeyOf(config);
  const stopping = new AbortController();
  const { signal } = stopping;
  const proveLedger = createScheduledProof({
    db: openPool('verify', VERIFY_POOL),
    log,
    merchantId: merchantIdOf(config),
    chainKey: chainKey?.publicKey,
    fullDays: config.verifyFullDays,
    sleep,
    signal,
  });
  const confirm = confirmOf(config, { db, clock, log, signal });
  const checkOverdue = createOverdueCheck({ db, clock, log, confirm });
  const checkDeadlines = createDeadlineCheck({ db, clock, log, confirm });
  const sweep = createSweep({ db, producer: events, log, signal });
  const { check } = authorizationsOf(config, { db, clock, log, lane: 'refresh', signal });
  const reconcileJobs = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  onClose(() => reconcileJobs.close());
  const channels = channelNamesOf(config.channels);
  const channelNames = subscriptionsOf(config.channels).map(({ channel }) => channel);
  const hour = config.alertSummaryHour;
  const enqueue = async (name: ReconcileJobName): Promise<void> => {
    const nowMs = clock.nowMs();
    const isAdded = await enqueueReconcile(reconcileJobs, name, nowMs - (nowMs % 60_000));
    if (!isAdded) log.warn({ job: name }, 'reconcile.queue_full');
  };
  const process: Actor = { kind: 'process', role: 'process', ...osUser() };
  gate.whenOpen(() => {
    const feed = createChangeFeed(db);
    const table = scheduleTable({
      sweep,
      checkOverdue,
      checkAuthorizations: check.run,
      watchSystem,
      checkDeadlines,
      makeBodyDays: () => makeBodyDays(db, log),
      moveBodies: createBodiesJob({ db: bodiesDb, log, signal }),
      dateTransfers: createDatingJob({ db, signal }),
      sumTransfers: createSumsJob({ db, signal }),
      chainTransfers: createChainJob({ db, log, key: chainKey, signal }),
      proveLedger,
      feed,
      sweepMessages: () =>
        sweepMessages({ db, clock, channels, readSentChannels: () => readSentChannels(db) }),
      continueErasures: () => continueErasures({ db: erasuresDb, log, signal, actor: process }),
      continueReplays: () =>
        continueReplays({ db, signal, enqueue: (numbers) => events.add([batchJob(numbers)]) }),
      removeOld: () => removeOldRows({ config, clock, log, machine }, { db, signal }),
      summary:
        hour === undefined
          ? undefined
          : {
              hour,
              run: (slot) => enqueueDailySummary({ db, clock, channels: channelNames }, slot),
            },
      reconcile: serviceOf(config) && enqueue,
    });
    const scheduler = startScheduler(table, { db, clock, log });
    onClose(() => {
      stopping.abort();
      return scheduler.close();
    });
  });
}

async function removeOldRows(
  { config, clock, log, machine }: Pick<Shared, 'config' | 'clock' | 'log' | 'machine'>,
  { db, signal }: { readonly db: Database; readonly signal: AbortSignal },
): Promise<void> {
  const limits = { longestMs: LONGEST_RETENTION_MS, signal };
  const removed = await withRemovalArchive(config.archive, { db, clock }, (archive) =>
    removeOld({ db, sleep, days: config.retention, machine, ...archive }, limits),
  );
  const rows = Object.fromEntries(removed.map((one) => [one.name, one.rows]));
  if (removed.some((one) => one.rows > 0)) log.info({ rows }, 'retention.removed');
}
