/** Messages as programs receive them: every amount in minor units, beside its currency. */
import { expect, test } from 'vitest';
import type { Content, Notification } from '../../../src/notify/domain/message.ts';
import { payloadOf } from '../../../src/notify/domain/payload.ts';

const HERE = { name: 'Shop EU', consoleUrl: 'https://tallyhook.shop.example' };
const CREATED = '2026-11-21T06:00:00.000Z';
const AT = '2026-11-20T10:00:00.000Z';

const ALERT: Notification = {
  alertId: 12,
  rule: 'dispute_opened',
  subject: 'dispute:dp_1',
  severity: 'critical',
  type: 'opened',
  sentence: 'A dispute was opened.',
  nextStep: 'npx tallyhook orders explain 1001',
  orderId: '1001',
  paymentId: 'pay_1',
  deadlineAt: '2026-11-27T10:30:00.000Z',
  openedAt: AT,
  resolvedAt: null,
  money: { currency: 'EUR', amountMinor: 5_400 },
};

const ALERT_DATA = {
  alert_id: 12,
  rule: 'dispute_opened',
  subject: 'dispute:dp_1',
  severity: 'critical',
  type: 'opened',
  sentence: 'A dispute was opened.',
  next_step: 'npx tallyhook orders explain 1001',
  order_id: '1001',
  payment_id: 'pay_1',
  amount: 5_400,
  currency: 'EUR',
  deadline_at: '2026-11-27T10:30:00.000Z',
  opened_at: AT,
  resolved_at: null,
  url: `${HERE.consoleUrl}/disputes/dp_1`,
};

test.each<[string, string, Content, Readonly<Record<string, unknown>>]>([
  [
    'alert.opened',
    CREATED,
    { kind: 'alert', alert: ALERT },
    { ...ALERT_DATA, installation: 'Shop EU' },
  ],
  [
    'alert.resolved',
    CREATED,
    { kind: 'alert', alert: { ...ALERT, type: 'resolved', resolvedAt: CREATED, money: null } },
    {
      ...ALERT_DATA,
      type: 'resolved',
      resolved_at: CREATED,
      amount: null,
      currency: null,
      installation: 'Shop EU',
    },
  ],
  [
    'alert.digest',
    CREATED,
    {
      kind: 'digest',
      severity: 'critical',
      count: 7,
      groups: [
        {
          rule: 'dispute_opened',
          type: 'opened',
          severity: 'critical',
          count: 7,
          sums: [{ currency: 'EUR', amountMinor: 37_800 }],
        },
      ],
      urgent: [ALERT],
    },
    {
      severity: 'critical',
      count: 7,
      groups: [
        {
          rule: 'dispute_opened',
          type: 'opened',
          severity: 'critical',
          count: 7,
          sums: [{ currency: 'EUR', amount: 37_800 }],
        },
      ],
      urgent: [ALERT_DATA],
      list: 'npx tallyhook alerts list',
      installation: 'Shop EU',
      url: `${HERE.consoleUrl}/alerts`,
    },
  ],
  [
    'summary.daily',
    CREATED,
    {
      kind: 'summary',
      summary: {
        day: '2026-11-20',
        currencies: [
          {
            currency: 'USD',
            capturedMinor: 4,
            refundedMinor: 3,
            disputedMinor: 2,
            paidOutMinor: 1,
          },
        ],
        openFindings: 2,
        openAlerts: { info: 0, warning: 3, critical: 1 },
        chainHead: '12:ab34',
      },
    },
    {
      day: '2026-11-20',
      currencies: [
        {
          currency: 'USD',
          amount_captured: 4,
          amount_refunded: 3,
          amount_disputed: 2,
          amount_paid_out: 1,
        },
      ],
      open_findings: 2,
      open_alerts: { info: 0, warning: 3, critical: 1 },
      chain_head: '12:ab34',
      installation: 'Shop EU',
      url: `${HERE.consoleUrl}/`,
    },
  ],
  [
    'test',
    AT,
    { kind: 'test', at: AT },
    {
      message: 'This is a test. No action is needed.',
      installation: 'Shop EU',
      url: `${HERE.consoleUrl}/`,
    },
  ],
  [
    'order.paid',
    AT,
    { kind: 'order', type: 'order.paid', orderId: '1001', at: AT, data: { order: { id: '1001' } } },
    { order: { id: '1001' } },
  ],
])('%s of %s has everything that a program needs', (type, timestamp, content, data) => {
  expect(payloadOf(content, CREATED, HERE)).toStrictEqual({ type, timestamp, data });
});

test('a summary of an earlier version has no head of the chain', () => {
  const openAlerts = { info: 0, warning: 0, critical: 0 };
  const summary = { day: '2026-11-20', currencies: [], openFindings: 0, openAlerts };
  const { data } = payloadOf({ kind: 'summary', summary }, CREATED, HERE);
  expect(data).toHaveProperty('chain_head', null);
});
