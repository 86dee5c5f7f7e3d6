/** What a person reads about a payout or a refund that failed, and what to do. */
import { describe, expect, test } from 'vitest';
import { payoutAlerts } from '../../../src/alerts/domain/rules/payout.ts';
import { refundAlerts } from '../../../src/alerts/domain/rules/refund.ts';
import { facts } from './facts.ts';

const payout = facts({
  kind: 'payout',
  id: 'po_1',
  status: 'failed',
  reason: 'AC04 Account closed',
  before: { status: 'pending' },
});

describe('a failed payout', () => {
  test('is paid again by a new payout, if it is still owed', () => {
    expect(payoutAlerts(payout)).toStrictEqual({
      subject: 'payout:po_1',
      rules: ['payout_failed'],
      active: [
        {
          rule: 'payout_failed',
          subject: 'payout:po_1',
          variant: 'failed',
          severity: 'warning',
          sentence:
            'Payout po_1 of 65.40 USD (order 1001, payment pay_1) failed. Reason: AC04 Account closed. The payee does not have the money.',
          nextStep:
            'If the amount is still owed, pay it again by a new payout: on its page in the console, or by npx tallyhook payouts retry po_1. History: npx tallyhook find po_1',
          detail: {
            id: 'po_1',
            status: 'failed',
            previousStatus: 'pending',
            amountMinor: 6540,
            currency: 'USD',
            reason: 'AC04 Account closed',
            wasPaid: false,
          },
          orderId: '1001',
          paymentId: 'pay_1',
        },
      ],
    });
  });

  test.each([
    ['cancelled', 'pending', 'was canceled.', false],
    ['expired', 'pending', 'expired.', false],
    ['ineligible', 'pending', 'is not eligible.', false],
    ['failed', 'success', 'failed after it had been reported as paid.', true],
    [
      'reversed',
      'pending',
      'was reversed and the money returned after it had been reported as paid.',
      true,
    ],
  ])('%s after %s: %s', (status, earlier, text, wasPaid) => {
    const before = { ...payout.before, status: earlier };
    const [alert] = payoutAlerts(facts({ ...payout, status, before }))?.active ?? [];
    expect(alert?.sentence).toBe(
      `Payout po_1 of 65.40 USD (order 1001, payment pay_1) ${text} Reason: AC04 Account closed. The payee does not have the money.`,
    );
    expect(alert?.severity).toBe(wasPaid ? 'critical' : 'warning');
    expect(alert?.detail).toMatchObject({ wasPaid });
  });
});

describe('a failed refund', () => {
  const refund = facts({ ...payout, kind: 'refund', id: 'ref_1', before: { status: 'pending' } });

  test('is paid to the customer another way', () => {
    expect(refundAlerts(refund)).toStrictEqual({
      subject: 'refund:ref_1',
      rules: ['refund_failed'],
      active: [
        {
          rule: 'refund_failed',
          subject: 'refund:ref_1',
          variant: '',
          severity: 'warning',
          sentence:
            'Refund ref_1 of 65.40 USD (order 1001, payment pay_1) failed. Reason: AC04 Account closed. The customer did not receive this refund.',
          nextStep:
            'If the amount is still owed, and no lost dispute or other refund returned it, refund again: npx tallyhook payments refund --amount 6540 --reason "…" pay_1; or pay the customer another way. History: npx tallyhook orders explain 1001',
          detail: {
            id: 'ref_1',
            status: 'failed',
            previousStatus: 'pending',
            amountMinor: 6540,
            currency: 'USD',
            reason: 'AC04 Account closed',
            wasDone: false,
          },
          orderId: '1001',
          paymentId: 'pay_1',
        },
      ],
    });
  });

  test('of an unknown amount or payment is paid again with what a person fills in', () => {
    const [alert] =
      refundAlerts({ ...refund, amountMinor: undefined, paymentId: undefined })?.active ?? [];
    expect(alert?.nextStep).toContain(
      'npx tallyhook payments refund --amount MINOR --reason "…" PAYMENT;',
    );
  });

  test('is critical if it was reported as succeeded: the customer may have been informed', () => {
    const late = refundAlerts(facts({ ...refund, before: { status: 'succeeded' } }));
    expect(late?.active).toMatchObject([{ severity: 'critical', detail: { wasDone: true } }]);
  });
});

test.each([
  ['payout', payoutAlerts],
  ['refund', refundAlerts],
] as const)('a %s without a status raises and resolves nothing', (kind, alertsOf) => {
  expect(alertsOf(facts({ kind }))).toBeUndefined();
  expect(alertsOf(facts({ kind, before: { status: 'failed' } }))).toBeUndefined();
});
