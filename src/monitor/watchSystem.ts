/**
 * The watch over the system, run by the scheduler every minute: reads the facts, judges them
 * (domain/rules/system.ts), and raises or resolves what follows. Findings whose grace is over are
 * spoken of here, too: nothing happens to them at that moment.
 */

import { settleAlerts } from '../alerts/raise.ts';
import { speakOfFindings } from '../alerts/settleFindings.ts';
import { readOpenRules } from '../alerts/store/openAlerts.ts';
import {
  type Backlog,
  countWebhooks,
  readBacklog,
  readWebhookGaps,
} from '../ledger/inbox/store/arrivals.ts';
import { readOldestFindingMs } from '../ledger/read/store/openFindings.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { readPause } from '../reconcile/store/pauses.ts';
import {
  countMissed,
  countMissedSinceWebhook,
  isRateLimitExhausted,
} from '../reconcile/store/progress.ts';
import { readWatermarks } from '../reconcile/store/runs.ts';
import {
  CLOCK_OFF_FOR_MS,
  CLOCK_REPORTED_WITHIN_MS,
  judgeSystem,
  MISSED_PERIODS_MS,
  type Missed,
  MOST_COUNTED,
  RATE_WINDOW_MS,
  SIGNATURE_WINDOW_MS,
  SYSTEM_SUBJECTS,
  type SystemFacts,
} from './domain/systemRules.ts';
import { readClockReports, removeOldClockReports } from './store/clockReports.ts';
import { addCounts, readCount, removeOldCounts } from './store/watch.ts';

export interface SystemWatchParts {
  readonly db: Database;
  readonly log: Log;
  /** Whether a key is set, so that the ledger is compared with the service. */
  readonly isReconciling: boolean;
}

/** Makes the check of one process; its first run is when that process begins to watch. */
export function createSystemWatch({
  db,
  log,
  isReconciling,
}: SystemWatchParts): () => Promise<void> {
  let watchingSinceMs: number | undefined;
  return async () => {
    const backlog = await readBacklog(db);
    watchingSinceMs ??= backlog.nowMs;
    if (await isRateLimitExhausted(db)) {
      await addCounts(db, [{ name: 'rate_exhausted', count: 1 }]);
    }
    const known = { backlog, watchingSinceMs, isReconciling };
    await db.transaction(async (tx) => {
      await settleAlerts(tx, judgeSystem(await readFacts(tx, known)));
    });
    const found = await speakOfFindings(db, { isServiceAsked: isReconciling });
    if (found > 0) log.info({ found }, 'alerts.findings_spoken_of');
    await removeOldCounts(db);
    await removeOldClockReports(db);
  };
}

interface Known {
  readonly backlog: Backlog;
  readonly watchingSinceMs: number;
  readonly isReconciling: boolean;
}

async function readFacts(
  tx: Queryable,
  { backlog, watchingSinceMs, isReconciling }: Known,
): Promise<SystemFacts> {
  const { lastWebhookMs, usualGapMs } = await readWebhookGaps(tx);
  const mismatched = await readCount(tx, 'signature_mismatched', SIGNATURE_WINDOW_MS);
  const unsigned = await readCount(tx, 'signature_unsigned', SIGNATURE_WINDOW_MS);
  const exhausted = await readCount(tx, 'rate_exhausted', RATE_WINDOW_MS);
  return {
    nowMs: backlog.nowMs,
    watchingSinceMs,
    standing: new Set(await readOpenRules(tx, SYSTEM_SUBJECTS)),
    refused: { mismatched: mismatched.count, unsigned: unsigned.count },
    lastWebhookMs: lastWebhookMs ?? undefined,
    usualGapMs: usualGapMs ?? undefined,
    newsSinceLastWebhook: await countMissedSinceWebhook(tx, lastWebhookMs),
    missed: await readMissed(tx),
    oldestPendingMs: backlog.oldestPendingMs ?? undefined,
    deadEvents: backlog.deadEvents,
    reconciliation: isReconciling ? await readReconciliation(tx) : undefined,
    exhaustedMinutes: exhausted.minutes,
    clocks: await readClockReports(tx, {
      forMs: CLOCK_OFF_FOR_MS,
      withinMs: CLOCK_REPORTED_WITHIN_MS,
    }),
  };
}

/** Webhooks are counted only beside something that was missed. */
async function readMissed(tx: Queryable): Promise<readonly Missed[]> {
  const missed: Missed[] = [];
  for (const periodMs of MISSED_PERIODS_MS) {
    const changes = await countMissed(tx, periodMs);
    if (changes === 0) continue;
    const webhooks = await countWebhooks(tx, { windowMs: periodMs, max: MOST_COUNTED });
    missed.push({ periodMs, changes, webhooks });
  }
  return missed;
}

async function readReconciliation(tx: Queryable): Promise<SystemFacts['reconciliation']> {
  const watermarks = await readWatermarks(tx);
  const pause = await readPause(tx);
  const unusableSinceMs = await readOldestFindingMs(tx, 'service_unusable');
  return {
    watermarks: watermarks.map(({ stream, at }) => ({ stream, atMs: at.getTime() })),
    paused: pause && { sinceMs: pause.pausedAt.getTime(), by: pause.pausedBy },
    unusableSinceMs: unusableSinceMs ?? undefined,
  };
}
