/** The role `alerts`: sends notifications to people and order webhooks to the shop. */

import { randomUUID } from 'node:crypto';
import type { TestMessage } from '../actions/testChannels.ts';
import type { Config } from '../config/config.ts';
import { createOrderFeed } from '../ledger/read/orderFeed.ts';
import { type Channel, createChannels, subscriptionsOf } from '../notify/channels/index.ts';
import { createDeliverer } from '../notify/deliver.ts';
import { dispatchAlerts } from '../notify/dispatch.ts';
import { ALERTS_QUEUE, type AlertsJob, enqueueWakeUps } from '../notify/jobs.ts';
import { countDeliveries } from '../notify/metrics.ts';
import { runNotifier } from '../notify/notifier.ts';
import { enqueueOrderWebhooks, hasOrderChanges } from '../notify/orderWebhooks.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { PoolOptions, Shared } from './shared.ts';

const ALERTS_POOL: PoolOptions = { maxConnections: 6, responseTimeoutMs: 60_000, plans: 'any' };

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
  const { clock, config, gate, log, metrics, openPool, onClose, queues, queueWatch } = shared;
  const db = openPool('alerts', ALERTS_POOL);
  const producer = queues.producer<AlertsJob>(ALERTS_QUEUE);
  onClose(() => producer.close());
  const subscriptions = subscriptionsOf(config.channels);
  const newMessageId = () => `msg_${randomUUID()}`;
  gate.whenOpen(() => {
    const closing = new AbortController();
    const deliverer = createDeliverer(
      {
        db,
        clock,
        log,
        channels: countDeliveries(channelsOf(config, { clock, log }), metrics),
        wakeLater: (channel, delayMs) => enqueueWakeUps(producer, [{ channel, delayMs }]),
        random: Math.random,
      },
      closing.signal,
    );
    const feed = config.channels.shop && createOrderFeed(db);
    const sources = {
      alerts: () => dispatchAlerts({ db, clock, subscriptions, newMessageId }),
      ...(feed && { orders: () => enqueueOrderWebhooks({ db, feed, clock, newMessageId }) }),
    };
    const wake = async (channels: Iterable<AlertsJob['channel']>) => {
      // A queue can accept jobs and not hand them out.
      const problem = await queueWatch.check();
      if (problem) throw new Error(`the queue is unusable: ${problem.reason}`);
      await enqueueWakeUps(
        producer,
        Array.from(channels, (channel) => ({ channel })),
      );
    };
    const hasNews = async () => feed !== undefined && (await hasOrderChanges({ db, feed }));
    const notifier = runNotifier(
      { db, clock, log, sources, hasNews, wake, deliverer },
      closing.signal,
    );
    const consumer = queues.consumer<AlertsJob>(
      ALERTS_QUEUE,
      deliverer.concurrency,
      ({ data: { channel } }) => deliverer.run(channel),
    );
    onClose(async () => {
      closing.abort();
      await consumer.close();
      await notifier;
    });
  });
}
