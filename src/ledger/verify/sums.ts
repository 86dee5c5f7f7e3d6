/**
 * Checks the stored sums of the journal, by ranges of effective days.
 *
 * Sums that differ begin again, because a reading would use them: from then on it adds up the journal until
 * the schedule `transfer_sums` has made them.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { DAY_MS } from '../../platform/time.ts';
import { columnProblems } from '../domain/checks.ts';
import { numbersBetween, rangesBetween } from '../domain/verifyPlan.ts';
import type { Compared } from '../store/comparedSums.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { restartSums } from '../store/transferSums.ts';
import {
  compareSpans,
  compareStraySpans,
  compareSums,
  readProvableTo,
  readSumEnds,
} from '../store/verifySums.ts';
import type { Bounds, Run } from './walk.ts';

/** Ranges of days that contain every effective time once. @param rangeRows about how many transfers each has */
export async function rangesOfSums(
  tx: Queryable,
  rangeRows: number,
): Promise<ReturnType<typeof rangesBetween>> {
  const ends = await readSumEnds(tx);
  if (!ends) return rangesBetween([]);
  const { firstDay, lastDay, rows } = ends;
  const days = Math.max(1, Math.floor(((lastDay - firstDay + 1) * rangeRows) / Math.max(1, rows)));
  return rangesBetween(numbersBetween(firstDay - 1, lastDay, days).map(String));
}

/** @param bounds days since 1970 */
export async function checkSums(
  { db, tally }: Run,
  { after, until }: Bounds<number>,
): Promise<void> {
  const from = after === undefined ? '-infinity' : dayText(after + 1);
  const to = until === undefined ? 'infinity' : dayText(until + 1);
  const compared = await readConsistently(db, async (tx): Promise<readonly Compared[]> => {
    const summedTo = await readProvableTo(tx);
    if (summedTo === undefined) return [];
    const range = { from, to, summedTo };
    return [
      await compareSums(tx, range),
      await compareSpans(tx, range),
      ...(until === undefined ? [await compareStraySpans(tx)] : []),
    ];
  });
  for (const { checked, differences } of compared) {
    tally.addChecked('sums', checked);
    for (const { subject, expected, stored } of differences) {
      tally.report('sums', { subject }, columnProblems(expected, stored));
    }
  }
  if (compared.some(({ differences }) => differences.length > 0)) await restartSums(db);
}

function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString();
}
