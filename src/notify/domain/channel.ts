/**
 * Alerts about the channels themselves.
 *
 * 1. `channel_down` is open while a channel accepts nothing (retry.ts, rule 5). The other channels are
 *    notified. It is resolved by the first message that the channel accepts, or when no process has the
 *    channel in its settings any more.
 * 2. `order_webhook_failed` is a one-time alert: an order webhook failed for good. A notification
 *    that fails for good raises nothing: its alert stays in the list, and rule 1 reports the channel.
 *    Otherwise two channels that are down would alert about each other forever.
 */
import type { Alert, Severity, SubjectAlerts } from '../../alerts/domain/alert.ts';
import { instant } from '../../alerts/domain/format.ts';
import { HOUR_MS } from '../../platform/time.ts';
import type { ChannelName, Content } from './message.ts';
import { GIVE_UP_AFTER_MS, type Health } from './retry.ts';

/** What operators call a channel, and the setting that holds its address. */
const NAMES: Readonly<Record<ChannelName, { readonly name: string; readonly setting: string }>> = {
  log: { name: 'log', setting: 'LOG_LEVEL' },
  webhook: { name: 'alert webhook', setting: 'ALERT_WEBHOOK_URL' },
  slack: { name: 'Slack channel', setting: 'ALERT_SLACK_URL' },
  mail: { name: 'mail channel', setting: 'SMTP_URL' },
  shop: { name: "shop's order webhook", setting: 'ORDER_WEBHOOK_URL' },
};

/** What operators call a channel. */
export function channelTitle(channel: ChannelName): string {
  return NAMES[channel].name;
}

/** The setting that holds its address. */
export function channelSetting(channel: ChannelName): string {
  return NAMES[channel].setting;
}

/** Where a configured channel sends, for people (channels/targets.ts). */
export interface ChannelTarget {
  readonly channel: ChannelName;
  readonly sendsTo: string;
  /** The least severe alerts that it gets; undefined for the shop, which gets none. */
  readonly severity: Severity | undefined;
  /** The setting that holds its address. */
  readonly setting: string;
}

export function channelDown(channel: ChannelName, health: Health): Alert {
  const { name, setting } = NAMES[channel];
  const since = new Date(health.failingSinceMs).toISOString();
  return {
    rule: 'channel_down',
    subject: subjectOf(channel),
    variant: '',
    severity: 'critical',
    sentence:
      `The ${name} has accepted no message since ${instant(health.failingSinceMs)}: ${health.lastError}. ` +
      `Its messages are retried for ${GIVE_UP_AFTER_MS / HOUR_MS} hours. After that they have failed: ` +
      'npx tallyhook messages list --state failed lists them, and npx tallyhook messages resend sends one again.',
    nextStep: `Run npx tallyhook alerts test --channel ${channel}, then check ${setting}.`,
    detail: { channel, failingSince: since, lastError: health.lastError },
  };
}

/** The alert about a channel: that it is down, or none. */
export function channelAlerts(channel: ChannelName, down: Health | undefined): SubjectAlerts {
  return {
    subject: subjectOf(channel),
    rules: ['channel_down'],
    active: down ? [channelDown(channel, down)] : [],
  };
}

function subjectOf(channel: ChannelName): string {
  return `channel:${channel}`;
}

export interface FailedOrderWebhook {
  readonly messageId: string;
  readonly content: Extract<Content, { readonly kind: 'order' }>;
  readonly attempts: number;
  readonly response: string;
}

export function orderWebhookFailed(failed: FailedOrderWebhook): Alert {
  const { messageId, content, attempts, response } = failed;
  const { type, orderId } = content;
  return {
    rule: 'order_webhook_failed',
    subject: `message:${messageId}`,
    variant: '',
    severity: 'warning',
    sentence:
      `The shop did not accept the webhook ${type} of order ${orderId} in ${attempts} attempts; the ` +
      `last response was ${response}. Tallyhook does not retry it.`,
    nextStep: `Have the shop fetch the order now: GET /api/v1/orders/${encodeURIComponent(orderId)}`,
    detail: { messageId, type, attempts, response },
    orderId,
  };
}
