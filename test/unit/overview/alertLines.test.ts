/** One line of the overview for an alert. */
import { expect, test } from 'vitest';
import { holdAlerts } from '../../../src/alerts/domain/rules/authorization.ts';
import type { AlertRow } from '../../../src/alerts/store/alertRows.ts';
import { alertLines } from '../../../src/overview/alertLines.ts';

const AT = new Date('2026-11-23T10:00:00Z');
const DEADLINE = new Date('2026-11-24T10:30:00Z');

/** The alert about a hold of 54.00 EUR, as it is stored. */
function storedHold(): AlertRow {
  const [alert] = holdAlerts('pay_1', {
    paymentId: 'pay_1',
    orderId: '1001',
    status: 'requires_capture',
    currency: 'EUR',
    capturableMinor: 5400,
    deadlineMs: DEADLINE.getTime(),
    thresholdHours: 24,
    isConfirmed: true,
    attempt: undefined,
  }).active;
  if (!alert) throw new Error('the hold raises no alert');
  return {
    ...alert,
    id: 7,
    state: 'open',
    orderId: alert.orderId ?? null,
    paymentId: alert.paymentId ?? null,
    deadlineAt: alert.deadlineAt ?? null,
    openedAt: AT,
    updatedAt: AT,
    resolvedAt: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    acknowledgedReason: null,
    snoozedUntil: null,
    snoozedBy: null,
    snoozedReason: null,
    assignedTo: null,
    assignedAt: null,
    assignedBy: null,
    assignedReason: null,
  };
}

test('the line of a hold has what can be captured, as its message has', () => {
  const alert = storedHold();
  const { rule, severity, sentence } = alert;
  const group = { rule, severity, sentence, alerts: 1, newest: alert.id, oldestAt: AT };
  expect(alertLines([alert], [group]).map(({ text }) => text)).toEqual([
    'Authorization expires soon: 54.00 EUR on order 1001, capture by Tue 24 Nov 10:30 UTC',
  ]);
});
