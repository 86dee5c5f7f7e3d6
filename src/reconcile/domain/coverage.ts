/**
 * What was compared with the service, day by day.
 *
 * A stretch is the part of a run's span up to its checkpoint: what the run compared.
 *
 * 1. Each instant has the result of the latest run that compared it. A day has the worst result of its
 *    instants, so a difference counts until a later run has compared all of the stretch in this day.
 * 2. A day is compared whole if no instant of it is missing. The current day is compared in part.
 * 3. Days are days of UTC, as in the service's lists.
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
export function coverageOfDay(stretches: readonly Stretch[], dayMs: number): DayCoverage {
  const missing = [{ fromMs: dayMs, toMs: dayMs + DAY_MS }];
  let worst: DayResult | undefined;
  let comparedAtMs = Number.NEGATIVE_INFINITY;
  for (const stretch of stretches) {
    if (missing.length === 0) break;
    // Most stretches are of other days.
    if (stretch.toMs <= dayMs || stretch.fromMs >= dayMs + DAY_MS) continue;
    const left = missing.flatMap((gap) => without(gap, stretch));
    if (lengthOf(left) === lengthOf(missing)) continue;
    missing.splice(0, missing.length, ...left);
    worst = worstOf(worst, resultOf(stretch));
    comparedAtMs = Math.max(comparedAtMs, stretch.comparedAtMs);
  }
  if (worst === undefined) return { coverage: 'none' };
  return {
    coverage: missing.length === 0 ? 'whole' : 'part',
    result: worst,
    comparedAtMs,
    comparedToMs: missing[0]?.fromMs ?? dayMs + DAY_MS,
  };
}

/** The starts of the last days, today first. */
export function lastDays(nowMs: number, count: number): readonly number[] {
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return Array.from({ length: count }, (_, index) => todayMs - index * DAY_MS);
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

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

function resultOf(stretch: Stretch): DayResult {
  const verdict = verdictOfDone(stretch);
  return verdict === 'equal' && stretch.found > 0 ? 'repaired' : verdict;
}

function worstOf(one: DayResult | undefined, other: DayResult): DayResult {
  return one !== undefined && DAY_RESULTS.indexOf(one) > DAY_RESULTS.indexOf(other) ? one : other;
}
