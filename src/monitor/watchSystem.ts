/**
 * The system watch, run by the scheduler every minute: reads the facts, evaluates them
 * (domain/systemRules.ts), and raises and resolves alerts. It also raises the alerts about findings after
 * their grace period, because nothing else happens to them at that time.
 */

import { readOpenRules } from '../alerts/store/openAlerts.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import { raiseWaitingFindings } from '../alerts/syncFindingAlerts.ts';
import { readOldestOpenErasure } from '../erasure/store/erasures.ts';
import { readBodyDaysAhead, readDamagedBodies } from '../ledger/bodies/store/days.ts';
import {
  type Backlog,
  countWebhooks,
  readBacklog,
  readWebhookGaps,
} from '../ledger/inbox/store/arrivals.ts';
import { readBeginningMs } from '../ledger/installation.ts';
import { hasUndatedTransfers } from '../ledger/read/store/statement.ts';
import { measureUnchained } from '../ledger/store/chain.ts';
import { readProof } from '../ledger/store/verifyRounds.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { readUnusable } from '../reconcile/findings.ts';
import { readBudget } from '../reconcile/store/budget.ts';
import { readPause } from '../reconcile/store/pauses.ts';
import { countMissed, countNewestMissed, isComparedSince } from '../reconcile/store/progress.ts';
import { readUnreadLists, readWatermarks } from '../reconcile/store/streams.ts';
import { STREAMS } from '../reconcile/streams.ts';
import { readStates } from '../retention/store/state.ts';
import type { Missed, SystemFacts } from './domain/facts.ts';
import {
  QUEUE_REPORTED_WITHIN_MS,
  QUEUE_UNUSABLE_FOR_MS,
  ROLE_MISSING_FOR_MS,
  SKEW_REPORTED_WITHIN_MS,
  SKEWED_FOR_MS,
} from './domain/rules/processes.ts';
import { RATE_WINDOW_MS, UNUSABLE_MS } from './domain/rules/reconciliation.ts';
import { MAX_NAMED_BODIES } from './domain/rules/storedData.ts';
import { MAX_COUNTED, MISSED_PERIODS_MS, SIGNATURE_WINDOW_MS } from './domain/rules/webhooks.ts';
import { evaluateSystem, SYSTEM_SUBJECTS } from './domain/systemRules.ts';
import { readClockReports, removeOldClockReports } from './store/clockReports.ts';
import { closeLosses, markEnqueued, readOpenLosses } from './store/failoverLosses.ts';
import { isRoleSeen, readMissingRoles, removeOldProcesses } from './store/processes.ts';
import { readQueueReports, removeOldQueueReports } from './store/queueReports.ts';
import {
  addCounts,
  readCount,
  readMismatchedSince,
  readReceivingSinceMs,
  removeOldCounts,
} from './store/watch.ts';

export interface SystemWatchParts {
  readonly db: Database;
  readonly log: Log;
  /** Whether an API key is set, so that the ledger is reconciled with the service. */
  readonly isReconciling: boolean;
  /** Enqueues a comparison of the last days, once for each time; undefined without an API key. */
  readonly reconcileLoss?: (detectedMs: number) => Promise<void>;
}

/** Creates the watch of one process; the process begins to watch at its first run. */
export function createSystemWatch({
  db,
  log,
  isReconciling,
  reconcileLoss,
}: SystemWatchParts): () => Promise<void> {
  let watchingSinceMs: number | undefined;
  return async () => {
    const backlog = await readBacklog(db);
    watchingSinceMs ??= backlog.nowMs;
    const isReceiving = await isRoleSeen(db, 'receiver');
    await countMinute(db, isReceiving);
    if (reconcileLoss) await closeComparedLosses(db);
    const known = { backlog, watchingSinceMs, isReconciling, isReceiving };
    await db.transaction(async (tx) => {
      await syncAlerts(tx, evaluateSystem(await readFacts(tx, known)));
    });
    const findings = await raiseWaitingFindings(db, { hasApiKey: isReconciling });
    if (findings > 0) log.info({ findings }, 'alerts.findings_processed');
    await removeOldCounts(db);
    await removeOldClockReports(db);
    await removeOldQueueReports(db);
    await removeOldProcesses(db);
    // Comes last: it fails while the queue is down, which must not stop the alerts. The next run tries again.
    if (reconcileLoss) await enqueueComparison(db, reconcileLoss);
  };
}

/** Counts what is true in this minute, for rules that have to know for how long. */
async function countMinute(db: Database, isReceiving: boolean): Promise<void> {
  const { remaining } = await readBudget(db);
  const isExhausted = remaining !== null && remaining <= 0;
  await addCounts(db, [
    ...(isExhausted ? [{ name: 'rate_limit_exhausted', count: 1 } as const] : []),
    ...(isReceiving ? [{ name: 'receiver_running', count: 1 } as const] : []),
  ]);
}

/** Has the lists compared with the service after a loss. */
async function enqueueComparison(
  db: Database,
  reconcileLoss: (detectedMs: number) => Promise<void>,
): Promise<void> {
  const losses = await readOpenLosses(db);
  if (!losses || losses.isEnqueued) return;
  await reconcileLoss(losses.lastDetectedMs);
  await markEnqueued(db, losses.lastId);
}

/** Closes losses after the lists were compared with the service. */
async function closeComparedLosses(db: Database): Promise<void> {
  const losses = await readOpenLosses(db);
  if (!losses?.isEnqueued) return;
  const span = { beganAfterMs: losses.lastDetectedMs, fromMs: losses.firstReceivedMs };
  if (await isComparedSince(db, STREAMS, span)) await closeLosses(db, losses.lastId);
}

interface Known {
  readonly backlog: Backlog;
  readonly watchingSinceMs: number;
  readonly isReconciling: boolean;
  /** Whether a receiver runs. */
  readonly isReceiving: boolean;
}

async function readFacts(
  tx: Queryable,
  { backlog, watchingSinceMs, isReconciling, isReceiving }: Known,
): Promise<SystemFacts> {
  const { lastWebhookMs, usualGapMs } = await readWebhookGaps(tx);
  const receivingSinceMs = await readReceivingSinceMs(tx);
  const mismatched = await readMismatchedSince(tx, null, SIGNATURE_WINDOW_MS);
  const unsigned = await readCount(tx, 'signature_unsigned', SIGNATURE_WINDOW_MS);
  const exhausted = await readCount(tx, 'rate_limit_exhausted', RATE_WINDOW_MS);
  return {
    nowMs: backlog.nowMs,
    watchingSinceMs,
    openRules: new Set(await readOpenRules(tx, SYSTEM_SUBJECTS)),
    rejected: { mismatched: mismatched.recent, unsigned: unsigned.count },
    lastMismatchedMs: mismatched.lastMs,
    mismatchedSinceWebhook: await readMismatchedSince(tx, lastWebhookMs, SIGNATURE_WINDOW_MS),
    lastWebhookMs: lastWebhookMs ?? undefined,
    usualGapMs: usualGapMs ?? undefined,
    receiver: { isRunning: isReceiving, sinceMs: receivingSinceMs ?? undefined },
    missedSinceLastWebhook: await countNewestMissed(
      tx,
      lastWebhookMs && Math.max(lastWebhookMs, receivingSinceMs ?? 0),
    ),
    missed: await readMissed(tx, receivingSinceMs),
    oldestPendingMs: backlog.oldestPendingMs ?? undefined,
    deadEvents: backlog.deadEvents,
    chain: await readChainFacts(tx),
    reconciliation: isReconciling ? await readReconciliation(tx, backlog.nowMs) : undefined,
    exhaustedMinutes: exhausted.minutes,
    clocks: await readClockReports(tx, {
      forMs: SKEWED_FOR_MS,
      withinMs: SKEW_REPORTED_WITHIN_MS,
    }),
    proof: await readProof(tx),
    losses: await readOpenLosses(tx),
    queues: await readQueueReports(tx, {
      forMs: QUEUE_UNUSABLE_FOR_MS,
      withinMs: QUEUE_REPORTED_WITHIN_MS,
    }),
    missingRoles: await readMissingRoles(tx, { forMs: ROLE_MISSING_FOR_MS }),
    retention: await readStates(tx),
    bodyDaysAhead: await readBodyDaysAhead(tx),
    damagedBodies: await readDamagedBodies(tx, MAX_NAMED_BODIES),
    openErasure: await readOldestOpenErasure(tx),
  };
}

async function readChainFacts(tx: Queryable): Promise<SystemFacts['chain']> {
  const { transfers: unchained, ...ages } = await measureUnchained(tx);
  return { unchained, ...ages, isWaiting: await hasUndatedTransfers(tx) };
}

/** Webhooks are counted only if some changes were missed. */
async function readMissed(
  tx: Queryable,
  receivingSinceMs: number | null,
): Promise<readonly Missed[]> {
  const missed: Missed[] = [];
  for (const periodMs of MISSED_PERIODS_MS) {
    const changes = await countMissed(tx, { windowMs: periodMs, sinceMs: receivingSinceMs });
    if (changes === 0) continue;
    const webhooks = await countWebhooks(tx, { windowMs: periodMs, max: MAX_COUNTED });
    missed.push({ periodMs, changes, webhooks });
  }
  return missed;
}

async function readReconciliation(
  tx: Queryable,
  nowMs: number,
): Promise<SystemFacts['reconciliation']> {
  const watermarks = await readWatermarks(tx);
  const unread = await readUnreadLists(tx);
  const beganMs = await readBeginningMs(tx, nowMs);
  const pause = await readPause(tx);
  const unusable = await readUnusable(tx, UNUSABLE_MS);
  return {
    lists: STREAMS,
    watermarks: watermarks.map(({ stream, at }) => ({ stream, atMs: at.getTime() })),
    unread: unread.map(({ stream, progressAt }) => ({
      stream,
      sinceMs: progressAt?.getTime() ?? beganMs,
    })),
    paused: pause && {
      sinceMs: pause.pausedAt.getTime(),
      by: pause.pausedBy,
      reason: pause.reason,
    },
    unusable,
  };
}
