/** Creates the configured channels. */
import type { ChannelSettings } from '../../config/alertSettings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Subscription } from '../dispatch.ts';
import type { Installation } from '../domain/links.ts';
import { ATTEMPT_TIMEOUT_MS, type Channel } from './channel.ts';
import { createLogChannel } from './log.ts';
import { createMailChannel } from './mail.ts';
import { createSlackChannel } from './slack.ts';
import { createWebhookChannel } from './webhook.ts';

export type { Channel } from './channel.ts';

export interface ChannelParts {
  readonly installation: Installation;
  readonly clock: Clock;
  readonly log: Log;
  /** For one attempt; ATTEMPT_TIMEOUT_MS by default. */
  readonly timeoutMs?: number;
}

/** Concurrent requests to one receiver. Many orders of a shop may change at the same time. */
const ALERT_SLOTS = 2;
const SHOP_SLOTS = 16;

export function createChannels(
  { log: shownInLog, webhook, slack, mail, shop }: ChannelSettings,
  { installation, clock, log, timeoutMs = ATTEMPT_TIMEOUT_MS }: ChannelParts,
): readonly Channel[] {
  const common = { installation, clock, timeoutMs };
  // The shop's program opens no pages of the operators.
  const forShop = { ...common, installation: { ...installation, consoleUrl: undefined } };
  return [
    shownInLog && createLogChannel(log, installation, timeoutMs),
    webhook && createWebhookChannel({ ...webhook, ...common, name: 'webhook', slots: ALERT_SLOTS }),
    slack && createSlackChannel({ ...slack, installation, timeoutMs }),
    mail && createMailChannel({ ...mail, installation, timeoutMs }),
    shop && createWebhookChannel({ ...shop, ...forShop, name: 'shop', slots: SHOP_SLOTS }),
  ].filter((channel) => channel !== undefined);
}

/** The channels that get alerts. */
export function subscriptionsOf(settings: ChannelSettings): readonly Subscription[] {
  return (['log', 'webhook', 'slack', 'mail'] as const).flatMap((channel) => {
    const configured = settings[channel];
    return configured ? [{ channel, severity: configured.severity }] : [];
  });
}
