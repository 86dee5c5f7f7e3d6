/** What a person reads about money that is in transit for too long. */
import { expect, test } from 'vitest';
import { acceptedOverdue, overdueAlerts } from '../../../src/alerts/domain/rules/overdue.ts';
import { DAY_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

const late = { status: 'processing', termDays: 7, createdMs: NOW_MS - 8 * DAY_MS };

test.each([
  ['payment', 'Payment', 'payment_stuck', ' (order 1001)'],
  ['refund', 'Refund', 'refund_stuck', ' (order 1001, payment pay_1)'],
  ['dispute', 'Dispute', 'dispute_stuck', ' (order 1001, payment pay_1)'],
  ['payout', 'Payout', 'payout_stuck', ' (order 1001, payment pay_1)'],
] as const)(
  'a %s past its term is retrieved again before anybody contacts support',
  (kind, word, rule, owner) => {
    const id = `${kind}_1`;
    const subject = `${kind}:${id}`;
    const history = kind === 'payout' ? 'find payout_1' : 'orders explain 1001';
    expect(overdueAlerts(facts({ kind, ...late }), NOW_MS)).toStrictEqual({
      subject,
      rules: [rule],
      active: [
        {
          rule,
          subject,
          variant: '',
          severity: 'warning',
          sentence: `${word} ${id} of 65.40 USD${owner} has been processing since 2026-11-13 12:00 UTC; it usually takes 7 days at most.`,
          nextStep: `npx tallyhook refresh ${id}; if nothing changes, contact the service's support. History: npx tallyhook ${history}`,
          detail: { id, status: 'processing', amountMinor: 6540, currency: 'USD', termDays: 7 },
          orderId: '1001',
          paymentId: 'pay_1',
        },
      ],
    });
  },
);

test('a term ends at its exact time, and an earlier one was exceeded just as exactly', () => {
  const at = (nowMs: number) => overdueAlerts(facts({ kind: 'payment', ...late }), nowMs);
  const endMs = late.createdMs + 7 * DAY_MS;
  expect(at(endMs)).toBeUndefined();
  expect(at(endMs + 1)?.active).toHaveLength(1);

  const paid = facts({
    kind: 'payment',
    status: 'succeeded',
    createdMs: late.createdMs,
    before: { status: 'processing', termDays: 7 },
  });
  expect(overdueAlerts(paid, endMs)).toBeUndefined();
  expect(overdueAlerts(paid, endMs + 1)).toMatchObject({ rules: ['payment_stuck'], active: [] });
});

test('without a creation time an alert of the term before is resolved', () => {
  const unknown = { kind: 'payment', createdMs: undefined } as const;
  const processing = { status: 'processing', termDays: 7 };
  const paid = { ...unknown, status: 'succeeded' };
  expect(overdueAlerts(facts({ ...paid, before: processing }), NOW_MS)).toStrictEqual({
    subject: 'payment:payment_1',
    rules: ['payment_stuck'],
    active: [],
  });
  expect(overdueAlerts(facts({ ...paid, before: { status: 'created' } }), NOW_MS)).toBe(undefined);
  expect(overdueAlerts(facts(paid), NOW_MS)).toBe(undefined);
});

test.each([
  ['a term that a person has accepted', { termDays: undefined, termSinceMs: late.createdMs }],
  ['a term that began at an unknown time', { termDays: 7, termSinceMs: undefined }],
])('%s raises no alert, also while its finding is open', (_what, term) => {
  const open = facts({ kind: 'payment', status: 'processing', isOverdue: true, ...term });
  expect(overdueAlerts(open, NOW_MS)).toBe(undefined);
});

test('a person who accepts that it takes long resolves its alert, of any kind of resource', () => {
  expect(acceptedOverdue('refund:ref_1')).toEqual({
    subject: 'refund:ref_1',
    rules: ['payment_stuck', 'refund_stuck', 'payout_stuck', 'dispute_stuck'],
    active: [],
  });
});
