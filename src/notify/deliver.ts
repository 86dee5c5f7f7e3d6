/**
 * Delivering what is due, each channel by itself.
 *
 * 1. An attempt is counted and leased in a commit before it begins. A process that dies in it leaves
 *    the message to whoever comes after the lease: the same message with the same id once more.
 * 2. A channel has slots of its own. Who has one takes one message after the other until none is due;
 *    a wake-up that meets all of them taken ends at once. So no channel waits for another.
 * 3. What came of an attempt, how its channel fares, and the alert about that are one commit.
 * 4. While a channel is away one slot tries one message at a time: the probe (retry.ts, rule 1).
 */

import { settleAlerts, tellNews } from '../alerts/raise.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Channel } from './channels/channel.ts';
import { channelSettled, orderNoticeGivenUp } from './domain/channel.ts';
import type { ChannelName } from './domain/message.ts';
import {
  type Attempted,
  type Away,
  type Failed,
  isDead,
  judge,
  type Verdict,
} from './domain/retry.ts';
import {
  deleteHealth,
  leaseProbe,
  lockHealth,
  readHealth,
  saveHealth,
} from './store/channelHealth.ts';
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
  /** Asks to be woken for a channel later. */
  readonly wakeLater: (channel: ChannelName, delayMs: number) => Promise<void>;
  /** From 0 to below 1, for the jitter of retries. */
  readonly random: () => number;
}

export interface Deliverer {
  /** Delivers what is due on a channel; returns when nothing is left to do, or others do it. */
  run(channel: ChannelName): Promise<void>;
  /** How many wake-ups may run together and still leave every channel its slots. */
  readonly concurrency: number;
}

/** Longer than any channel's time limit for one attempt. */
const LEASE_MS = 60_000;

export function createDeliverer(parts: DelivererParts, closing: AbortSignal): Deliverer {
  const lanes = new Map(
    parts.channels.map((channel): readonly [ChannelName, Lane] => [
      channel.name,
      { channel, taken: 0, isAskedAgain: false },
    ]),
  );

  const deliverDue = async (lane: Lane, callHelper: () => void): Promise<void> => {
    while (!closing.aborted) {
      lane.isAskedAgain = false;
      const message = await claim(parts, lane.channel.name);
      if (message !== undefined) {
        // There may be more of it.
        if (lane.taken < lane.channel.slots) callHelper();
        await attempt(parts, lane.channel, message);
      } else if (!lane.isAskedAgain) {
        return;
      }
    }
  };
  const takeSlot = async (lane: Lane): Promise<void> => {
    lane.taken += 1;
    const helpers: Promise<void>[] = [];
    try {
      await deliverDue(lane, () => helpers.push(takeSlot(lane)));
    } catch (error) {
      parts.log.warn({ error, channel: lane.channel.name }, 'alerts.delivering_failed');
    } finally {
      lane.taken -= 1;
    }
    await Promise.all(helpers);
  };

  return {
    run: async (name) => {
      const lane = lanes.get(name);
      if (lane === undefined) return;
      if (lane.taken < lane.channel.slots) await takeSlot(lane);
      else lane.isAskedAgain = true;
    },
    // Wake-ups that hold a slot, or wait for a helper that does; the rest end at once.
    concurrency: 2 * parts.channels.reduce((sum, { slots }) => sum + slots, 0),
  };
}

interface Lane {
  readonly channel: Channel;
  taken: number;
  /** A wake-up came while all slots were taken: what it was for may not have been seen yet. */
  isAskedAgain: boolean;
}

interface Claimed extends ClaimedMessage {
  readonly isProbe: boolean;
}

/** Rules 1 and 4. A probe is claimed only with a message that it can take along. */
function claim({ db, clock }: DelivererParts, channel: ChannelName): Promise<Claimed | undefined> {
  return db.transaction(async (tx) => {
    const nowMs = clock.nowMs();
    const leaseUntil = new Date(nowMs + LEASE_MS);
    const away = await lockAway(tx, channel);
    if (away !== undefined && away.retryAtMs > nowMs) return undefined;
    const message = await claimMessage(tx, { channel, now: new Date(nowMs), leaseUntil });
    if (message === undefined) return undefined;
    if (away !== undefined) await leaseProbe(tx, channel, leaseUntil);
    return { ...message, isProbe: away !== undefined };
  });
}

/** Who finds a channel away waits for its row, so that of all who come one is the probe. */
async function lockAway(tx: Queryable, channel: ChannelName): Promise<Away | undefined> {
  const health = await readHealth(tx, channel);
  return health?.away && (await lockHealth(tx, channel))?.away;
}

async function attempt(parts: DelivererParts, channel: Channel, message: Claimed): Promise<void> {
  const { clock, log } = parts;
  const attempted = await send(channel, message);
  const nowMs = clock.nowMs();
  const noted = {
    channel: channel.name,
    messageId: message.id,
    attempts: message.attempts,
    answer: attempted.answer,
  };
  if (attempted.outcome === 'delivered') {
    await noteDelivered(parts, channel.name, { message, nowMs });
    log.debug(noted, 'alerts.delivered');
    return;
  }
  const verdict = await noteFailed(parts, channel.name, { message, attempted, nowMs });
  const { nextAttemptMs, health } = verdict;
  if (nextAttemptMs === undefined) log.error(noted, 'alerts.message_given_up');
  else log.warn({ ...noted, nextAttempt: new Date(nextAttemptMs) }, 'alerts.not_delivered');
  // Others may be due when the channel is tried again, and this one at another time.
  for (const wakeAtMs of new Set([health.away?.retryAtMs, nextAttemptMs])) {
    if (wakeAtMs !== undefined) await wakeLater(parts, channel.name, wakeAtMs - nowMs);
  }
}

async function send(channel: Channel, message: ClaimedMessage): Promise<Attempted> {
  try {
    return await channel.send(message);
  } catch (error) {
    // A message that a channel cannot put into its form; the others must not wait for it.
    return { outcome: 'refused', answer: toError(error).name };
  }
}

interface Sent {
  readonly message: Claimed;
  readonly nowMs: number;
}

function noteDelivered(
  { db }: DelivererParts,
  channel: ChannelName,
  { message, nowMs }: Sent,
): Promise<void> {
  return db.transaction(async (tx) => {
    const end = { state: 'delivered', at: new Date(nowMs), error: null } as const;
    await settleMessage(tx, message.id, end);
    if ((await lockHealth(tx, channel)) === undefined) return;
    await deleteHealth(tx, channel);
    await settleAlerts(tx, [channelSettled(channel, undefined)]);
  });
}

function noteFailed(
  { db, random }: DelivererParts,
  channel: ChannelName,
  { message, attempted, nowMs }: Sent & { readonly attempted: Failed },
): Promise<Verdict> {
  return db.transaction(async (tx) => {
    const verdict = judge({
      attempted,
      attempts: message.attempts,
      createdMs: message.createdAt.getTime(),
      isProbe: message.isProbe,
      health: await lockHealth(tx, channel),
      nowMs,
      lot: random(),
    });
    const { nextAttemptMs, health } = verdict;
    await saveHealth(tx, channel, health);
    if (nextAttemptMs === undefined) {
      const end = { state: 'given_up', at: new Date(nowMs), error: attempted.answer } as const;
      await settleMessage(tx, message.id, end);
      await reportGivenUp(tx, message, attempted.answer);
    } else {
      const until = new Date(nextAttemptMs);
      await postponeMessage(tx, message, { until, error: attempted.answer });
    }
    if (isDead(health, nowMs)) await settleAlerts(tx, [channelSettled(channel, health)]);
    return verdict;
  });
}

async function reportGivenUp(
  tx: Queryable,
  { id: messageId, content, attempts }: ClaimedMessage,
  answer: string,
): Promise<void> {
  if (content.kind !== 'order') return;
  await tellNews(tx, [orderNoticeGivenUp({ messageId, notice: content, attempts, answer })]);
}

/** A queue that is away costs a minute at most: the sweep looks what is due. */
async function wakeLater(
  { wakeLater: wake, log }: DelivererParts,
  channel: ChannelName,
  delayMs: number,
): Promise<void> {
  await wake(channel, delayMs).catch((error: unknown) => {
    log.warn({ error, channel }, 'alerts.wake_up_not_announced');
  });
}
