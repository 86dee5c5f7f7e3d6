/**
 * One run over one list: full (every window listed) or by totals (only what counts unequal).
 *
 * 1. The ceiling is closed: the service's own time less a minute. What is created while the run goes
 *    lies beyond it and is left to the next.
 * 2. The tail begins half an hour before the watermark, so that what a replica showed late is met.
 * 3. Each window is a checkpoint, written when all in it is healed. A run that was killed goes on from
 *    there and reads one window again at most; healing twice changes nothing. A job that is tried again
 *    lists nothing anew that it has done.
 * 4. Trouble with the service ends the run with its reason and a finding about its list, which the next
 *    checkpoint over that list closes. No resource is marked failed.
 * 5. A pause holds a scheduled run at its checkpoint; it goes on once the pause has ended.
 * 6. The watermark moves only when a full run came to its end, and never over a gap. It begins with a
 *    run as long as the first import: whatever shorter one ends before, the import is still to come.
 *    One ahead of the service's clock is set right first (watermark.ts).
 * 7. A run over a span without length fails: nothing was compared (domain/verdict.ts).
 */
import type { Lane } from '../client/index.ts';
import { readBeginningMs } from '../ledger/installation.ts';
import { createAsking } from './asking.ts';
import { calibrateSums } from './compareSums.ts';
import { compareTotals } from './compareTotals.ts';
import { GRACE_MS } from './domain/compare.ts';
import { emptySpanReason, verdictOfDone } from './domain/verdict.ts';
import type { Span } from './domain/windows.ts';
import { closeComparison, openUnusable } from './findings.ts';
import {
  listSpan,
  type ReconcileParts,
  type RunOptions,
  type RunState,
  type RunTools,
  step,
} from './listSpan.ts';
import { createListReader } from './readList.ts';
import { Paused, ServiceTrouble } from './serviceTrouble.ts';
import { settleList } from './settleList.ts';
import { takeMissed } from './store/awaited.ts';
import {
  advanceWatermark,
  findLast,
  finishRun,
  insertRun,
  type Mode,
  pauseRun,
  type RunRow,
  readRun,
  readStream,
  reopenRun,
  writePageLimit,
} from './store/runs.ts';
import type { Stream } from './streams.ts';
import { usableWatermark, WATERMARK_AHEAD } from './watermark.ts';

export interface RunRequest {
  readonly stream: Stream;
  readonly mode: Mode;
  /** Created time, milliseconds since 1970; from the watermark on when it is left out. */
  readonly fromMs?: number | undefined;
  /** Up to the ceiling when it is left out. */
  readonly toMs?: number | undefined;
  /** A schedule's name, or `operator`. Only a run of the same cause is gone on with. */
  readonly cause: string;
  readonly isDryRun: boolean;
  readonly lane: Lane;
}

/** A run as it ended. */
export interface RunReport extends RunRow {
  /** Differences that are still there; accepted ones do not count. */
  readonly left: number;
}

/** @throws what the database throws, and the signal's reason */
export type Reconcile = (request: RunRequest, options: RunOptions) => Promise<RunReport>;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CEILING_MS = MINUTE_MS;
const OVERLAP_MS = 30 * MINUTE_MS;
/** What is imported when nobody says from when, and what an import covers at least (rule 6). */
export const FIRST_SPAN_MS = 120 * DAY_MS;
const RESUME_WITHIN_MS = DAY_MS;

/** Makes the one `reconcile`. */
export function createReconcile(parts: ReconcileParts): Reconcile {
  return async (request, options) => {
    const { db } = parts;
    const { stream, isDryRun, lane } = request;
    const earlier = await earlierOf(parts, request);
    if (earlier?.state === 'done') return await reportOf(parts, earlier.id);
    if (earlier) await reopenRun(db, earlier.id);
    const { pageLimit, watermarkAt } = await readStream(db, stream);
    const historyUntilMs =
      watermarkAt === null ? await readBeginningMs(db, parts.clock.nowMs()) : undefined;
    const asking = createAsking({
      retrieve: parts.retrieve,
      lane,
      isDryRun,
      historyUntilMs,
      signal: options.signal,
      pause: parts.pause,
      spent: earlier?.requests ?? 0,
    });
    const { nowMs } = parts.clock;
    const reader = createListReader({
      client: parts.client,
      stream,
      ask: asking.ask,
      nowMs,
      limit: pageLimit,
    });
    const begin = async (): Promise<RunRow> => {
      const serviceMs = (await reader.serviceTimeMs()) ?? nowMs();
      const usableAt = await usableWatermark(parts, { stream, watermarkAt, serviceMs, isDryRun });
      const span = spanOf(request, { watermarkAt: usableAt, serviceMs });
      return await insertRun(db, {
        ...request,
        fromAt: new Date(span.fromMs),
        toAt: new Date(span.toMs),
      });
    };
    const row = earlier ?? (await guard(parts, stream, begin));
    const state = stateOf(row);
    const nothing = emptySpanReason(state.span);
    if (nothing !== undefined) {
      await fail(parts, row, nothing);
      return await reportOf(parts, row.id);
    }
    const isByHand = request.cause === 'operator';
    const tools: RunTools = {
      parts,
      stream,
      asking,
      reader,
      heal: { ...parts, retrieve: asking.retrieve, isDryRun, isByHand, historyUntilMs },
      options,
      mayPause: !isByHand,
    };
    try {
      await countUntold(tools, state);
      await guard(parts, stream, () =>
        row.mode === 'totals' ? compareTotals(tools, state) : listSpan(tools, state, state.span),
      );
      await guard(parts, stream, () => settleList(tools, state));
      if (row.mode === 'full') await guard(parts, stream, () => calibrateSums(tools, state));
      await complete(tools, state, pageLimit);
    } catch (error) {
      await endEarly(parts, row, error);
    }
    return await reportOf(parts, row.id);
  };
}

/** Ends a run at its checkpoint (rules 4 and 5). @throws whatever is no trouble with the service */
async function endEarly(parts: ReconcileParts, row: RunRow, error: unknown): Promise<void> {
  if (!(error instanceof ServiceTrouble)) throw error;
  if (error instanceof Paused) {
    await pauseRun(parts.db, row.id);
    parts.log.info({ runId: row.id, stream: row.stream }, 'reconcile.run_paused');
    return;
  }
  await fail(parts, row, error.message);
}

async function fail(
  { db, log, metrics }: ReconcileParts,
  { id, stream }: RunRow,
  reason: string,
): Promise<void> {
  await finishRun(db, id, reason);
  metrics.run('failed');
  log.warn({ runId: id, stream, reason }, 'reconcile.run_failed');
}

/** As many are judged by one run. */
const MAX_UNTOLD = 10_000;

/** Counts changes that were brought here before their webhook had its time, and whose webhook never came. */
async function countUntold(tools: RunTools, state: RunState): Promise<void> {
  const { parts, stream, heal } = tools;
  if (heal.isDryRun || heal.isByHand) return;
  const missed = await takeMissed(parts.db, stream, { graceMs: GRACE_MS, limit: MAX_UNTOLD });
  if (missed.length === 0) return;
  for (const { secondsToConverge } of missed) {
    parts.metrics.missed(stream);
    parts.metrics.secondsToConverge(secondsToConverge);
  }
  await step(tools, state, { compared: 0, missed: missed.length, differences: [] });
}

/** Turns trouble with the service into a finding (rule 4). */
async function guard<T>(
  { db }: ReconcileParts,
  stream: Stream,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceTrouble && !(error instanceof Paused)) {
      await openUnusable(db, stream, error.message);
    }
    throw error;
  }
}

/**
 * An earlier run that this one is the same as (rule 3): one that did not come to its end, or one that
 * did, where a job is tried again for the span of its slot. People who ask again want to know anew.
 */
async function earlierOf(
  { db, clock }: ReconcileParts,
  request: RunRequest,
): Promise<RunRow | undefined> {
  const last = await findLast(db, request, new Date(clock.nowMs() - RESUME_WITHIN_MS));
  if (!last || last.fromAt >= last.toAt) return undefined;
  const { fromMs, toMs, cause } = request;
  const isSame =
    (fromMs === undefined || fromMs === last.fromAt.getTime()) &&
    (toMs === undefined || toMs === last.toAt.getTime());
  const isOfSlot = fromMs !== undefined && toMs !== undefined && cause !== 'operator';
  return isSame && (last.state !== 'done' || isOfSlot) ? last : undefined;
}

function spanOf(
  request: RunRequest,
  known: { readonly watermarkAt: Date | null; readonly serviceMs: number },
): Span {
  const ceilingMs = known.serviceMs - CEILING_MS;
  const toMs = Math.min(request.toMs ?? ceilingMs, ceilingMs);
  const tailMs =
    known.watermarkAt === null ? toMs - FIRST_SPAN_MS : known.watermarkAt.getTime() - OVERLAP_MS;
  return { fromMs: request.fromMs ?? tailMs, toMs };
}

function stateOf(row: RunRow): RunState {
  return {
    row,
    span: { fromMs: row.fromAt.getTime(), toMs: row.toAt.getTime() },
    positionMs: row.positionAt.getTime(),
    counts: row,
    differences: row.differences,
    unhealed: row.differences.filter(({ outcome }) => outcome !== 'healed').length,
    thinRows: 0,
    isFilterIgnored: false,
    isUnstable: false,
  };
}

async function complete(tools: RunTools, state: RunState, pageLimit: number): Promise<void> {
  const { parts, stream, reader } = tools;
  const { row } = state;
  await finishRun(parts.db, row.id, undefined);
  if (reader.limit() !== pageLimit) await writePageLimit(parts.db, stream, reader.limit());
  if (row.mode === 'full' && !row.isDryRun) {
    const { fromAt, toAt } = row;
    const mayBegin = toAt.getTime() - fromAt.getTime() >= FIRST_SPAN_MS;
    const isAdvanced = await advanceWatermark(parts.db, stream, { fromAt, toAt, mayBegin });
    if (isAdvanced) await closeComparison(parts.db, [WATERMARK_AHEAD], [`list:${stream}`]);
  }
  const { found, healed, missed, requests } = state.counts;
  const left = found - healed;
  const verdict = verdictOfDone(state.counts);
  parts.metrics.run(verdict);
  const facts = { runId: row.id, stream, requests, found, healed, missed, left };
  if (left > 0 || missed > 0) parts.log.warn(facts, 'reconcile.differences');
  else parts.log.info(facts, verdict === 'empty' ? 'reconcile.empty' : 'reconcile.equal');
}

async function reportOf({ db }: ReconcileParts, id: number): Promise<RunReport> {
  const row = await readRun(db, id);
  if (!row) throw new Error(`run ${id} is gone`);
  return { ...row, left: row.found - row.healed };
}
