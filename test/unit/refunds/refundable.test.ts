/** What of a payment can be refunded. */
import { expect, test } from 'vitest';
import { isOpenOrLost, refundableMinor } from '../../../src/refunds/domain/refundable.ts';

const PAID = { status: 'succeeded', currency: 'USD', capturedMinor: 6540 };

test.each([
  ['pending', 5540],
  ['review', 5540],
  ['succeeded', 5540],
  ['failed', 6540],
])('a refund of 1000 that is %s leaves %d of 6540', (status, left) => {
  const refund = { kind: 'refund', status, stage: null, currency: 'USD', amountMinor: 1000 };
  expect(refundableMinor(PAID, [refund])).toBe(left);
});

test.each([
  ['dispute', 'dispute_opened', 5540],
  ['pre_arbitration', 'lost', 5540],
  [null, null, 5540],
  ['dispute', 'won', 6540],
  ['dispute', 'cancelled', 6540],
  // Nothing is withheld before the dispute begins.
  ['pre_dispute', 'dispute_opened', 6540],
])(
  'a dispute of 1000 at the stage %s that is %s leaves %d of 6540 (rule 1)',
  (stage, status, left) => {
    const dispute = { kind: 'dispute', status, stage, currency: 'USD', amountMinor: 1000 };
    expect(refundableMinor(PAID, [dispute])).toBe(left);
  },
);

test.each([
  ['succeeded', 6540],
  ['partially_captured', 6540],
  // The customer has the money back.
  ['cancelled_post_capture', 0],
])('of 6540 that were captured, %s leaves %d (rule 1)', (status, left) => {
  expect(refundableMinor({ ...PAID, status }, [])).toBe(left);
});

test('what is neither a refund nor a dispute leaves everything', () => {
  const payout = {
    kind: 'payout',
    status: 'success',
    stage: null,
    currency: 'USD',
    amountMinor: 1000,
  };
  expect(refundableMinor(PAID, [payout])).toBe(6540);
});

test('refunds and disputes of more than was captured leave nothing', () => {
  const refund = {
    kind: 'refund',
    status: 'succeeded',
    stage: null,
    currency: 'USD',
    amountMinor: 6000,
  };
  expect(refundableMinor(PAID, [refund, { ...refund, kind: 'dispute' }])).toBe(0);
});

test('a refund with an unknown amount leaves an unknown amount, unless it failed (rule 2)', () => {
  const refund = {
    kind: 'refund',
    status: 'pending',
    stage: null,
    currency: 'USD',
    amountMinor: null,
  };
  expect(refundableMinor(PAID, [refund])).toBeUndefined();
  expect(refundableMinor(PAID, [{ ...refund, status: 'failed' }])).toBe(6540);
});

test('a dispute in another currency leaves an unknown amount: it may be about the whole payment (rule 2)', () => {
  const yen = { ...PAID, currency: 'JPY', capturedMinor: 10_000 };
  const dispute = { kind: 'dispute', status: 'opened', stage: 'dispute', currency: 'USD' };
  expect(refundableMinor(yen, [{ ...dispute, amountMinor: 6600 }])).toBeUndefined();
  expect(refundableMinor(yen, [{ ...dispute, amountMinor: 6600, status: 'won' }])).toBe(10_000);
  expect(refundableMinor(yen, [{ ...dispute, amountMinor: 6600, currency: null }])).toBeUndefined();
});

test.each([
  ['opened', true],
  ['challenged', true],
  ['expired', true],
  ['accepted', true],
  ['lost', true],
  [null, true],
  ['won', false],
  ['cancelled', false],
])('a dispute with the status %s is open or lost: %s (rule 3)', (status, isIt) => {
  expect(isOpenOrLost({ kind: 'dispute', status })).toBe(isIt);
  expect(isOpenOrLost({ kind: 'refund', status })).toBe(false);
});
