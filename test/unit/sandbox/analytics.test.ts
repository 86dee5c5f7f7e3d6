/** Invariants of src/sandbox/domain/analytics.ts, by their numbers. */
import { expect, test } from 'vitest';
import { rowsOf, type StatusSum, totalsOf } from '../../../src/sandbox/domain/analytics.ts';

const sum = (status: string, received: number): StatusSum => ({
  bucket: null,
  groups: [],
  status,
  count: 1,
  amount: received,
  received,
});
const query = { metrics: ['payment_processed_amount'] };

test('3: a sum beyond the exact integers is an error, in rows and in totals', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const exact = [sum('succeeded', most - 1), sum('partially_captured', 1)];
  expect(rowsOf('payments', query, exact)).toEqual([{ payment_processed_amount: most }]);
  const beyond = [sum('succeeded', most), sum('partially_captured', 1)];
  expect(() => rowsOf('payments', query, beyond)).toThrow(RangeError);
  expect(() => totalsOf('payments', query, beyond)).toThrow(RangeError);
});
