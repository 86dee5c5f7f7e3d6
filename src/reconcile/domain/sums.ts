/**
 * Sums of the service's analytics beside our own: equal counts do not prove equal money.
 *
 * *Closed day*: a day, UTC, that ended at least a day before the end of the run: sums may be made in
 * batches. *Calibrated*: the sums agreed with ours on a closed day of which every row had just been
 * listed and was equal.
 *
 * 1. Sums are used only while they are calibrated. Once they disagree over such a day, they are wrong
 *    and not we: they are no longer used, until they agree again.
 * 2. A day without money says nothing: it neither calibrates nor disproves.
 * 3. Where calibrated sums disagree, the span is halved down to days, which are listed. Nothing
 *    narrower than a day is asked for, since nothing narrower was calibrated.
 * 4. A day that is listed for its sum and shows no difference disproves the sums at once (rule 1). So
 *    a service that lies costs one question for each halving, and one day.
 *    Rows that carry no money cannot show that it is equal. Of a day with such rows the candidates are
 *    retrieved before the sums are judged: payments of which the ledger does not know for certain what
 *    was captured. Where there are too many of them, nothing is concluded from that day.
 * 5. Sums are compared by currency alone: statuses of analytics are those of attempts in this family,
 *    which has other words for them.
 */

import type { PaymentStatus } from '../../contract/statuses.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { Span } from './windows.ts';

/** Whole days, UTC: `fromMs` included, `endMs` not. */
export interface Days {
  readonly fromMs: number;
  readonly endMs: number;
}

/** Minor units by currency. What is 0 is left out, so that equal sums have equal keys. */
export type Sums = ReadonlyMap<string, bigint>;

/** The closed days that lie whole in a span. @returns undefined where there is none */
export function closedDays({ fromMs, toMs }: Span): Days | undefined {
  const days = {
    fromMs: Math.ceil(fromMs / DAY_MS) * DAY_MS,
    endMs: Math.floor((toMs - DAY_MS) / DAY_MS) * DAY_MS,
  };
  return days.endMs > days.fromMs ? days : undefined;
}

/** The day that a run over a span calibrates with: the youngest one that is closed. */
export function calibrationDay(span: Span): Days | undefined {
  const days = closedDays(span);
  return days && { fromMs: days.endMs - DAY_MS, endMs: days.endMs };
}

/** Two halves of whole days. @returns undefined for one day (rule 3) */
export function halve({ fromMs, endMs }: Days): readonly [Days, Days] | undefined {
  const count = (endMs - fromMs) / DAY_MS;
  if (count <= 1) return undefined;
  const middleMs = fromMs + Math.ceil(count / 2) * DAY_MS;
  return [
    { fromMs, endMs: middleMs },
    { fromMs: middleMs, endMs },
  ];
}

/**
 * Reads the rows of an answer, one of each currency.
 * @param metric the name of the sum in them
 * @returns undefined where the answer is not one that was asked for
 */
export function readSums(
  rows: readonly Readonly<Record<string, unknown>>[],
  metric: string,
): Sums | undefined {
  const read: (readonly [string, bigint])[] = [];
  for (const { currency, [metric]: sum } of rows) {
    if (typeof currency !== 'string' || !Number.isSafeInteger(sum)) return undefined;
    read.push([currency, BigInt(sum as number)]);
  }
  const areDistinct = new Set(read.map(([currency]) => currency)).size === read.length;
  return areDistinct ? sumsOf(read) : undefined;
}

export function sumsOf(read: Iterable<readonly [string, bigint]>): Sums {
  return new Map([...read].filter(([, sum]) => sum !== 0n));
}

export function areEqual(some: Sums, others: Sums): boolean {
  return (
    some.size === others.size && [...some].every(([currency, sum]) => others.get(currency) === sum)
  );
}

/** What is left of sums without a part of them: the right half, of a whole and its left half. */
export function withoutPart(whole: Sums, part: Sums): Sums {
  const currencies = [...new Set([...whole.keys(), ...part.keys()])];
  return sumsOf(
    currencies.map((currency) => [
      currency,
      (whole.get(currency) ?? 0n) - (part.get(currency) ?? 0n),
    ]),
  );
}

/** Statuses that are not final and under which money may have been captured (rule 4). */
export const MAY_CAPTURE_MORE = [
  'partially_captured_and_processing',
  'partially_captured_and_capturable',
  'conflicted',
  'review',
] as const satisfies readonly PaymentStatus[];

/** What sums over a closed day say of analytics, all rows of it being equal (rules 1 and 2). */
export function judgeDay(ours: Sums, theirs: Sums): 'agreed' | 'disproved' | 'nothing' {
  if (ours.size === 0 && theirs.size === 0) return 'nothing';
  return areEqual(ours, theirs) ? 'agreed' : 'disproved';
}
