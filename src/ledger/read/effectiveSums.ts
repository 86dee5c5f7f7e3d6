/**
 * Sums by effective time: from the stored sums and what was recorded since, or from the journal alone where
 * the stored sums cannot be used. Both give the same (test/ledger/transferSums.test.ts).
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { Period } from '../domain/period.ts';
import type { DaySums, LegSums, OpenItems } from '../domain/statement.ts';
import { readDaySums, readLegSums, readOpenItems } from './store/statement.ts';
import {
  isOnQuarters,
  readSummedDays,
  readSummedLegs,
  readSummedOpenItems,
  readSummedTo,
} from './store/statementSums.ts';
import type { NamedItem } from './store/sums.ts';

export interface EffectiveSums {
  /** What each leg moved before a time. Microseconds since 1970, as all times here. */
  readonly legsBefore: (beforeMicros: number) => Promise<readonly LegSums[]>;
  /** The movements of a period by day and leg. */
  readonly daysOf: (period: Period) => Promise<readonly DaySums[]>;
  /**
   * What was under way before a time.
   * @param most how many of the oldest of each item are read
   * @param unlisted those that are only counted
   */
  readonly openBefore: (
    beforeMicros: number,
    most: number,
    unlisted?: readonly NamedItem[],
  ) => Promise<readonly OpenItems[]>;
}

/**
 * @param tx a transaction with one snapshot, in which all sums are read
 * @param currency undefined: every currency
 */
export async function openEffectiveSums(
  tx: Queryable,
  currency: string | undefined,
): Promise<EffectiveSums> {
  const summedTo = await readSummedTo(tx);
  if (summedTo === undefined) {
    return {
      legsBefore: (beforeMicros) => readLegSums(tx, { currency, beforeMicros }),
      daysOf: (period) => readDaySums(tx, period, { currency }),
      openBefore: (beforeMicros, most, unlisted = []) =>
        readOpenItems(tx, { currency, beforeMicros }, { most, unlisted }),
    };
  }
  return {
    legsBefore: (beforeMicros) => readSummedLegs(tx, { currency, beforeMicros }, summedTo),
    daysOf: (period) =>
      isOnQuarters(period)
        ? readSummedDays(tx, period, { currency, summedTo })
        : readDaySums(tx, period, { currency }),
    openBefore: (beforeMicros, most, unlisted = []) =>
      readSummedOpenItems(tx, { currency, beforeMicros }, { summedTo, most, unlisted }),
  };
}
