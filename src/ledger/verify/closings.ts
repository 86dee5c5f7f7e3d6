/**
 * Proves the sums of closed months, also of those that were reopened: what each closing contains never
 * changes. One closing at a time is added up from the journal and from the closing before it, in parts.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { columnProblems } from '../domain/checks.ts';
import { sumKey } from '../domain/closingSums.ts';
import type { Closing, ClosingSum } from '../domain/closings.ts';
import { type KeyRange, rangesBetween } from '../domain/verifyPlan.ts';
import { readClosings } from '../read/store/closings.ts';
import { readStoredBalances, readStoredDays } from '../store/closings.ts';
import { type ClosingSpan, sumClosing } from '../sumClosing.ts';
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
    const { days, balances } = await sumClosing(db, spanOf(closing, all));
    const expected = byName([...days, ...balances]);
    const stored = byName([
      ...(await readStoredDays(db, closing.id)),
      ...(await readStoredBalances(db, closing.id)),
    ]);
    const names = [...new Set([...expected.keys(), ...stored.keys()])].toSorted();
    tally.addChecked('closings', names.length);
    for (const name of names) {
      const [should, is] = [expected.get(name), stored.get(name)];
      tally.report(
        'closings',
        { subject: `closing:${closing.month}:${name}` },
        columnProblems(should ?? zeros(is), is ?? zeros(should)),
      );
    }
  }
}

type Sums = ClosingSum['sums'];

function byName(sums: readonly ClosingSum[]): ReadonlyMap<string, Sums> {
  return new Map(sums.map((one) => [sumKey(one), one.sums]));
}

/** Where a row is missing, its sums are zero: a row of zeros may remain, and is equal to none. */
function zeros(sums: Sums = {}): Sums {
  return Object.fromEntries(Object.keys(sums).map((name) => [name, '0']));
}

function spanOf(
  { lastTransfer, previousId, ...period }: Closing,
  all: readonly Closing[],
): ClosingSpan {
  return { lastTransfer, period, previous: all.find((one) => one.id === previousId) };
}
