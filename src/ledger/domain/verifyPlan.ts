/**
 * What a run of `tallyhook verify` proves. Terms: a *range* is a part of one table between two keys; a
 * *round* is a set of ranges that contains every row once; the *share* is the part of a round that is
 * proven by a certain time.
 *
 * 1. The ranges of a round leave out no key: the first has no lower bound, the last no upper one, and
 *    each begins where the one before it ends. So a row that is added meanwhile is in a range, too.
 * 2. A run proves what changed since the last one, what failed before, and the next share of the round.
 * 3. Runs on `fullDays` different days finish a round. Days without a run are made up by the next one.
 */
import { DAY_MS } from '../../platform/time.ts';

export const RANGE_PHASES = [
  'inbox',
  'resources',
  'orders',
  'changes',
  'sums',
  'closings',
  'blocks',
  'lines',
] as const;
export type RangePhase = (typeof RANGE_PHASES)[number];

/** Keys of a range: later than `after`, up to and including `until`; undefined where it is not bounded. */
export interface KeyRange {
  readonly after: string | undefined;
  readonly until: string | undefined;
}

/** A round of a very large ledger has larger ranges instead of more. */
const MAX_RANGES = 2_000;

/** How many ranges a table is divided into. */
export function rangesWanted(rows: number, rangeRows: number): number {
  return Math.min(MAX_RANGES, Math.max(1, Math.ceil(rows / rangeRows)));
}

/** Rule 1: ranges between keys, which are distinct and in the order of the database. */
export function rangesBetween(keys: readonly string[]): readonly KeyRange[] {
  const bounds = [undefined, ...keys, undefined];
  return bounds.slice(1).map((until, place) => ({ after: bounds[place], until }));
}

/** Numbers that divide `after` (excluded) to `until` (included) into ranges of about equal size. */
export function numbersBetween(after: number, until: number, size: number): readonly number[] {
  const ranges = rangesWanted(until - after, size);
  const step = Math.ceil((until - after) / ranges);
  const numbers: number[] = [];
  for (let number = after + step; number < until; number += step) numbers.push(number);
  return numbers;
}

/** Ranges of numbers from `after` (excluded) to `until` (included); none if there is no number. */
export function numberRanges(after: number, until: number, size: number): readonly KeyRange[] {
  if (until <= after) return [];
  const bounds = [after, ...numbersBetween(after, until, size), until].map(String);
  return bounds.slice(1).map((key, place) => ({ after: bounds[place], until: key }));
}

export interface RoundAge {
  readonly ranges: number;
  readonly startedMs: number;
  readonly nowMs: number;
  readonly fullDays: number;
}

/** Rule 3: how many ranges of a round are to be proven by the end of this run. */
export function shareOf({ ranges, startedMs, nowMs, fullDays }: RoundAge): number {
  const days = 1 + Math.floor(Math.max(0, nowMs - startedMs) / DAY_MS + SAME_HOUR);
  return Math.min(ranges, Math.ceil((ranges * days) / fullDays));
}

/** A run at the same hour as the first one is a day later, even if it begins some minutes earlier. */
const SAME_HOUR = 1 / 24;

/** A full run that was interrupted is continued for this long; then it begins again. */
const CONTINUE_FULL_MS = DAY_MS;

export interface OpenRound {
  readonly isFull: boolean;
  readonly startedMs: number;
}

/** Whether `--full` continues this round instead of beginning another one. */
export function continuesFull(round: OpenRound, nowMs: number): boolean {
  return round.isFull && nowMs - round.startedMs < CONTINUE_FULL_MS;
}
