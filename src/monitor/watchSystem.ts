/**
 * The watch over the system, run by the scheduler every minute: reads the facts, judges them
 * (domain/rules/system.ts), and raises or resolves what follows. Findings whose grace is over are
 * spoken of here, too: nothing happens to them at that moment.
 */

import { settleAlerts } from '../alerts/raise.ts';
import { speakOfFindings } from '../alerts/settleFindings.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
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
import {
  addCounts,
  countMissed,
  countNews,
  countWebhooks,
  type Figures,
  readCount,
  readFigures,
  readRhythm,
  readStanding,
  readWatermarks,
  removeOldCounts,
} from './store/watch.ts';

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
    const figures = await readFigures(db);
    watchingSinceMs ??= figures.nowMs;
    if (figures.isExhausted) await addCounts(db, [{ name: 'rate_exhausted', count: 1 }]);
    const known = { figures, watchingSinceMs, isReconciling };
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
  readonly figures: Figures;
  readonly watchingSinceMs: number;
  readonly isReconciling: boolean;
}

async function readFacts(
  tx: Queryable,
  { figures, watchingSinceMs, isReconciling }: Known,
): Promise<SystemFacts> {
  const { lastWebhookMs, usualGapMs } = await readRhythm(tx);
  const mismatched = await readCount(tx, 'signature_mismatched', SIGNATURE_WINDOW_MS);
  const unsigned = await readCount(tx, 'signature_unsigned', SIGNATURE_WINDOW_MS);
  const exhausted = await readCount(tx, 'rate_exhausted', RATE_WINDOW_MS);
  return {
    nowMs: figures.nowMs,
    watchingSinceMs,
    standing: new Set(await readStanding(tx, SYSTEM_SUBJECTS)),
    refused: { mismatched: mismatched.count, unsigned: unsigned.count },
    lastWebhookMs: lastWebhookMs ?? undefined,
    usualGapMs: usualGapMs ?? undefined,
    newsSinceLastWebhook: await countNews(tx, lastWebhookMs),
    missed: await readMissed(tx),
    oldestPendingMs: figures.oldestPendingMs ?? undefined,
    deadEvents: figures.deadEvents,
    reconciliation: isReconciling ? await readReconciliation(tx, figures) : undefined,
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
    const webhooks = await countWebhooks(tx, { windowMs: periodMs, most: MOST_COUNTED });
    missed.push({ periodMs, changes, webhooks });
  }
  return missed;
}

async function readReconciliation(
  tx: Queryable,
  { pausedMs, pausedBy, unusableSinceMs }: Figures,
): Promise<SystemFacts['reconciliation']> {
  return {
    watermarks: await readWatermarks(tx),
    paused: pausedMs === null ? undefined : { sinceMs: pausedMs, by: pausedBy ?? 'unknown' },
    unusableSinceMs: unusableSinceMs ?? undefined,
  };
}
