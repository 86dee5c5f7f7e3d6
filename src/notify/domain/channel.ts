/**
 * Alerts about channels themselves.
 *
 * 1. `channel_dead` stands while a channel takes nothing (retry.ts, rule 5). It is said on the others,
 *    and ends with the first message that the channel takes, or when it is taken out of the settings.
 * 2. `order_notice_given_up` is news: the shop was not told, and will not be. Of alerts that were
 *    given up nothing is said: they stand in the list, and rule 1 says that their channel is dead.
 *    Two dead channels would tell of each other for ever.
 */
import type { Alert, Settled } from '../../alerts/domain/alert.ts';
import { instant } from '../../alerts/domain/words.ts';
import type { ChannelName, Content } from './message.ts';
import type { Health } from './retry.ts';

/** What operators call a channel, and the setting that says where it leads. */
const NAMES: Readonly<Record<ChannelName, { readonly name: string; readonly setting: string }>> = {
  log: { name: 'log', setting: 'LOG_LEVEL' },
  webhook: { name: 'alert webhook', setting: 'ALERT_WEBHOOK_URL' },
  slack: { name: 'Slack channel', setting: 'ALERT_SLACK_URL' },
  mail: { name: 'mail channel', setting: 'SMTP_URL' },
  shop: { name: "shop's order webhook", setting: 'ORDER_WEBHOOK_URL' },
};

export function channelDead(channel: ChannelName, health: Health): Alert {
  const { name, setting } = NAMES[channel];
  const since = new Date(health.failingSinceMs).toISOString();
  return {
    rule: 'channel_dead',
    subject: subjectOf(channel),
    variant: '',
    severity: 'critical',
    sentence:
      `The ${name} takes no messages since ${instant(health.failingSinceMs)}: ${health.lastError}. ` +
      'What it should be told waits for it, for three days.',
    nextStep: `npx tallyhook alerts test --channel ${channel}, then check ${setting}`,
    detail: { channel, failingSince: since, lastError: health.lastError },
  };
}

/** What stands about a channel: that it is dead, or nothing. */
export function channelSettled(channel: ChannelName, dead: Health | undefined): Settled {
  return {
    subject: subjectOf(channel),
    rules: ['channel_dead'],
    standing: dead ? [channelDead(channel, dead)] : [],
  };
}

function subjectOf(channel: ChannelName): string {
  return `channel:${channel}`;
}

export interface GivenUp {
  readonly messageId: string;
  readonly notice: Extract<Content, { readonly kind: 'order' }>;
  readonly attempts: number;
  readonly answer: string;
}

export function orderNoticeGivenUp({ messageId, notice, attempts, answer }: GivenUp): Alert {
  const { type, orderId } = notice;
  return {
    rule: 'order_notice_given_up',
    subject: `message:${messageId}`,
    variant: '',
    severity: 'warning',
    sentence:
      `The shop was not told ${type} of order ${orderId}: ` +
      `${attempts} attempts, the last answered ${answer}.`,
    nextStep: `have the shop fetch GET /api/v1/orders/${encodeURIComponent(orderId)}`,
    detail: { messageId, type, attempts, answer },
    orderId,
  };
}
