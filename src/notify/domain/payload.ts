/**
 * Messages as JSON for programs, in the form that the Standard Webhooks specification recommends:
 * `{type, timestamp, data}`. Amounts are integers in minor units, next to their currency. `url` is the page
 * to open first, `null` if the console has no public address. Order webhooks are for the shop's program
 * and have neither a page nor the name of the installation.
 */
import type { Money } from '../../alerts/domain/alert.ts';
import type { WebhookData } from '../../webhooks/webhooks.ts';
import { type Installation, linksOf } from './links.ts';
import type { Content, Notification } from './message.ts';
import { LIST_COMMAND } from './text.ts';

export interface Payload {
  readonly type: string;
  /** When it happened, ISO 8601. Every attempt sends the same value. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** @param createdAt when the message was created, ISO 8601 */
export function payloadOf(
  content: Content,
  createdAt: string,
  { name: installation, consoleUrl }: Installation,
): Payload {
  const urlOf = (one: Content) => linksOf(one, consoleUrl)[0]?.url ?? null;
  const alertData = (alert: Notification) => ({
    ...alertFacts(alert),
    url: urlOf({ kind: 'alert', alert }),
  });
  const origin = { installation, url: urlOf(content) };
  switch (content.kind) {
    case 'alert':
      return {
        type: `alert.${content.alert.type}`,
        timestamp: createdAt,
        data: { ...alertFacts(content.alert), ...origin } satisfies WebhookData<'alert.opened'>,
      };
    case 'digest':
      return {
        type: 'alert.digest',
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
          ...origin,
        } satisfies WebhookData<'alert.digest'>,
      };
    case 'summary': {
      const { day, currencies, openFindings, openAlerts, chainHead } = content.summary;
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
          chain_head: chainHead ?? null,
          ...origin,
        } satisfies WebhookData<'summary.daily'>,
      };
    }
    case 'order':
      return { type: content.type, timestamp: content.at, data: content.data };
    case 'test':
      return {
        type: 'test',
        timestamp: content.at,
        data: {
          message: 'This is a test. No action is needed.',
          ...origin,
        } satisfies WebhookData<'test'>,
      };
  }
}

function alertFacts(notification: Notification) {
  return {
    alert_id: notification.alertId,
    rule: notification.rule,
    subject: notification.subject,
    severity: notification.severity,
    type: notification.type,
    sentence: notification.sentence,
    next_step: notification.nextStep,
    order_id: notification.orderId,
    payment_id: notification.paymentId,
    ...moneyData(notification.money),
    deadline_at: notification.deadlineAt,
    opened_at: notification.openedAt,
    resolved_at: notification.resolvedAt,
  };
}

function moneyData(money: Money | null) {
  return { amount: money?.amountMinor ?? null, currency: money?.currency ?? null };
}
