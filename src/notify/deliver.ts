/**
 * Delivers due messages, each channel independently.
 *
 * 1. An attempt is counted and leased in a commit before it begins. If its process dies, another one
 *    sends the message again after the lease, with the same id.
 * 2. Each channel has slots. The holder of a slot delivers one message after the other until none is
 *    due; a wake-up that finds all slots occupied ends at once. So no channel waits for another.
 * 3. The result of an attempt, its entry in the message's log, the health of its channel and the alert
 *    about the channel are one commit.
 * 4. While a channel is unavailable, one slot tries one message at a time: the probe (retry.ts,
 *    rule 1).
 */

import { raiseOneTimeAlerts, syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Channel } from './channels/channel.ts';
import { channelAlerts, orderWebhookFailed } from './domain/channel.ts';
import type { ChannelName } from './domain/message.ts';
import {
  type AttemptResult,
  type FailedAttempt,
  isDown,
  type Outage,
  planRetry,
  type RetryPlan,
} from './domain/retry.ts';
import {
  deleteHealth,
  leaseProbe,
  lockHealth,
  readHealth,
  saveHealth,
} from './store/channelHealth.ts';
import type { LoggedAttempt } from './store/messageRows.ts';
import {
  type ClaimedMessage,
  claimMessage,
  postponeMessage,
  settleMessage,
} from './store/messages.ts';

export interface DelivererParts {
  readonly db: Database;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly log: Log;
  /** Enqueues a wake-up for a channel after a delay. */
  readonly wakeLater: (channel: ChannelName, delayMs: number) => Promise<void>;
  /** From 0 to below 1, for the jitter of retries. */
  readonly random: () => number;
}

export interface Deliverer {
  /** Delivers due messages of a channel; returns when none is left or others deliver them. */
  run(channel: ChannelName): Promise<void>;
  /** How many wake-ups may run at the same time and still leave every channel its slots. */
  readonly concurrency: number;
}

/** Longer than the time limit of one attempt on any channel. */
const LEASE_MS = 60_000;

export function createDeliverer(parts: DelivererParts, closing: AbortSignal): Deliverer {
  const lanes = new Map(
    parts.channels.map((channel): readonly [ChannelName, Lane] => [
      channel.name,
      { channel, occupied: 0, hasMissedWakeUp: false },
    ]),
  );

  const deliverDue = async (lane: Lane, startHelper: () => void): Promise<void> => {
    while (!closing.aborted) {
      lane.hasMissedWakeUp = false;
      const message = await claim(parts, lane.channel.name);
      if (message !== undefined) {
        // More messages may be due.
        if (lane.occupied < lane.channel.slots) startHelper();
        await attempt(parts, lane.channel, message);
      } else if (!lane.hasMissedWakeUp) {
        return;
      }
    }
  };
  const occupySlot = async (lane: Lane): Promise<void> => {
    lane.occupied += 1;
    const helpers: Promise<void>[] = [];
    try {
      await deliverDue(lane, () => helpers.push(occupySlot(lane)));
    } catch (error) {
      parts.log.warn({ error, channel: lane.channel.name }, 'notify.delivery_failed');
    } finally {
      lane.occupied -= 1;
    }
    await Promise.all(helpers);
  };

  return {
    run: async (name) => {
      const lane = lanes.get(name);
      if (lane === undefined) return;
      if (lane.occupied < lane.channel.slots) await occupySlot(lane);
      else lane.hasMissedWakeUp = true;
    },
    // Some wake-ups hold a slot or wait for a helper that does; the others end at once.
    concurrency: 2 * parts.channels.reduce((sum, { slots }) => sum + slots, 0),
  };
}

interface Lane {
  readonly channel: Channel;
  occupied: number;
  /** A wake-up came while all slots were occupied: its message may not have been seen yet. */
  hasMissedWakeUp: boolean;
}

interface Claimed extends ClaimedMessage {
  readonly isProbe: boolean;
}

/** Rules 1 and 4. A probe is claimed only together with a message to send. */
function claim({ db, clock }: DelivererParts, channel: ChannelName): Promise<Claimed | undefined> {
  return db.transaction(async (tx) => {
    const nowMs = clock.nowMs();
    const leaseUntil = new Date(nowMs + LEASE_MS);
    const outage = await lockOutage(tx, channel);
    if (outage !== undefined && outage.retryAtMs > nowMs) return undefined;
    const message = await claimMessage(tx, { channel, now: new Date(nowMs), leaseUntil });
    if (message === undefined) return undefined;
    if (outage !== undefined) await leaseProbe(tx, channel, leaseUntil);
    return { ...message, isProbe: outage !== undefined };
  });
}

/** Workers that find a channel unavailable wait for its row, so that one of them is the probe. */
async function lockOutage(tx: Queryable, channel: ChannelName): Promise<Outage | undefined> {
  const health = await readHealth(tx, channel);
  return health?.outage && (await lockHealth(tx, channel))?.outage;
}

async function attempt(parts: DelivererParts, channel: Channel, message: Claimed): Promise<void> {
  const { clock, log } = parts;
  const result = await send(channel, message);
  const nowMs = clock.nowMs();
  const fields = {
    channel: channel.name,
    messageId: message.id,
    attempts: message.attempts,
    response: result.response,
  };
  if (result.outcome === 'delivered') {
    await recordDelivery(parts, channel.name, { message, result, nowMs });
    log.debug(fields, 'notify.delivered');
    return;
  }
  const { nextAttemptMs, health } = await recordFailure(parts, channel.name, {
    message,
    result,
    nowMs,
  });
  if (nextAttemptMs === undefined) log.error(fields, 'notify.message_failed');
  else log.warn({ ...fields, nextAttempt: new Date(nextAttemptMs) }, 'notify.retry_scheduled');
  // Other messages may be due when the channel is tried again, and this one at another time.
  for (const wakeAtMs of new Set([health.outage?.retryAtMs, nextAttemptMs])) {
    if (wakeAtMs !== undefined) await wakeLater(parts, channel.name, wakeAtMs - nowMs);
  }
}

async function send(channel: Channel, message: ClaimedMessage): Promise<AttemptResult> {
  try {
    return await channel.send(message);
  } catch (error) {
    // The channel cannot put this message into its form; other messages must not wait for it.
    return { outcome: 'refused', response: toError(error).name };
  }
}

interface Attempted {
  readonly message: Claimed;
  readonly nowMs: number;
}

function recordDelivery(
  { db }: DelivererParts,
  channel: ChannelName,
  { message, result, nowMs }: Attempted & { readonly result: AttemptResult },
): Promise<void> {
  return db.transaction(async (tx) => {
    const attempt = logged(message, result, nowMs);
    const end = { state: 'delivered', at: new Date(nowMs), error: null, attempt } as const;
    await settleMessage(tx, message.id, end);
    if ((await lockHealth(tx, channel)) === undefined) return;
    await deleteHealth(tx, channel);
    await syncAlerts(tx, [channelAlerts(channel, undefined)]);
  });
}

function logged({ attempts }: Claimed, result: AttemptResult, nowMs: number): LoggedAttempt {
  const { outcome, response } = result;
  return { attempt: attempts, at: new Date(nowMs).toISOString(), outcome, response };
}

function recordFailure(
  { db, random }: DelivererParts,
  channel: ChannelName,
  { message, result, nowMs }: Attempted & { readonly result: FailedAttempt },
): Promise<RetryPlan> {
  return db.transaction(async (tx) => {
    const plan = planRetry({
      result,
      attempts: message.attempts,
      createdMs: (message.resentAt ?? message.createdAt).getTime(),
      isProbe: message.isProbe,
      health: await lockHealth(tx, channel),
      nowMs,
      jitter: random(),
    });
    const { nextAttemptMs, health } = plan;
    const logEntry = logged(message, result, nowMs);
    await saveHealth(tx, channel, health);
    if (nextAttemptMs === undefined) {
      const end = { state: 'failed', at: new Date(nowMs), error: result.response } as const;
      await settleMessage(tx, message.id, { ...end, attempt: logEntry });
      await reportFailedOrderWebhook(tx, message, result.response);
    } else {
      const until = new Date(nextAttemptMs);
      await postponeMessage(tx, message, { until, error: result.response, attempt: logEntry });
    }
    if (isDown(health, nowMs)) await syncAlerts(tx, [channelAlerts(channel, health)]);
    return plan;
  });
}

async function reportFailedOrderWebhook(
  tx: Queryable,
  { id: messageId, content, attempts }: ClaimedMessage,
  response: string,
): Promise<void> {
  if (content.kind !== 'order') return;
  await raiseOneTimeAlerts(tx, [orderWebhookFailed({ messageId, content, attempts, response })]);
}

/** An unavailable queue delays the message by a minute at most: the sweep finds what is due. */
async function wakeLater(
  { wakeLater: wake, log }: DelivererParts,
  channel: ChannelName,
  delayMs: number,
): Promise<void> {
  await wake(channel, delayMs).catch((error: unknown) => {
    log.warn({ error, channel }, 'notify.wake_up_not_enqueued');
  });
}
