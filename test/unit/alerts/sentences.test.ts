/** The text of alerts: formatted amounts, ids, absolute times with their zone, and a next step. */
import { describe, expect, test } from 'vitest';
import { deadlineAlert } from '../../../src/alerts/domain/rules/dispute.ts';
import { resourceAlerts } from '../../../src/alerts/domain/rules/resource.ts';
import { DAY_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

const sentencesOf = (changed: Parameters<typeof facts>[0]): readonly string[] =>
  resourceAlerts(facts(changed), NOW_MS)
    .flatMap(({ active, oneTime = [] }) => [...active, ...oneTime])
    .map(({ sentence }) => sentence);

const dispute = { kind: 'dispute', status: 'opened', stage: 'dispute' } as const;

test('a dispute names its amount, order, payment and deadline', () => {
  expect(sentencesOf({ ...dispute, deadlineMs: NOW_MS + 10 * DAY_MS })).toEqual([
    'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) was opened and needs a response by 2026-12-01 12:00 UTC.',
  ]);
});

test('an assumed deadline is 7 days after the creation, and called assumed', () => {
  expect(sentencesOf(dispute)).toEqual([
    'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) was opened and needs a response. The service gives no deadline; Tallyhook assumes 7 days, until 2026-11-27 12:00 UTC.',
  ]);
});

test('the assumed 7 days begin with the stage', () => {
  const [sentence] = sentencesOf({
    ...dispute,
    stage: 'arbitration',
    stageSinceMs: NOW_MS,
    before: dispute,
  });
  expect(sentence).toContain(
    'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) moved to the stage arbitration and needs a response. The service gives no deadline; Tallyhook assumes 7 days, until 2026-11-28 12:00 UTC.',
  );
  expect(sentence).toContain('Tallyhook assumes 7 days, until 2026-11-28 12:00 UTC.');
});

test('an inquiry by the bank states that no money is withheld', () => {
  expect(sentencesOf({ ...dispute, stage: 'pre_dispute', deadlineMs: NOW_MS })).toEqual([
    'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) is an inquiry by the bank; no money is withheld yet. It needs a response by 2026-11-21 12:00 UTC.',
  ]);
});

test.each([
  ['JPY', '6540 JPY'],
  ['KWD', '6.540 KWD'],
  ['EUR', '65.40 EUR'],
])('amounts in %s have the decimals of their currency', (currency, amount) => {
  expect(sentencesOf({ kind: 'payout', status: 'failed', currency, orderId: undefined })[0]).toBe(
    `Payout payout_1 of ${amount} (payment pay_1) failed. The service gives no reason. The payee does not have the money.`,
  );
});

test('unknown values are called unknown', () => {
  const unknown = {
    currency: undefined,
    amountMinor: undefined,
    orderId: undefined,
    paymentId: undefined,
  };
  expect(sentencesOf({ kind: 'refund', status: 'failed', ...unknown })).toEqual([
    'Refund refund_1 of an unknown amount failed. The service gives no reason. The customer did not receive this refund.',
  ]);
});

test('a late failure names the status that was reported before', () => {
  expect(
    sentencesOf({ kind: 'refund', status: 'failed', before: { status: 'succeeded' } }),
  ).toEqual([
    'Refund refund_1 of 65.40 USD (order 1001, payment pay_1) failed after it had been reported as succeeded. The service gives no reason. The customer did not receive this refund.',
  ]);
});

describe('the alert contains the reason of a failure or dispute', () => {
  test.each<[string, Parameters<typeof facts>[0], string]>([
    [
      'refund',
      { kind: 'refund', status: 'failed', reason: 'UE_1001 Insufficient funds (acquirer: R01)' },
      'failed. Reason: UE_1001 Insufficient funds (acquirer: R01). The customer did not receive this refund.',
    ],
    [
      'payout',
      { kind: 'payout', status: 'reversed', reason: 'AC04 Account closed.' },
      'after it had been reported as paid. Reason: AC04 Account closed. The payee does not have the money.',
    ],
    [
      'dispute that is open',
      { ...dispute, reason: '10.4 Fraud, card absent' },
      'UTC. Reason: 10.4 Fraud, card absent.',
    ],
    [
      'dispute that was lost',
      { kind: 'dispute', status: 'lost', reason: '10.4 Fraud' },
      'was lost. The amount is lost. Reason: 10.4 Fraud.',
    ],
    [
      'a text of several lines and any length',
      { kind: 'dispute', status: 'lost', reason: `one\r\n${'x'.repeat(400)}` },
      `Reason: one ${'x'.repeat(295)}…`,
    ],
  ])('%s', (_what, fields, text) => {
    expect(sentencesOf(fields)[0]).toContain(text);
  });
});

test('an overdue resource states since when, and the usual time', () => {
  const late = { termDays: 7, createdMs: NOW_MS - 8 * DAY_MS };
  expect(sentencesOf({ kind: 'payout', status: 'pending', paymentId: undefined, ...late })).toEqual(
    [
      'Payout payout_1 of 65.40 USD (order 1001) has been pending since 2026-11-13 12:00 UTC; it usually takes 7 days at most.',
    ],
  );
});

test('a deadline that the service moved is confirmed by it', () => {
  const before = { ...dispute, deadlineMs: NOW_MS + 10 * DAY_MS };
  expect(sentencesOf({ ...dispute, deadlineMs: NOW_MS + 2 * DAY_MS, before })[1]).toBe(
    'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) needs a response by 2026-11-23 12:00 UTC, in less than 72 hours.',
  );
});

test('a dispute near its deadline states the time that is left, and afterwards that the deadline has passed', () => {
  const at = (nowMs: number, isConfirmed = true) =>
    deadlineAlert(facts(dispute), NOW_MS, { isConfirmed, nowMs });
  expect(at(NOW_MS - 1)).toMatchObject({
    severity: 'critical',
    variant: '2026-11-21T12:00:00.000Z',
    sentence:
      'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) needs a response by 2026-11-21 12:00 UTC, in less than 24 hours.',
  });
  expect(at(NOW_MS)).toMatchObject({
    sentence: expect.stringContaining('needed a response by 2026-11-21 12:00 UTC; the service'),
    nextStep: expect.stringMatching(/^If the service still accepts a response, submit evidence/),
  });
  const unconfirmed = /12:00 UTC\. Tallyhook could not confirm this with the service/;
  expect(at(NOW_MS, false)?.sentence).toMatch(unconfirmed);
  expect(at(NOW_MS - 1, false)?.sentence).toMatch(/in less than 24 hours\. Tallyhook could not/);
});
