/** Rows of a statement, which PostgreSQL returns as text: stored sums and the journal are read by the same code. */
import { expect, test } from 'vitest';
import { daySumsOf, openItemsOf } from '../../../src/ledger/read/store/sums.ts';

test('open items of one name and currency are one, with the number and sum of all and the oldest', () => {
  const row = { item: 'dispute', currency: 'EUR', count: 3, sum: '9007199254740993' } as const;
  expect(
    openItemsOf([
      { ...row, id: 'dp_1', open: '5400', sinceMicros: 1 },
      { ...row, id: 'dp_2', open: '100', sinceMicros: 2 },
      { ...row, currency: 'USD', id: 'dp_3', open: '7', sinceMicros: 3, count: 1, sum: '7' },
    ]),
  ).toEqual([
    {
      item: 'dispute',
      currency: 'EUR',
      count: 3,
      amountMinor: 9_007_199_254_740_993n,
      oldest: [
        { id: 'dp_1', amountMinor: 5400n, sinceMicros: 1 },
        { id: 'dp_2', amountMinor: 100n, sinceMicros: 2 },
      ],
    },
    {
      item: 'dispute',
      currency: 'USD',
      count: 1,
      amountMinor: 7n,
      oldest: [{ id: 'dp_3', amountMinor: 7n, sinceMicros: 3 }],
    },
  ]);
});

test('sums of a day beyond the exact integers keep every digit', () => {
  const day = { currency: 'EUR', leg: 'captured', day: '2026-10-31', ups: 2, downs: 1, late: 1 };
  const [sums] = daySumsOf([
    { ...day, upMinor: '9007199254740993', downMinor: '2', lateMinor: '3' },
  ]);
  expect(sums).toEqual({ ...day, upMinor: 9_007_199_254_740_993n, downMinor: 2n, lateMinor: 3n });
});
