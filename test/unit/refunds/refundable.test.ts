/** What of a payment can be refunded. */
import { expect, test } from 'vitest';
import { refundableMinor } from '../../../src/refunds/domain/refundable.ts';

test.each([
  ['pending', 5540],
  ['review', 5540],
  ['succeeded', 5540],
  ['failed', 6540],
])('a refund of 1000 that is %s leaves %d of 6540', (status, left) => {
  const refund = { kind: 'refund', status, stage: null, amountMinor: 1000 };
  expect(refundableMinor(6540, [refund])).toBe(left);
});
