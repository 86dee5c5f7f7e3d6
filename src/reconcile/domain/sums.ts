/**
 * Compares the sums of the service's analytics with the ledger's: equal counts do not prove equal
 * amounts.
 *
 * *Closed day*: a day, UTC, that ended at least a day before the end of the run: analytics may compute
 * sums in batches. *Calibrated*: the sums agreed with the ledger's on a closed day, just after every row
 * of it had been listed and was equal.
 *
 * 1. Sums are used only while they are calibrated. If they disagree over such a day, they are wrong and
 *    the ledger is right: they are not used until they agree again.
 * 2. A day without money proves nothing: it neither calibrates nor disproves.
 * 3. Where calibrated sums disagree, the span is halved down to days, which are listed. Nothing
 *    narrower than a day is requested, since nothing narrower was calibrated.
 * 4. A day that is listed because of its sum and shows no difference disproves the sums at once (rule
 *    1). So wrong sums cost one request for each halving, and one listed day.
 *    Rows without amounts cannot show that they are equal. On a day with such rows, the candidates are
 *    retrieved before the sums are judged: payments with an uncertain captured amount. Where there are
 *    too many, the day proves nothing.
 * 5. Sums are compared by currency alone: the statuses of analytics are those of attempts, which have
 *    other names in this family.
 */

import type { PaymentStatus } from '../../contract/statuses.ts';
import { DAY_MS } from '../../platform/time.ts';
import type { Span } from './windows.ts';

/** Whole days, UTC: `fromMs` included, `endMs` not. */
export interface Days {
  readonly fromMs: number;
  readonly endMs: number;
}

/** Minor units by currency. Zero sums are left out, so that equal sums have equal keys. */
export type Sums = ReadonlyMap<string, bigint>;

/** The closed days that lie completely in a span. @returns undefined where there is none */
export function closedDays({ fromMs, toMs }: Span): Days | undefined {
  const days = {
    fromMs: Math.ceil(fromMs / DAY_MS) * DAY_MS,
    endMs: Math.floor((toMs - DAY_MS) / DAY_MS) * DAY_MS,
  };
  return days.endMs > days.fromMs ? days : undefined;
}

/** The day on which a run over a span calibrates: the latest closed one. */
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
 * Reads the rows of a response, one for each currency.
 * @param metric the name of the sum in them
 * @returns undefined where the rows are not those that were requested
 */
export function readSums(
  rows: readonly Readonly<Record<string, unknown>>[],
  metric: string,
): Sums | undefined {
  const read: (readonly [string, bigint])[] = [];
  for (const { currency, [metric]: sum } of rows) {
    if (typeof currency !== 'string' || typeof sum !== 'number') return undefined;
    if (!Number.isSafeInteger(sum)) return undefined;
    read.push([currency, BigInt(sum)]);
  }
  const areDistinct = new Set(read.map(([currency]) => currency)).size === read.length;
  return areDistinct ? sumsOf(read) : undefined;
}

/** @param read minor units by currency. Zero is left out, so that it equals no sum of the currency. */
export function sumsOf(read: Iterable<readonly [string, bigint]>): Sums {
  return new Map([...read].filter(([, sum]) => sum !== 0n));
}

export function areEqual(some: Sums, others: Sums): boolean {
  return (
    some.size === others.size && [...some].every(([currency, sum]) => others.get(currency) === sum)
  );
}

/** Sums without a part of them: the right half, from the whole and its left half. */
export function withoutPart(whole: Sums, part: Sums): Sums {
  const currencies = [...new Set([...whole.keys(), ...part.keys()])];
  return sumsOf(
    currencies.map((currency) => [
      currency,
      (whole.get(currency) ?? 0n) - (part.get(currency) ?? 0n),
    ]),
  );
}

/** Statuses that are not final and under which more may have been captured (rule 4). */
export const MAY_CAPTURE_MORE = [
  'partially_captured_and_processing',
  'partially_captured_and_capturable',
  'conflicted',
  'review',
] as const satisfies readonly PaymentStatus[];

/** Judges analytics by the sums of a closed day with equal rows (rules 1 and 2). */
export function judgeDay(ours: Sums, theirs: Sums): 'agreed' | 'disproved' | 'nothing' {
  if (ours.size === 0 && theirs.size === 0) return 'nothing';
  return areEqual(ours, theirs) ? 'agreed' : 'disproved';
}
