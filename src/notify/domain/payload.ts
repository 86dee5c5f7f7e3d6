/**
 * Messages for programs, in the shape that the Standard Webhooks specification recommends:
 * `{type, timestamp, data}`. Amounts are integers in minor units beside their currency.
 */
import type { Content, Money, Saying } from './message.ts';
import { LIST_COMMAND } from './text.ts';

export interface Payload {
  readonly type: string;
  /** When it happened, ISO 8601: the same in every attempt. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `createdAt`: when the message was made, ISO 8601. */
export function payloadOf(content: Content, createdAt: string): Payload {
  switch (content.kind) {
    case 'alert':
      return {
        type: `alert.${content.alert.occasion}`,
        timestamp: createdAt,
        data: alertData(content.alert),
      };
    case 'alerts':
      return {
        type: 'alerts.grouped',
        timestamp: createdAt,
        data: {
          severity: content.severity,
          count: content.count,
          groups: content.groups.map(({ sums, ...group }) => ({
            ...group,
            sums: sums.map(({ currency, amountMinor }) => ({ currency, amount: amountMinor })),
          })),
          urgent: content.urgent.map(alertData),
          list: LIST_COMMAND,
        },
      };
    case 'summary': {
      const { day, currencies, openFindings, openAlerts } = content.summary;
      return {
        type: 'summary.daily',
        timestamp: createdAt,
        data: {
          day,
          currencies: currencies.map(({ currency, ...moved }) => ({
            currency,
            amount_captured: moved.capturedMinor,
            amount_refunded: moved.refundedMinor,
            amount_disputed: moved.disputedMinor,
            amount_paid_out: moved.paidOutMinor,
          })),
          open_findings: openFindings,
          open_alerts: openAlerts,
        },
      };
    }
    case 'order':
      return { type: content.type, timestamp: content.at, data: content.data };
    case 'test':
      return {
        type: 'test',
        timestamp: content.at,
        data: { message: 'A test. Nothing has happened.' },
      };
  }
}

function alertData(saying: Saying): Readonly<Record<string, unknown>> {
  return {
    alert_id: saying.alertId,
    rule: saying.rule,
    subject: saying.subject,
    severity: saying.severity,
    occasion: saying.occasion,
    sentence: saying.sentence,
    next_step: saying.nextStep,
    order_id: saying.orderId,
    payment_id: saying.paymentId,
    ...moneyData(saying.money),
    deadline_at: saying.deadlineAt,
    opened_at: saying.openedAt,
    resolved_at: saying.resolvedAt,
  };
}

function moneyData(money: Money | null) {
  return { amount: money?.amountMinor ?? null, currency: money?.currency ?? null };
}
