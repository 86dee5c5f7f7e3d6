/**
 * Compares the amounts of payments with the sums of the service's analytics, as a hint; the rules are
 * those of domain/sums.ts.
 *
 * Neither the sums nor their absence are a difference or a failure: they only decide what is listed in
 * addition. What listing finds is repaired and reported like everything else.
 */
import type { PaymentMetricsRequest } from '../contract/requests/analytics.ts';
import { findUncertain, sumReceived } from '../ledger/read/store/comparison.ts';
import {
  areEqual,
  calibrationDay,
  closedDays,
  type Days,
  halve,
  judgeDay,
  MAY_CAPTURE_MORE,
  readSums,
  type Sums,
  sumsOf,
  withoutPart,
} from './domain/sums.ts';
import { recordStep } from './recordStep.ts';
import { retrieveUnsettled } from './repairWindow.ts';
import { type ReconcileSpan, type RunContext, throwIfPaused } from './runContext.ts';
import { afterRequests, differencesSeen, type RunState } from './runState.ts';
import { serviceErrorOf } from './serviceErrorOf.ts';
import { type SumsOutcome, writeSums } from './store/runs.ts';
import { readStream, writeCalibration } from './store/streams.ts';

/** What payments received, partial captures included: the ledger's captured amount. */
const METRIC = 'payment_processed_amount';

/** The sums of both sides, over the same days. */
interface BothSums {
  readonly ours: Sums;
  readonly theirs: Sums;
}

/** What comparing sums came to, with the state behind it. */
interface Compared<Outcome> {
  readonly state: RunState;
  readonly outcome: Outcome | SumsUnavailable;
}

/** Analytics sent no sums that can be used. */
class SumsUnavailable {
  /** For people. */
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Compares the closed days of a span with equal counts, and lists those with different sums.
 * @throws RunInterrupted while listing
 */
export async function compareSums(
  run: RunContext,
  state: RunState,
  reconcileSpan: ReconcileSpan,
): Promise<RunState> {
  const days = closedDays(state.span);
  if (!days) return state;
  const { sumsCalibratedAt } = await readStream(run.parts.db, run.stream);
  if (sumsCalibratedAt === null) {
    return await recordOutcome(run, { state, outcome: 'not_calibrated' });
  }
  const sums = await readBothTwice(run, days);
  if (sums instanceof SumsUnavailable) return await recordOutcome(run, { state, outcome: sums });
  if (areEqual(sums.ours, sums.theirs))
    return await recordOutcome(run, { state, outcome: 'agreed' });
  const found = await reconcileDays(run, state, { days, sums, reconcileSpan });
  const isOver = found.outcome instanceof SumsUnavailable || found.outcome === 'disproved';
  const outcome = isOver ? found.outcome : 'differed';
  return await recordOutcome(run, { state: found.state, outcome });
}

/** Compares the sums of a day in a span that was just listed in full and is equal now. */
export async function calibrateSums(run: RunContext, state: RunState): Promise<RunState> {
  if (run.stream !== 'payments' || run.row.isDryRun) return state;
  const day = calibrationDay(state.span);
  // A resumed run may have listed that day long ago.
  const isEqual = run.row.windows === 0 && state.unrepaired === 0 && !state.isUnstable;
  if (!day || !isEqual) return state;
  const hasShortRows = state.shortRows > 0;
  return await recordOutcome(run, await judgeListedDay(run, state, { day, hasShortRows }));
}

/** Whether to go on to the next day. `inconclusive` stops without disproving the sums. */
type DaysOutcome = 'continue' | 'inconclusive' | 'disproved';

interface UnequalDays {
  readonly days: Days;
  readonly sums: BothSums;
  readonly reconcileSpan: ReconcileSpan;
}

/** Halves the days down to those with different sums, and reconciles these (rules 3 and 4). */
async function reconcileDays(
  run: RunContext,
  state: RunState,
  { days, sums, reconcileSpan }: UnequalDays,
): Promise<Compared<DaysOutcome>> {
  if (areEqual(sums.ours, sums.theirs)) return { state, outcome: 'continue' };
  const halves = halve(days);
  if (!halves) return await reconcileDay(run, state, days, reconcileSpan);
  await throwIfPaused(run);
  const [left, right] = halves;
  const ofLeft = await readBoth(run, left);
  if (ofLeft instanceof SumsUnavailable) return { state, outcome: ofLeft };
  const ofRight = {
    ours: withoutPart(sums.ours, ofLeft.ours),
    theirs: withoutPart(sums.theirs, ofLeft.theirs),
  };
  const before = await reconcileDays(run, state, { days: left, sums: ofLeft, reconcileSpan });
  if (before.outcome !== 'continue') return before;
  return await reconcileDays(run, before.state, { days: right, sums: ofRight, reconcileSpan });
}

/** Lists a day with different sums (rule 4). */
async function reconcileDay(
  run: RunContext,
  before: RunState,
  day: Days,
  reconcileSpan: ReconcileSpan,
): Promise<Compared<DaysOutcome>> {
  const state = await reconcileSpan(run, before, { fromMs: day.fromMs, toMs: day.endMs });
  const isEqual = differencesSeen(state) === differencesSeen(before) && !state.isUnstable;
  if (!isEqual) return { state, outcome: 'continue' };
  const hasShortRows = state.shortRows > before.shortRows;
  const judged = await judgeListedDay(run, state, { day, hasShortRows });
  switch (judged.outcome) {
    case 'differed':
      return { ...judged, outcome: 'inconclusive' };
    case 'agreed':
    case undefined:
      return { ...judged, outcome: 'continue' };
    default:
      return { ...judged, outcome: judged.outcome };
  }
}

interface ListedDay {
  readonly day: Days;
  /** Some of its rows carried no amounts. */
  readonly hasShortRows: boolean;
}

/**
 * Judges the sums of a day of which every listed row is equal (rule 4).
 * @returns undefined for a day without money, and `differed` for one that can prove nothing
 */
async function judgeListedDay(
  run: RunContext,
  before: RunState,
  { day, hasShortRows }: ListedDay,
): Promise<Compared<'agreed' | 'disproved' | 'differed' | undefined>> {
  const first = await readBothTwice(run, day);
  if (first instanceof SumsUnavailable) return { state: before, outcome: first };
  if (!hasShortRows || areEqual(first.ours, first.theirs)) {
    return { state: before, outcome: await judgeSums(run, first) };
  }
  const { state, outcome } = await retrieveCandidates(run, before, day);
  if (outcome === 'equal') return { state, outcome: await judgeSums(run, first) };
  if (outcome === 'too_many') return { state, outcome: 'differed' };
  const second = await readBothTwice(run, day);
  if (second instanceof SumsUnavailable) return { state, outcome: second };
  // The day was not equal, so sums that differ still (as they do in a dry run) are not disproved.
  const isAgreed = areEqual(second.ours, second.theirs);
  return { state, outcome: isAgreed ? await judgeSums(run, second) : 'differed' };
}

/** Judges the sums of a day that is equal, and uses them from now on or no longer (rule 1). */
async function judgeSums(
  { parts, row, stream }: RunContext,
  { ours, theirs }: BothSums,
): Promise<'agreed' | 'disproved' | undefined> {
  const verdict = judgeDay(ours, theirs);
  if (verdict === 'nothing') return undefined;
  if (!row.isDryRun) {
    const at = verdict === 'agreed' ? new Date(parts.clock.nowMs()) : null;
    await writeCalibration(parts.db, stream, at);
  }
  return verdict;
}

/** Retrieved for one day at most; a day with more candidates would cost more than its hint is worth. */
const MAX_CANDIDATES = 200;

interface RetrievedCandidates {
  readonly state: RunState;
  readonly outcome: 'too_many' | 'changed' | 'equal';
}

/** Retrieves the payments of a day that have an uncertain captured amount (rule 4). */
async function retrieveCandidates(
  run: RunContext,
  before: RunState,
  day: Days,
): Promise<RetrievedCandidates> {
  const limit = MAX_CANDIDATES + 1;
  const ids = await findUncertain(run.parts.db, day, { statuses: MAY_CAPTURE_MORE, limit });
  if (ids.length > MAX_CANDIDATES) return { state: before, outcome: 'too_many' };
  const refs = ids.map((id) => ({ kind: 'payment', id }) as const);
  const differences = await retrieveUnsettled(run, refs);
  const state = await recordStep(run, before, { compared: 0, missed: 0, differences });
  return { state, outcome: differences.length > 0 ? 'changed' : 'equal' };
}

/** Payments change while they are added up, so sums count as unequal when they are so twice in a row. */
async function readBothTwice(run: RunContext, days: Days): Promise<BothSums | SumsUnavailable> {
  const first = await readBoth(run, days);
  const isFinal = first instanceof SumsUnavailable || areEqual(first.ours, first.theirs);
  return isFinal ? first : await readBoth(run, days);
}

async function readBoth(run: RunContext, days: Days): Promise<BothSums | SumsUnavailable> {
  const theirs = await requestSums(run, days);
  if (theirs instanceof SumsUnavailable) return theirs;
  return { ours: sumsOf(await sumReceived(run.parts.db, 'payment', days)), theirs };
}

async function requestSums(
  { parts, requester }: RunContext,
  { fromMs, endMs }: Days,
): Promise<Sums | SumsUnavailable> {
  const query: PaymentMetricsRequest[number] = {
    timeRange: {
      startTime: new Date(fromMs).toISOString(),
      endTime: new Date(endMs).toISOString(),
    },
    metrics: [METRIC],
    groupByNames: ['currency'],
  };
  try {
    const { queryData } = await requester.requestOnce((options) =>
      parts.client.analytics.payments([query], options),
    );
    const sums = readSums(queryData, METRIC);
    return sums ?? new SumsUnavailable('analytics sent rows without a currency and its sum');
  } catch (error) {
    return new SumsUnavailable(serviceErrorOf(error).message);
  }
}

/** Records in the report and in the log what the sums came to. */
async function recordOutcome(
  { parts, row, checkpoint, stream, requester }: RunContext,
  { state: before, outcome }: Compared<SumsOutcome | undefined>,
): Promise<RunState> {
  const state = afterRequests(before, requester.requestCount());
  const isUnavailable = outcome instanceof SumsUnavailable;
  const sums = isUnavailable ? 'unavailable' : outcome;
  const reason = isUnavailable ? outcome.reason : undefined;
  await writeSums(parts.db, checkpoint, { sums, requests: state.counts.requests });
  if (sums) parts.log.info({ runId: row.id, stream, sums, reason }, 'reconcile.sums');
  return state;
}
