/**
 * Asks analytics for the money of payments, as a hint; the rules are those of domain/sums.ts.
 *
 * What analytics answers, or that it does not, is no difference and no trouble: it only decides what
 * is listed besides. What listing finds is healed and reported like everything else.
 */
import { PaymentServiceError } from '../client/index.ts';
import type { PaymentMetricsRequest } from '../contract/requests/analytics.ts';
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
  withoutPart,
} from './domain/sums.ts';
import { askAgain } from './heal.ts';
import { listSpan, type RunState, type RunTools, step, throwIfPaused } from './listSpan.ts';
import { readUncertain, sumReceived } from './store/compare.ts';
import { readStream, type SumsOutcome, writeCalibration, writeSums } from './store/runs.ts';

/** What payments received, partial captures included: the ledger's captured amount. */
const METRIC = 'payment_processed_amount';

/** The sums of both sides, over the same days. */
interface BothSums {
  readonly ours: Sums;
  readonly theirs: Sums;
}

/** Analytics gave no sums. Its message says why, for people. */
class Unanswered extends Error {}

/**
 * Compares the closed days of a span whose counts are equal, and lists those whose sums are not.
 * @throws ServiceTrouble while listing
 */
export async function compareSums(tools: RunTools, state: RunState): Promise<void> {
  const days = closedDays(state.span);
  if (!days) return;
  const { sumsCalibratedAt } = await readStream(tools.parts.db, tools.stream);
  await noteOutcome(tools, state, async () => {
    if (sumsCalibratedAt === null) return 'not_calibrated';
    const sums = await readBothTwice(tools, days);
    if (areEqual(sums.ours, sums.theirs)) return 'agreed';
    return (await descend(tools, state, days, sums)) === 'disproved' ? 'disproved' : 'differed';
  });
}

/** Tries the sums of payments on a day of a span that was just listed in full and is equal now. */
export async function calibrateSums(tools: RunTools, state: RunState): Promise<void> {
  if (tools.stream !== 'payments' || tools.heal.isDryRun) return;
  const day = calibrationDay(state.span);
  // A run that went on from a checkpoint may have compared that day long ago.
  const isEqual = state.row.windows === 0 && state.unhealed === 0 && !state.isUnstable;
  const isThin = state.thinRows > 0;
  if (day && isEqual) await noteOutcome(tools, state, () => tryDay(tools, state, { day, isThin }));
}

/** Whether to go on to the next day: `undecided` ends the descent without disproving the sums. */
type Descended = 'goes_on' | 'undecided' | 'disproved';

/** Goes down to the days whose sums differ (rules 3 and 4). */
async function descend(
  tools: RunTools,
  state: RunState,
  days: Days,
  sums: BothSums,
): Promise<Descended> {
  if (areEqual(sums.ours, sums.theirs)) return 'goes_on';
  const halves = halve(days);
  if (!halves) return await listDay(tools, state, days);
  await throwIfPaused(tools);
  const [left, right] = halves;
  const ofLeft = await readBoth(tools, left);
  const ofRight = {
    ours: withoutPart(sums.ours, ofLeft.ours),
    theirs: withoutPart(sums.theirs, ofLeft.theirs),
  };
  const descended = await descend(tools, state, left, ofLeft);
  return descended === 'goes_on' ? await descend(tools, state, right, ofRight) : descended;
}

/** Lists a day whose sums differ (rule 4). */
async function listDay(tools: RunTools, state: RunState, day: Days): Promise<Descended> {
  const { thinRows } = state;
  const before = state.counts.found + state.unhealed;
  await listSpan(tools, state, { fromMs: day.fromMs, toMs: day.endMs });
  const isEqual = state.counts.found + state.unhealed === before && !state.isUnstable;
  if (!isEqual) return 'goes_on';
  const isThin = state.thinRows > thinRows;
  const verdict = await tryDay(tools, state, { day, isThin });
  if (verdict === 'disproved') return 'disproved';
  return verdict === 'differed' ? 'undecided' : 'goes_on';
}

interface ListedDay {
  readonly day: Days;
  /** Some of its rows carried no money. */
  readonly isThin: boolean;
}

/**
 * Tries the sums on a day of which every row is equal (rule 4).
 * @returns undefined if it has no money, or `differed` if it can prove nothing
 */
async function tryDay(
  tools: RunTools,
  state: RunState,
  { day, isThin }: ListedDay,
): Promise<'agreed' | 'disproved' | 'differed' | undefined> {
  const { parts, stream, heal } = tools;
  let sums = await readBothTwice(tools, day);
  if (isThin && !areEqual(sums.ours, sums.theirs)) {
    const asked = await askCandidates(tools, state, day);
    if (asked === 'too_many') return 'differed';
    if (asked === 'changed') sums = await readBothTwice(tools, day);
    // The day was not equal, so sums that differ still (as they do in a dry run) are not disproved.
    if (asked === 'changed' && !areEqual(sums.ours, sums.theirs)) return 'differed';
  }
  const verdict = judgeDay(sums.ours, sums.theirs);
  if (verdict === 'nothing') return undefined;
  if (!heal.isDryRun) {
    const at = verdict === 'agreed' ? new Date(parts.clock.nowMs()) : null;
    await writeCalibration(parts.db, stream, at);
  }
  return verdict;
}

/** Retrieves for one day at most; a day with more candidates would cost more than its hint is worth. */
const MAX_CANDIDATES = 200;

/** Retrieves the payments of a day of which the ledger is not certain what they captured (rule 4). */
async function askCandidates(
  tools: RunTools,
  state: RunState,
  day: Days,
): Promise<'too_many' | 'changed' | 'equal'> {
  const limit = MAX_CANDIDATES + 1;
  const ids = await readUncertain(tools.parts.db, day, { statuses: MAY_CAPTURE_MORE, limit });
  if (ids.length > MAX_CANDIDATES) return 'too_many';
  const refs = ids.map((id) => ({ kind: 'payment', id }) as const);
  const differences = await askAgain(tools.heal, refs);
  await step(tools, state, { compared: 0, missed: 0, differences });
  return differences.length > 0 ? 'changed' : 'equal';
}

/** Money moves while it is added up, so sums count as unequal when they are so twice in a row. */
async function readBothTwice(tools: RunTools, days: Days): Promise<BothSums> {
  const first = await readBoth(tools, days);
  return areEqual(first.ours, first.theirs) ? first : await readBoth(tools, days);
}

async function readBoth(tools: RunTools, days: Days): Promise<BothSums> {
  const theirs = await askSums(tools, days);
  return { ours: await sumReceived(tools.parts.db, 'payment', days), theirs };
}

/** @throws Unanswered */
async function askSums({ parts, asking }: RunTools, { fromMs, endMs }: Days): Promise<Sums> {
  const query: PaymentMetricsRequest[number] = {
    timeRange: {
      startTime: new Date(fromMs).toISOString(),
      endTime: new Date(endMs).toISOString(),
    },
    metrics: [METRIC],
    groupByNames: ['currency'],
  };
  const answer = await asking
    .askOnce((options) => parts.client.analytics.payments([query], options))
    .catch((error: unknown) => {
      if (!(error instanceof PaymentServiceError) || error.kind === 'aborted') throw error;
      throw new Unanswered(error.message, { cause: error });
    });
  const sums = readSums(answer.queryData, METRIC);
  if (!sums) throw new Unanswered('analytics answered rows without a currency and its sum');
  return sums;
}

/** Says in the report and in the log what the sums came to; they are never more than a hint. */
async function noteOutcome(
  { parts, stream, asking }: RunTools,
  state: RunState,
  work: () => Promise<SumsOutcome | undefined>,
): Promise<void> {
  let reason: string | undefined;
  const outcome = await work().catch((error: unknown) => {
    if (!(error instanceof Unanswered)) throw error;
    reason = error.message;
    return 'unanswered' as const;
  });
  state.counts = { ...state.counts, requests: asking.requests() };
  const runId = state.row.id;
  await writeSums(parts.db, runId, { sums: outcome, requests: state.counts.requests });
  if (outcome) parts.log.info({ runId, stream, sums: outcome, reason }, 'reconcile.sums');
}
