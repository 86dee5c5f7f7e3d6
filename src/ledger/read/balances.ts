/**
 * Balances of accounts: now, as they were effective at a time, and as they were known at a time.
 *
 * Closed days are those of `closedDays.ts`.
 *
 * 1. The journal is append-only, so the sums of a closed day never change. A process adds each closed day
 *    up once, when balances are first read, and keeps the sums until the clock of the database goes back.
 * 2. Every reading adds the days that are not closed, and the part of a day before the given time,
 *    from the journal. The result equals the sums of all transfers that were recorded before that time.
 * 3. Balances by effective time are read from the stored sums (effectiveSums.ts), which late transfers of any
 *    past day are added to. Those that were known at a time are read from the journal.
 */
import { startStopwatch } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import {
  type AccountBalance,
  addUpMoved,
  balancesOf,
  type MovedAmount,
  type MovedOnDay,
} from '../domain/balances.ts';
import { type LegSums, movedByLegs } from '../domain/statement.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { type ClosingTime, DAY_MICROS, dayOf, firstOpenDay, wasSetBack } from './closedDays.ts';
import { openEffectiveSums } from './effectiveSums.ts';
import {
  readAccounts,
  readJournalTimes,
  readMoved,
  readMovedByDay,
  readOrderMoved,
} from './store/balances.ts';
import { readLegSums } from './store/statement.ts';
import { requireDated } from './undated.ts';

export interface BalanceReader {
  /** @throws UndatedTransfers when effective times are wanted that are not known yet */
  read(at?: BalanceTime): Promise<readonly AccountBalance[]>;
}

/** Times in microseconds since 1970; undefined: no limit. */
export interface BalanceTime {
  /** Only what was effective before it. */
  readonly effectiveMicros?: number | undefined;
  /** Only what Tallyhook had recorded before it. */
  readonly knownMicros?: number | undefined;
}

/** A statement adds up so many days, so that none takes long. */
const DAYS_AT_ONCE = 32;

export function createBalanceReader(db: Pick<Database, 'query' | 'transaction'>): BalanceReader {
  let days: MovedOnDay[] = [];
  let ofAllDays: readonly MovedAmount[] = [];
  /** Days before this are in `days`; undefined until the first transfer. */
  let closedTo: number | undefined;
  /** When days were last closed. */
  let closedAt: ClosingTime | undefined;
  let closing: Promise<void> | undefined;

  const closeDays = async (): Promise<void> => {
    const elapsedSeconds = startStopwatch();
    const { nowMicros, firstMicros } = await readJournalTimes(db);
    if (closedAt && wasSetBack(closedAt, nowMicros)) {
      [days, ofAllDays, closedTo] = [[], [], undefined];
    }
    closedAt = { nowMicros, elapsedSeconds };
    if (firstMicros === undefined) return;
    const end = firstOpenDay(nowMicros);
    // The first number is not always the first time: the first step reads from the beginning.
    let fromMicros = closedTo ?? 0;
    let nextMicros = Math.max(fromMicros, dayOf(firstMicros));
    while (fromMicros < end) {
      nextMicros = Math.min(nextMicros + DAYS_AT_ONCE * DAY_MICROS, end);
      days.push(...(await readMovedByDay(db, { fromMicros, toMicros: nextMicros })));
      fromMicros = nextMicros;
      closedTo = nextMicros;
      ofAllDays = addUpMoved(days);
    }
  };

  return {
    read: async ({ effectiveMicros, knownMicros: beforeMicros } = {}) => {
      if (effectiveMicros !== undefined) {
        const sums = await readConsistently(db, (tx) =>
          readLegsAt(tx, { effectiveMicros, knownMicros: beforeMicros }),
        );
        return balancesOf(movedByLegs(sums), await readAccounts(db));
      }
      closing ??= closeDays().finally(() => {
        closing = undefined;
      });
      await closing;
      const end = Math.min(closedTo ?? 0, dayOf(beforeMicros ?? Number.MAX_SAFE_INTEGER));
      const fromMicros = closedTo === undefined ? undefined : end;
      const moved = end === closedTo ? ofAllDays : days.filter((one) => one.dayMicros < end);
      const rest = await readMoved(db, { fromMicros, toMicros: beforeMicros });
      return balancesOf([...moved, ...rest], await readAccounts(db));
    },
  };
}

async function readLegsAt(
  tx: Queryable,
  { effectiveMicros, knownMicros }: { effectiveMicros: number; knownMicros: number | undefined },
): Promise<readonly LegSums[]> {
  await requireDated(tx);
  if (knownMicros === undefined) {
    const sums = await openEffectiveSums(tx, undefined);
    return sums.legsBefore(effectiveMicros);
  }
  return readLegSums(tx, { currency: undefined, beforeMicros: effectiveMicros, knownMicros });
}

/** What the parts of one order left on the accounts. */
export async function readOrderBalances(
  db: Queryable,
  orderKey: string,
): Promise<readonly AccountBalance[]> {
  return balancesOf(await readOrderMoved(db, orderKey), await readAccounts(db));
}
