/**
 * One run over one list: open, list, compare, repair, record, complete.
 *
 * A *full* run lists every window of its span. A run *by totals* lists only those with different counts
 * or sums.
 *
 * 1. A run ends at its ceiling: the service's own time less a minute. What is created while the run is
 *    under way lies beyond it and is left to the next run.
 * 2. A tail begins half an hour before the watermark, so that it meets what a replica showed late.
 * 3. Each window ends with a checkpoint, written when everything in it is repaired. A run that was
 *    killed resumes there and reads at most two windows again; repairing twice changes nothing. A job
 *    that is retried lists nothing again that it has finished.
 * 4. A service that cannot be used fails the run, with the reason and a finding about its list; the
 *    next step that listed or counted closes the finding. No resource is marked failed.
 * 5. Pausing reconciliation holds a scheduled run at its checkpoint; it resumes after the pause.
 * 6. The watermark moves only when a full run completes, and never over a gap. The first run that sets
 *    it is as long as the first import: while only shorter ones have completed, the import is still to
 *    come. A watermark ahead of the service's clock is corrected first (watermark.ts). A list stays
 *    imported when its watermark is removed: what a later run finds raises its alerts.
 * 7. A person may stop a run. It ends before its next request, keeps what it compared, and no run resumes
 *    it; the watermark stays where it is.
 * 8. A run over an empty span fails: nothing was compared (domain/verdict.ts).
 * 9. While a window is compared, repaired and recorded, the next one is read, and none beyond it. Where it shows
 *    less than the ledger has learned meanwhile, its rows are older by their versions, or are retrieved.
 * 10. One process executes a run. A killed process looks like a slow one, so whoever resumes a run begins at its
 *    checkpoint at once. Of two, the one that writes the next checkpoint keeps the run; the other ends before its
 *    next request, and can neither move the run back nor end it.
 */

import { readPendingAgeMs } from '../ledger/inbox/store/arrivals.ts';
import { readEdgeMs } from '../ledger/read/store/comparison.ts';
import { calibrateSums } from './compareSums.ts';
import { compareTotals } from './compareTotals.ts';
import { compareWindow } from './compareWindow.ts';
import { reportedWithinMs } from './domain/compare.ts';
import { emptySpanReason, verdictOfDone } from './domain/verdict.ts';
import { nextWindow, rowsWanted, type Span, widthAfter } from './domain/windows.ts';
import { closeComparison, listSubject, openUnusable } from './findings.ts';
import { RunInterrupted, RunPaused, RunStopped, RunTakenOver } from './interruptions.ts';
import type { ListedWindow } from './listReader.ts';
import { FIRST_SPAN_MS, findEarlierRun, openRun } from './openRun.ts';
import { closeUnstable, recordFilter } from './recordListFindings.ts';
import { recordCheckpoint } from './recordStep.ts';
import { recordWindow } from './recordWindow.ts';
import { repairWindow } from './repairWindow.ts';
import {
  type ReconcileParts,
  type RunContext,
  type RunOptions,
  type RunRequest,
  throwIfPaused,
} from './runContext.ts';
import { initialState, type RunState, spanOf, startOf } from './runState.ts';
import { collectMissed } from './store/awaited.ts';
import { finishRun, pauseRun, type RunRow, readRun, reopenRun } from './store/runs.ts';
import { advanceWatermark, writePageLimit } from './store/streams.ts';
import { KIND_OF } from './streams.ts';

/** A run as it ended. */
export interface RunReport extends RunRow {
  /** Differences that are still there; accepted ones do not count. */
  readonly remaining: number;
}

/** @throws what the database throws, the signal's reason, and RunInterrupted where no run could begin */
export type Reconcile = (request: RunRequest, options: RunOptions) => Promise<RunReport>;

/** Makes the one `reconcile`. */
export function createReconcile(parts: ReconcileParts): Reconcile {
  return async (request, options) => {
    const earlier = await findEarlierRun(parts, request);
    const resumed = earlier && (await reopenRun(parts.db, earlier.id));
    if (earlier && !resumed) return await readReport(parts, earlier.id);
    const run = await openRun(parts, request, { options, resumed });
    try {
      await execute(run);
    } catch (error) {
      await interrupt(run, error);
    }
    return await readReport(parts, run.row.id);
  };
}

/** The course of a run. @throws RunInterrupted */
async function execute(run: RunContext): Promise<void> {
  const nothing = emptySpanReason(spanOf(run.row));
  if (nothing !== undefined) return await fail(run, nothing);
  const opened = await recordMissed(run, initialState(run.row));
  if (run.row.mode === 'totals') {
    const compared = await compareTotals(run, opened, reconcileSpan);
    await recordFilter(run, compared);
    return await complete(run, compared);
  }
  const listed = await reconcileSpan(run, opened, opened.span);
  await recordFilter(run, listed);
  return await complete(run, await calibrateSums(run, listed));
}

/** Lists a span window by window, and compares, repairs and records each in its turn. */
async function reconcileSpan(run: RunContext, initial: RunState, span: Span): Promise<RunState> {
  let state = initial;
  const listed = { fromMs: startOf(state, span), toMs: span.toMs };
  for await (const window of windowsOf(run, listed)) {
    const comparison = await compareWindow(run, window);
    const repair = await repairWindow(run, comparison);
    state = await recordWindow(run, state, { span, comparison, repair });
  }
  if (!state.isUnstable) await closeUnstable(run, listed);
  return state;
}

/** The windows of a span, each of which is read while the one before it is in use (rule 9). */
async function* windowsOf(run: RunContext, { fromMs, toMs }: Span): AsyncGenerator<ListedWindow> {
  let reading = listWindow(run, { atMs: fromMs, widthMs: undefined }, toMs);
  for (;;) {
    const window = await reading;
    const position = positionAfter(run, window);
    const isLast = position.atMs >= toMs;
    if (!isLast) {
      reading = listWindow(run, position, toMs);
      // A run that fails in this window fails for that reason, and not for one of the next.
      reading.catch(() => undefined);
    }
    yield window;
    if (isLast) return;
  }
}

/** Where listing has got to. */
interface Position {
  readonly atMs: number;
  /** What the last window suggests for the next. */
  readonly widthMs: number | undefined;
}

async function listWindow(
  run: RunContext,
  { atMs, widthMs }: Position,
  ceilingMs: number,
): Promise<ListedWindow> {
  await throwIfPaused(run);
  const { parts, stream, reader } = run;
  const rows = rowsWanted(reader.limit());
  const ahead = { fromMs: atMs, toMs: ceilingMs };
  const edgeMs = await readEdgeMs(parts.db, KIND_OF[stream], { span: ahead, rows });
  const next = nextWindow({ positionMs: atMs, ceilingMs, edgeMs, widthMs });
  return await reader.read(next, ceilingMs);
}

function positionAfter({ reader }: RunContext, { by, rows, span }: ListedWindow): Position {
  const widthMs = by === 'walks' ? undefined : widthAfter(span, rows.length, reader.limit());
  return { atMs: span.toMs, widthMs };
}

/** As many are counted by one run. */
const MAX_MISSED = 10_000;

/**
 * Counts webhooks that have not arrived long after a run repaired their changes. What arrived in time may wait to
 * be applied, so nothing counts that was repaired after the oldest of what waits.
 */
async function recordMissed(run: RunContext, state: RunState): Promise<RunState> {
  const { parts, stream, isManual } = run;
  if (run.row.isDryRun || isManual) return state;
  const graceMs = reportedWithinMs(await readPendingAgeMs(parts.db));
  const missed = await collectMissed(parts.db, stream, { graceMs, limit: MAX_MISSED });
  if (missed.length === 0) return state;
  for (const { secondsToConverge } of missed) {
    parts.metrics.missed(stream);
    parts.metrics.secondsToConverge(secondsToConverge);
  }
  const step = { compared: 0, missed: missed.length, differences: [] };
  return await recordCheckpoint(run, state, step);
}

/** Ends the run, and moves the watermark where it may (rules 6, 7 and 10). */
async function complete(run: RunContext, { counts }: RunState): Promise<void> {
  const { parts, row, checkpoint, stream, reader, knownPageLimit } = run;
  if (!(await finishRun(parts.db, checkpoint, undefined))) return await logLost(run);
  if (reader.limit() !== knownPageLimit) await writePageLimit(parts.db, stream, reader.limit());
  if (row.mode === 'full' && !row.isDryRun) {
    const { fromAt, toAt } = row;
    const mayBegin = toAt.getTime() - fromAt.getTime() >= FIRST_SPAN_MS;
    const isAdvanced = await advanceWatermark(parts.db, stream, { fromAt, toAt, mayBegin });
    if (isAdvanced) await closeComparison(parts.db, ['watermark_ahead'], [listSubject(stream)]);
  }
  const { found, repaired, missed, requests } = counts;
  const remaining = found - repaired;
  const verdict = verdictOfDone(counts);
  parts.metrics.run(verdict);
  const facts = { runId: row.id, stream, requests, found, repaired, missed, remaining };
  if (remaining > 0 || missed > 0) parts.log.warn(facts, 'reconcile.differences');
  else parts.log.info(facts, verdict === 'empty' ? 'reconcile.empty' : 'reconcile.equal');
}

/** Ends a run at its checkpoint (rules 4, 5, 7 and 10). @throws what does not interrupt a run */
async function interrupt(run: RunContext, error: unknown): Promise<void> {
  if (!(error instanceof RunInterrupted)) throw error;
  const { parts, row, checkpoint, stream } = run;
  if (error instanceof RunStopped || error instanceof RunTakenOver) return await logLost(run);
  if (error instanceof RunPaused) {
    await pauseRun(parts.db, checkpoint);
    parts.log.info({ runId: row.id, stream }, 'reconcile.run_paused');
    return;
  }
  await openUnusable(parts.db, stream, error.message);
  await fail(run, error.message);
}

/** A person stopped the run, or another process has it (rules 7 and 10). */
async function logLost({ parts, row, stream }: RunContext): Promise<void> {
  const { state } = await readReport(parts, row.id);
  const event = state === 'stopped' ? 'reconcile.run_stopped' : 'reconcile.run_taken_over';
  parts.log.info({ runId: row.id, stream }, event);
}

async function fail(run: RunContext, reason: string): Promise<void> {
  const { parts, row, checkpoint, stream } = run;
  if (!(await finishRun(parts.db, checkpoint, reason))) return await logLost(run);
  parts.metrics.run('failed');
  parts.log.warn({ runId: row.id, stream, reason }, 'reconcile.run_failed');
}

async function readReport({ db }: ReconcileParts, id: number): Promise<RunReport> {
  const row = await readRun(db, id);
  if (!row) throw new Error(`run ${id} is gone`);
  return { ...row, remaining: row.found - row.repaired };
}
