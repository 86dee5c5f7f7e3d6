/** The rules of refunds (src/sandbox/domain/refund.ts); the numbers are those of its invariants. */
import { describe, expect, test } from 'vitest';
import { MAX_REFUNDS_PER_PAYMENT } from '../../../src/contract/index.ts';
import type { PaymentState } from '../../../src/sandbox/domain/payment.ts';
import {
  createRefund,
  moveRefund,
  REFUND_MOVES,
  type RefundState,
} from '../../../src/sandbox/domain/refund.ts';

const NOW = Date.UTC(2026, 10, 21);
const payment = {
  payment_id: 'pay_1',
  status: 'succeeded',
  amount_received: 100,
  currency: 'USD',
  profile_id: 'pro_1',
} as PaymentState;
const NEW = { refundId: 'ref_1', nowMs: NOW, refundedMinor: 0, refundCount: 0 };

describe('a new refund (rule 1)', () => {
  const amountOf = (amount: number | undefined, refundedMinor = 0) =>
    createRefund(payment, { amount }, { ...NEW, refundedMinor }).value?.amount;

  test('is about all that was received by default, and never more than is left', () => {
    expect(amountOf(undefined)).toBe(100);
    expect([1, 100].map((amount) => amountOf(amount))).toEqual([1, 100]);
    expect(amountOf(101)).toBeUndefined();
    expect(amountOf(60, 40)).toBe(60);
    expect(amountOf(61, 40)).toBeUndefined();
    expect(amountOf(undefined, 1)).toBeUndefined();
  });

  test('is rejected beyond the limit per payment, which includes failed refunds', () => {
    const at = (refundCount: number) =>
      createRefund(payment, { amount: 1 }, { ...NEW, refundCount }).rejection?.code;
    expect(at(MAX_REFUNDS_PER_PAYMENT - 1)).toBeUndefined();
    expect(at(MAX_REFUNDS_PER_PAYMENT)).toBe('IR_12');
  });
});

test('a failed refund is final, and a succeeded one can still fail', () => {
  const refund = createRefund(payment, {}, NEW).value as RefundState;
  const reached = (status: RefundState['status']) =>
    REFUND_MOVES.filter((to) => moveRefund({ ...refund, status }, to, NOW + 1).value !== undefined);
  expect(reached('pending')).toEqual(['succeeded', 'failed', 'review']);
  expect(reached('review')).toEqual(['succeeded', 'failed', 'review']);
  expect(reached('succeeded')).toEqual(['failed']);
  expect(reached('failed')).toEqual([]);
});
