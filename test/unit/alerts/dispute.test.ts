/** What a person reads about a dispute. Numbers are the rules of src/alerts/domain/rules/dispute.ts. */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alerts/domain/alert.ts';
import { deadlineAlert, disputeAlerts } from '../../../src/alerts/domain/rules/dispute.ts';
import { DAY_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

type Fields = Omit<Parameters<typeof facts>[0], 'kind'>;

function alertOf(fields: Fields): Alert | undefined {
  const { active = [], oneTime = [] } =
    disputeAlerts(facts({ kind: 'dispute', stage: 'dispute', ...fields }), NOW_MS) ?? {};
  const [alert, ...others] = [...active, ...oneTime];
  expect(others).toEqual([]);
  return alert;
}

const DISPUTE = 'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1)';
const HISTORY = 'History: npx tallyhook orders explain 1001';
const RESPOND = `Before the deadline, submit evidence or accept the dispute: on its page in the console, or by npx tallyhook disputes submit dispute_1 or npx tallyhook disputes accept dispute_1. ${HISTORY}`;
const OF_DISPUTE = { subject: 'dispute:dispute_1', orderId: '1001', paymentId: 'pay_1' };
const DETAIL = { id: 'dispute_1', amountMinor: 6540, currency: 'USD' };

test('a dispute that opens names its deadline and both ways to respond (rule 1)', () => {
  expect(alertOf({ status: 'opened', deadlineMs: NOW_MS + 10 * DAY_MS })).toStrictEqual({
    ...OF_DISPUTE,
    rule: 'dispute_opened',
    variant: 'dispute',
    severity: 'critical',
    sentence: `${DISPUTE} was opened and needs a response by 2026-12-01 12:00 UTC.`,
    nextStep: RESPOND,
    detail: {
      ...DETAIL,
      status: 'opened',
      stage: 'dispute',
      deadline: '2026-12-01T12:00:00.000Z',
      isDeadlineAssumed: false,
    },
    deadlineAt: new Date('2026-12-01T12:00:00.000Z'),
  });
});

test('its deadline, if assumed, is called so for programs, too (rule 1)', () => {
  expect(alertOf({ status: 'opened' })).toMatchObject({
    detail: { deadline: '2026-11-27T12:00:00.000Z', isDeadlineAssumed: true },
  });
});

test('without a stage it was opened, and did not move (rule 1)', () => {
  const stage = undefined;
  expect(alertOf({ status: 'opened', stage, deadlineMs: NOW_MS })).toMatchObject({
    variant: '',
    sentence: `${DISPUTE} was opened and needs a response by 2026-11-21 12:00 UTC.`,
  });
});

test('a reminder names the deadline and the time that is left (rule 5)', () => {
  const opened = facts({
    kind: 'dispute',
    status: 'opened',
    stage: 'dispute',
    reason: '10.4 Fraud',
  });
  expect(
    deadlineAlert(opened, NOW_MS + 2 * DAY_MS, { isConfirmed: true, nowMs: NOW_MS }),
  ).toStrictEqual({
    ...OF_DISPUTE,
    rule: 'dispute_deadline',
    variant: '2026-11-23T12:00:00.000Z',
    severity: 'warning',
    sentence: `${DISPUTE} needs a response by 2026-11-23 12:00 UTC, in less than 72 hours. Reason: 10.4 Fraud.`,
    nextStep: RESPOND,
    detail: {
      ...DETAIL,
      status: 'opened',
      stage: 'dispute',
      reason: '10.4 Fraud',
      deadline: '2026-11-23T12:00:00.000Z',
      thresholdHours: 72,
    },
    deadlineAt: new Date('2026-11-23T12:00:00.000Z'),
  });
});

describe('what needs no response (rules 2, 3 and 4)', () => {
  const NO_ACTION = `No action needed. ${HISTORY}`;
  const NO_REFUND = `Do not refund the payment as well. Then acknowledge this alert. ${HISTORY}`;
  const stage = 'pre_dispute';
  const none = { stage: undefined };

  test.each<
    [string, Fields, Pick<Alert, 'rule' | 'variant' | 'severity' | 'sentence' | 'nextStep'>]
  >([
    [
      'challenged',
      { status: 'challenged', before: { status: 'opened', stage: 'dispute' } },
      {
        rule: 'dispute_changed',
        variant: 'dispute/challenged',
        severity: 'info',
        sentence: `${DISPUTE} is challenged at stage dispute: evidence was sent, and the bank decides.`,
        nextStep: NO_ACTION,
      },
    ],
    [
      'challenged, without a stage, and never seen open',
      { status: 'challenged', ...none },
      {
        rule: 'dispute_changed',
        variant: '/challenged',
        severity: 'warning',
        sentence: `${DISPUTE} is challenged: evidence was sent, and the bank decides.`,
        nextStep: NO_ACTION,
      },
    ],
    [
      'won',
      { status: 'won' },
      {
        rule: 'dispute_won',
        variant: 'dispute',
        severity: 'info',
        sentence: `${DISPUTE} was won. The amount is released to you.`,
        nextStep: NO_ACTION,
      },
    ],
    [
      'won, as an inquiry, which withholds nothing',
      { status: 'won', stage },
      {
        rule: 'dispute_won',
        variant: stage,
        severity: 'info',
        sentence: `${DISPUTE} was won.`,
        nextStep: NO_ACTION,
      },
    ],
    [
      'canceled',
      { status: 'cancelled' },
      {
        rule: 'dispute_cancelled',
        variant: 'dispute',
        severity: 'info',
        sentence: `${DISPUTE} was canceled by the customer or the bank. The amount is released to you.`,
        nextStep: NO_ACTION,
      },
    ],
    [
      'canceled, as an inquiry',
      { status: 'cancelled', stage },
      {
        rule: 'dispute_cancelled',
        variant: stage,
        severity: 'info',
        sentence: `${DISPUTE} was canceled by the customer or the bank.`,
        nextStep: NO_ACTION,
      },
    ],
    [
      'lost',
      { status: 'lost' },
      {
        rule: 'dispute_lost',
        variant: 'dispute/lost',
        severity: 'warning',
        sentence: `${DISPUTE} was lost. The amount is lost.`,
        nextStep: NO_REFUND,
      },
    ],
    [
      'lost, as an inquiry',
      { status: 'lost', stage },
      {
        rule: 'dispute_lost',
        variant: 'pre_dispute/lost',
        severity: 'warning',
        sentence: `${DISPUTE} was lost. No money moved; a dispute may follow.`,
        nextStep: NO_REFUND,
      },
    ],
    [
      'expired',
      { status: 'expired' },
      {
        rule: 'dispute_lost',
        variant: 'dispute/expired',
        severity: 'warning',
        sentence: `${DISPUTE} expired without a response. The amount is lost.`,
        nextStep: NO_REFUND,
      },
    ],
    [
      'accepted, which the merchant chose',
      { status: 'accepted', ...none },
      {
        rule: 'dispute_lost',
        variant: '/accepted',
        severity: 'info',
        sentence: `${DISPUTE} was accepted. The amount is lost.`,
        nextStep: NO_REFUND,
      },
    ],
    [
      'in a status of a later version',
      { status: 'pondered' },
      {
        rule: 'dispute_changed',
        variant: 'dispute/pondered',
        severity: 'warning',
        sentence: `${DISPUTE} has the status pondered, which this version of Tallyhook does not know.`,
        nextStep: `Contact the service's support to find out what it means. ${HISTORY}`,
      },
    ],
  ])('%s', (_, fields, alert) => {
    expect(alertOf(fields)).toMatchObject({ ...OF_DISPUTE, ...alert, detail: DETAIL });
  });

  test('a status of a later version that was imported, or did not change, raises nothing', () => {
    const pondered = { kind: 'dispute', status: 'pondered', stage: 'dispute' } as const;
    expect(disputeAlerts(facts({ ...pondered, isHistory: true }), NOW_MS)).toBeUndefined();
    expect(disputeAlerts(facts({ ...pondered, before: pondered }), NOW_MS)).toBeUndefined();
  });
});
