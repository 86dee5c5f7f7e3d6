/** Balances of accounts from what pairs of accounts exchanged. */
import { sumExactly } from '../../contract/money.ts';
import { groupBy } from '../../platform/collections.ts';
/** What was debited to one account and credited to another, in one currency. */
export interface MovedAmount {
  readonly debit: string;
  readonly credit: string;
  readonly currency: string;
  readonly amountMinor: bigint;
}

export interface MovedOnDay extends MovedAmount {
  /** The beginning of the day (UTC); microseconds since 1970. */
  readonly dayMicros: number;
}

export interface AccountRow {
  readonly account: string;
  readonly class: string;
  readonly meaning: string;
}

/** What one account holds in one currency. */
export interface AccountBalance extends AccountRow {
  readonly currency: string;
  readonly debitedMinor: bigint;
  readonly creditedMinor: bigint;
  /** Debited less credited. */
  readonly balanceMinor: bigint;
}

/** The sums of amounts that the same accounts exchanged in the same currency. */
export function addUpMoved(moved: readonly MovedAmount[]): readonly MovedAmount[] {
  const groups = groupBy(moved, ({ debit, credit, currency }) => `${debit} ${credit} ${currency}`);
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    return first ? [{ ...first, amountMinor: sumExactly(own.map((one) => one.amountMinor)) }] : [];
  });
}

/** Every account that moved, by name and currency. */
export function balancesOf(
  moved: readonly MovedAmount[],
  accounts: readonly AccountRow[],
): readonly AccountBalance[] {
  const known = new Map(accounts.map((row) => [row.account, row]));
  const sides = moved.flatMap(({ debit, credit, currency, amountMinor }) => [
    { account: debit, currency, debited: amountMinor, credited: 0n },
    { account: credit, currency, debited: 0n, credited: amountMinor },
  ]);
  const groups = [...groupBy(sides, ({ account, currency }) => `${account} ${currency}`)];
  return groups
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, own]) => {
      const [first] = own;
      if (!first) return [];
      const debitedMinor = sumExactly(own.map(({ debited }) => debited));
      const creditedMinor = sumExactly(own.map(({ credited }) => credited));
      return [
        {
          ...(known.get(first.account) ?? { account: first.account, class: '', meaning: '' }),
          currency: first.currency,
          debitedMinor,
          creditedMinor,
          balanceMinor: debitedMinor - creditedMinor,
        },
      ];
    });
}
