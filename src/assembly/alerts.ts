/** The role `alerts`: sends notifications to people and order webhooks to the shop. */

import { randomUUID } from 'node:crypto';
import type { TestMessage } from '../actions/testChannels.ts';
import type { Config } from '../config/config.ts';
import { createOrderFeed } from '../ledger/read/orderFeed.ts';
import { type Channel, createChannels, subscriptionsOf } from '../notify/channels/index.ts';
import { createDeliverer } from '../notify/deliver.ts';
import { dispatchAlerts } from '../notify/dispatch.ts';
import { countDeliveries } from '../notify/metrics.ts';
import { runNotifier } from '../notify/notifier.ts';
import { enqueueOrderWebhooks, hasOrderChanges } from '../notify/orderWebhooks.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { PoolOptions, Shared } from './shared.ts';

const ALERTS_POOL: PoolOptions = { maxConnections: 6, responseTimeoutMs: 60_000, plans: 'by_key' };

/** A message that tests a channel. */
export function newTestMessage(clock: Clock): TestMessage {
  return { id: `msg_${randomUUID()}`, createdAt: new Date(clock.nowMs()) };
}

/** The configured channels. */
export function channelsOf(
  config: Config,
  parts: { readonly clock: Clock; readonly log: Log },
): readonly Channel[] {
  return createChannels(config.channels, { ...parts, installation: config.installation });
}

export function startAlerts(shared: Shared): void {
  const { clock, config, gate, log, metrics, openPool, onClose } = shared;
  const db = openPool('alerts', ALERTS_POOL);
  const subscriptions = subscriptionsOf(config.channels);
  const newMessageId = () => `msg_${randomUUID()}`;
  gate.whenOpen(() => {
    const closing = new AbortController();
    const channels = countDeliveries(channelsOf(config, { clock, log }), metrics);
    const deliverer = createDeliverer(
      { db, clock, log, channels, random: Math.random },
      closing.signal,
    );
    const feed = config.channels.shop && createOrderFeed(db);
    const notifier = runNotifier(
      {
        db,
        clock,
        log,
        deliverer,
        alerts: () => dispatchAlerts({ db, clock, subscriptions, newMessageId }),
        orders: feed && {
          enqueue: () => enqueueOrderWebhooks({ db, feed, clock, newMessageId }),
          hasNews: () => hasOrderChanges({ db, feed }),
        },
      },
      closing.signal,
    );
    log.info({ channels: channels.map(({ name }) => name) }, 'notify.started');
    onClose(async () => {
      closing.abort();
      await notifier;
    });
  });
}
