/**
 * What was compared with the service, day by day.
 *
 * A stretch is the part of a run's span up to its checkpoint: what the run compared.
 *
 * 1. Each instant has the result of the latest run that compared it. A day has the worst result of its
 *    instants, so a difference counts until a later run has compared all of the stretch in this day.
 * 2. A day is compared whole if no instant of it is missing. The current day is compared in part.
 * 3. Days are days of UTC, as in the service's lists.
 * 4. A difference counts in the day in which its resource was created. If one of a stretch has no known
 *    day, its differences count in each of its days: rather a day too many than one too few.
 * 5. A day in which both sides agree on nothing is empty, also within a stretch that has rows elsewhere.
 */
import { DAY_MS } from '../../platform/time.ts';
import { verdictOfDone } from './verdict.ts';

export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly comparedAtMs: number;
  readonly rowsCompared: number;
  readonly rowsCounted: number;
  readonly found: number;
  readonly repaired: number;
  /** The starts of the days in which what differs was created; undefined where that is not known. */
  readonly differingDays?: ReadonlySet<number> | undefined;
}

/** One day of one list. */
export interface ListDay {
  readonly dayMs: number;
  /** The ledger has no resource of the list that was created in this day. */
  readonly isEmpty: boolean;
}

/** From the best to the worst. `repaired`: differences were found, and none of them remains. */
export const DAY_RESULTS = ['empty', 'equal', 'repaired', 'different'] as const;
export type DayResult = (typeof DAY_RESULTS)[number];

export type DayCoverage =
  | { readonly coverage: 'none' }
  | {
      readonly coverage: 'part' | 'whole';
      readonly result: DayResult;
      /** When a run last compared something of the day. */
      readonly comparedAtMs: number;
      /** The end of what is compared without a gap from the start of the day. */
      readonly comparedToMs: number;
    };

/** @param stretches of one list, latest run first */
export function coverageOfDay(
  stretches: readonly Stretch[],
  { dayMs, isEmpty }: ListDay,
): DayCoverage {
  let missing: readonly Interval[] = [{ fromMs: dayMs, toMs: dayMs + DAY_MS }];
  let worst: DayResult | undefined;
  let comparedAtMs = Number.NEGATIVE_INFINITY;
  for (const stretch of stretches) {
    if (!missing.some((gap) => overlap(gap, stretch))) continue;
    missing = missing.flatMap((gap) => without(gap, stretch));
    worst = worstOf(worst, resultOf(stretch, dayMs));
    comparedAtMs = Math.max(comparedAtMs, stretch.comparedAtMs);
  }
  if (worst === undefined) return { coverage: 'none' };
  return {
    coverage: missing.length === 0 ? 'whole' : 'part',
    result: worst === 'equal' && isEmpty ? 'empty' : worst,
    comparedAtMs,
    comparedToMs: missing[0]?.fromMs ?? dayMs + DAY_MS,
  };
}

/** The starts of the last days, today first. */
export function lastDays(nowMs: number, count: number): readonly number[] {
  const todayMs = dayOf(nowMs);
  return Array.from({ length: count }, (_, index) => todayMs - index * DAY_MS);
}

/** The start of the day of an instant. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is left of an interval, in order of time. */
function without(interval: Interval, taken: Interval): readonly Interval[] {
  return [
    { fromMs: interval.fromMs, toMs: Math.min(interval.toMs, taken.fromMs) },
    { fromMs: Math.max(interval.fromMs, taken.toMs), toMs: interval.toMs },
  ].filter(({ fromMs, toMs }) => fromMs < toMs);
}

/** Whether two intervals have a part in common. An empty one has none. */
function overlap(one: Interval, other: Interval): boolean {
  return Math.max(one.fromMs, other.fromMs) < Math.min(one.toMs, other.toMs);
}

/** The result of a stretch in one of its days (rule 4). */
function resultOf(stretch: Stretch, dayMs: number): DayResult {
  const verdict = verdictOfDone(stretch);
  if (stretch.found > 0 && stretch.differingDays?.has(dayMs) === false) return 'equal';
  return verdict === 'equal' && stretch.found > 0 ? 'repaired' : verdict;
}

function worstOf(one: DayResult | undefined, other: DayResult): DayResult {
  return one !== undefined && DAY_RESULTS.indexOf(one) > DAY_RESULTS.indexOf(other) ? one : other;
}
