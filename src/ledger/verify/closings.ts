/**
 * Proves the sums of closed months, also of those that were reopened: what each closing contains never
 * changes. One closing at a time is added up from the journal and from the closing before it.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { columnProblems } from '../domain/checks.ts';
import type { Closing } from '../domain/closings.ts';
import { type KeyRange, rangesBetween } from '../domain/verifyPlan.ts';
import { readClosings } from '../read/store/closings.ts';
import { type ClosingSpan, compareClosing } from '../store/closings.ts';
import { readConsistently } from '../store/readConsistently.ts';
import type { Bounds, Run } from './walk.ts';

/** A range for each closing, by its number; none without closings. */
export async function rangesOfClosings(tx: Queryable): Promise<readonly KeyRange[]> {
  const numbers = (await readClosings(tx))
    .map(({ id }) => id)
    .toSorted((one, other) => one - other);
  return numbers.length === 0 ? [] : rangesBetween(numbers.slice(0, -1).map(String));
}

/** @param bounds numbers of closings */
export async function checkClosings(
  { db, tally }: Run,
  { after = 0, until = Number.POSITIVE_INFINITY }: Bounds<number> = {},
): Promise<void> {
  const all = await readClosings(db);
  for (const closing of all.filter(({ id }) => id > after && id <= until)) {
    const { checked, differences } = await readConsistently(db, (tx) =>
      compareClosing(tx, spanOf(closing, all)),
    );
    tally.addChecked('closings', checked);
    for (const { subject, expected, stored } of differences) {
      tally.report('closings', { subject }, columnProblems(expected, stored));
    }
  }
}

function spanOf(closing: Closing, all: readonly Closing[]): ClosingSpan {
  const { id, lastTransfer, previousId, ...period } = closing;
  return { id, lastTransfer, period, previous: all.find((one) => one.id === previousId) };
}
