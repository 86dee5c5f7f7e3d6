/** Balances of accounts, from what pairs of accounts exchanged. */
import { expect, test } from 'vitest';
import { addUpMoved, balancesOf } from '../../../src/ledger/domain/balances.ts';

const moved = (debit: string, credit: string, amountMinor: bigint, currency = 'USD') => ({
  debit,
  credit,
  currency,
  amountMinor,
});

test('amounts add up if both accounts and the currency are the same, and only then', () => {
  const sums = addUpMoved([
    moved('a', 'b', 10n),
    moved('a', 'b', 2n ** 60n),
    moved('a', 'c', 1n),
    moved('c', 'b', 2n),
    moved('b', 'a', 4n),
    moved('a', 'b', 8n, 'EUR'),
  ]);
  expect(sums).toEqual([
    moved('a', 'b', 2n ** 60n + 10n),
    moved('a', 'c', 1n),
    moved('c', 'b', 2n),
    moved('b', 'a', 4n),
    moved('a', 'b', 8n, 'EUR'),
  ]);
});

test('a balance is what was debited less what was credited, for each account and currency, by name', () => {
  const accounts = [{ account: 'a', class: 'asset', meaning: 'held' }];
  const balances = balancesOf(
    [moved('b', 'a', 30n), moved('a', 'b', 100n), moved('a', 'c', 5n), moved('c', 'a', 7n, 'EUR')],
    accounts,
  );
  expect(
    balances.map(({ account, currency, debitedMinor, creditedMinor, balanceMinor }) => [
      `${account} ${currency}`,
      debitedMinor,
      creditedMinor,
      balanceMinor,
    ]),
  ).toEqual([
    ['a EUR', 0n, 7n, -7n],
    ['a USD', 105n, 30n, 75n],
    ['b USD', 30n, 100n, -70n],
    ['c EUR', 7n, 0n, 7n],
    ['c USD', 0n, 5n, -5n],
  ]);
  expect(balances[0]).toMatchObject({ class: 'asset', meaning: 'held' });
});

test('an account that no table describes is still there, with its balance', () => {
  const [one] = balancesOf([moved('x', 'y', 1n)], []);
  expect(one).toEqual({
    account: 'x',
    class: '',
    meaning: '',
    currency: 'USD',
    debitedMinor: 1n,
    creditedMinor: 0n,
    balanceMinor: 1n,
  });
});
