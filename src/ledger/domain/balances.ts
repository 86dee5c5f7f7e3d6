/** Balances of accounts from what pairs of accounts exchanged. */
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
  const sums = new Map<string, MovedAmount>();
  for (const { debit, credit, currency, amountMinor } of moved) {
    const key = `${debit} ${credit} ${currency}`;
    const sumMinor = (sums.get(key)?.amountMinor ?? 0n) + amountMinor;
    sums.set(key, { debit, credit, currency, amountMinor: sumMinor });
  }
  return [...sums.values()];
}

/** Every account that moved, by name and currency. */
export function balancesOf(
  moved: readonly MovedAmount[],
  accounts: readonly AccountRow[],
): readonly AccountBalance[] {
  const known = new Map(accounts.map((row) => [row.account, row]));
  const balances = new Map<string, AccountBalance>();
  const post = (
    account: string,
    currency: string,
    { debitedMinor, creditedMinor }: Pick<AccountBalance, 'debitedMinor' | 'creditedMinor'>,
  ) => {
    const key = `${account} ${currency}`;
    const before = balances.get(key);
    const debited = (before?.debitedMinor ?? 0n) + debitedMinor;
    const credited = (before?.creditedMinor ?? 0n) + creditedMinor;
    balances.set(key, {
      ...(known.get(account) ?? { account, class: '', meaning: '' }),
      currency,
      debitedMinor: debited,
      creditedMinor: credited,
      balanceMinor: debited - credited,
    });
  };
  for (const { debit, credit, currency, amountMinor } of addUpMoved(moved)) {
    post(debit, currency, { debitedMinor: amountMinor, creditedMinor: 0n });
    post(credit, currency, { debitedMinor: 0n, creditedMinor: amountMinor });
  }
  return [...balances]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, balance]) => balance);
}
