/**
 * Delivers due messages, each channel independently.
 *
 * 1. An attempt is counted and leased in a commit before it begins. If its process dies, another one
 *    sends the message again after the lease, with the same id.
 * 2. Each channel has slots: how many attempts a process makes at the same time. So no channel waits for
 *    another. A slot is free again when the result of its attempt is recorded.
 * 3. A *round* is one transaction: it records what the channel accepted since the last round, and claims
 *    messages for the free slots. So a burst costs a few commits, not two for each message. Rounds of a
 *    channel follow each other, and while one is in progress, further results wait for the next.
 * 4. The result of an attempt, its entry in the message's log, the health of its channel and the alert
 *    about the channel are one commit. A failed attempt has a transaction of its own. One that outlived its lease
 *    neither postpones nor fails the message once another attempt has begun.
 * 5. While a channel is unavailable, one message is tried at a time: the probe (retry.ts, rule 1).
 * 6. What the channel accepted is recorded before the lease ends, unless the database is unavailable for
 *    longer: a round that failed is repeated every second. A process that is shut down repeats it once.
 */

import { setTimeout } from 'node:timers/promises';
import { raiseOneTimeAlerts, syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { pipelined } from '../platform/db/pipelined.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Channel } from './channels/channel.ts';
import { channelAlerts, orderWebhookFailed } from './domain/channel.ts';
import type { ChannelName } from './domain/message.ts';
import {
  type AttemptResult,
  type FailedAttempt,
  isDown,
  isWaiting,
  LEASE_MS,
  type Outage,
  planRetry,
  type RetryPlan,
} from './domain/retry.ts';
import { deleteHealth, leaseProbe, lockHealth, saveHealth } from './store/channelHealth.ts';
import type { LoggedAttempt } from './store/messageRows.ts';
import {
  type ClaimedMessage,
  claimMessages,
  type MessageEnd,
  postponeMessage,
  settleMessages,
} from './store/messages.ts';

export interface DelivererParts {
  readonly db: Database;
  readonly channels: readonly Channel[];
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1, for the jitter of retries. */
  readonly random: () => number;
}

export interface Deliverer {
  /**
   * Delivers due messages of a channel; resolves when none is left or others deliver them. Never rejects. While a
   * channel is busy, every call returns the same promise: it can be busy for hours, with many calls a second.
   */
  run(channel: ChannelName): Promise<void>;
}

/** Until a failed round is repeated (rule 6). */
const RECORD_AGAIN_AFTER_MS = 1_000;

interface ChannelState {
  readonly channel: Channel;
  /** Attempts without a recorded result. */
  occupied: number;
  /** What the channel accepted since the last round. */
  delivered: MessageEnd[];
  /** A message may have become due, or an attempt ended, since the last round began. */
  isWoken: boolean;
  /** Ends the wait for the next round. */
  wake: () => void;
  running: Promise<void> | undefined;
}

export function createDeliverer(parts: DelivererParts, closing: AbortSignal): Deliverer {
  const states = new Map(
    parts.channels.map((channel): readonly [ChannelName, ChannelState] => [
      channel.name,
      {
        channel,
        occupied: 0,
        delivered: [],
        isWoken: false,
        wake: () => undefined,
        running: undefined,
      },
    ]),
  );
  const wake = (state: ChannelState): void => {
    state.isWoken = true;
    state.wake();
  };
  const start = async (state: ChannelState, message: Claimed): Promise<void> => {
    state.occupied += 1;
    try {
      const end = await attempt(parts, state.channel, message);
      if (end) state.delivered.push(end);
      else state.occupied -= 1;
    } catch (error) {
      state.occupied -= 1;
      parts.log.warn({ error, channel: state.channel.name }, 'notify.delivery_failed');
    }
    wake(state);
  };
  const round = async (state: ChannelState): Promise<void> => {
    const delivered = [...state.delivered];
    const free = state.channel.slots - state.occupied + delivered.length;
    const limit = closing.aborted ? 0 : free;
    if (limit === 0 && delivered.length === 0) return;
    const claimed = await recordAndClaim(parts, state.channel.name, { delivered, limit });
    state.delivered = state.delivered.slice(delivered.length);
    state.occupied -= delivered.length;
    for (const message of claimed) void start(state, message);
  };
  /** @returns how many rounds have failed since the last one that did not */
  const tryRound = async (state: ChannelState, failures: number): Promise<number> => {
    state.isWoken = false;
    try {
      await round(state);
      return 0;
    } catch (error) {
      // While the database is unavailable, the first of many failures is enough.
      if (failures === 0) {
        parts.log.warn({ error, channel: state.channel.name }, 'notify.delivery_failed');
      }
      return failures + 1;
    }
  };
  const deliverDue = async (state: ChannelState): Promise<void> => {
    for (let failures = 0; ; ) {
      failures = await tryRound(state, failures);
      const next = afterRound(state, { failures, isClosing: closing.aborted });
      if (next === 'end') break;
      if (next === 'repeat') await setTimeout(RECORD_AGAIN_AFTER_MS);
      if (next === 'wait') {
        await new Promise<void>((resolve) => {
          state.wake = resolve;
        });
      }
    }
    // Nothing comes between the decision and this: a wake-up from here on begins again.
    state.running = undefined;
  };

  return {
    run: (name) => {
      const state = states.get(name);
      if (state === undefined) return Promise.resolve();
      wake(state);
      state.running ??= deliverDue(state);
      return state.running;
    },
  };
}

/** What follows a round: the next one at once, after a second (rule 6) or after a wake-up, or none. */
function afterRound(
  { delivered, occupied, isWoken }: ChannelState,
  { failures, isClosing }: { readonly failures: number; readonly isClosing: boolean },
): 'round' | 'repeat' | 'wait' | 'end' {
  if (failures > 0 && delivered.length > 0) {
    const isInProgress = occupied > delivered.length;
    return isClosing && failures > 1 && !isInProgress ? 'end' : 'repeat';
  }
  if (isWoken) return 'round';
  return occupied > 0 ? 'wait' : 'end';
}

interface Claimed extends ClaimedMessage {
  readonly isProbe: boolean;
}

/**
 * A round (rule 3).
 * @param limit the most messages to claim
 */
function recordAndClaim(
  { db, clock }: DelivererParts,
  channel: ChannelName,
  { delivered, limit }: { readonly delivered: readonly MessageEnd[]; readonly limit: number },
): Promise<readonly Claimed[]> {
  return db.transaction(async (tx) => {
    const outage = await recordDelivered(tx, channel, delivered);
    return limit > 0 ? await claim(tx, channel, { outage, nowMs: clock.nowMs(), limit }) : [];
  });
}

/** @returns the outage of the channel that goes on, if there is one */
async function recordDelivered(
  tx: Queryable,
  channel: ChannelName,
  delivered: readonly MessageEnd[],
): Promise<Outage | undefined> {
  // Workers that find a channel unavailable wait for its row, so that one of them is the probe.
  if (delivered.length === 0) return (await lockHealth(tx, channel))?.outage;
  const [health] = await pipelined([lockHealth(tx, channel), settleMessages(tx, delivered)]);
  if (health) {
    await deleteHealth(tx, channel);
    await syncAlerts(tx, [channelAlerts(channel, undefined)]);
  }
  return undefined;
}

/** Rules 1 and 5. A probe is claimed only together with a message to send. */
async function claim(
  tx: Queryable,
  channel: ChannelName,
  found: {
    readonly outage: Outage | undefined;
    readonly nowMs: number;
    readonly limit: number;
  },
): Promise<readonly Claimed[]> {
  const { outage, nowMs } = found;
  if (outage && isWaiting(outage, nowMs)) return [];
  const [now, leaseUntil] = [new Date(nowMs), new Date(nowMs + LEASE_MS)];
  const limit = outage ? 1 : found.limit;
  const messages = await claimMessages(tx, { channel, now, leaseUntil, limit });
  if (outage && messages.length > 0) await leaseProbe(tx, channel, { now, leaseUntil });
  return messages.map((message) => ({ ...message, isProbe: outage !== undefined }));
}

/**
 * Makes an attempt, and records it if it failed.
 * @returns what a round must record; undefined if it failed
 */
async function attempt(
  parts: DelivererParts,
  channel: Channel,
  message: Claimed,
): Promise<MessageEnd | undefined> {
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
    log.debug(fields, 'notify.delivered');
    return {
      id: message.id,
      state: 'delivered',
      at: new Date(nowMs),
      error: null,
      attempt: logged(message, result, nowMs),
    };
  }
  const failure = { message, result, nowMs };
  const { nextAttemptMs, hasFailed } = await recordFailure(parts, channel.name, failure);
  if (hasFailed) log.error(fields, 'notify.message_failed');
  else if (nextAttemptMs === undefined) log.warn(fields, 'notify.attempt_superseded');
  else log.warn({ ...fields, nextAttempt: new Date(nextAttemptMs) }, 'notify.retry_scheduled');
  return undefined;
}

async function send(channel: Channel, message: ClaimedMessage): Promise<AttemptResult> {
  try {
    return await channel.send(message);
  } catch (error) {
    // The channel cannot put this message into its form; other messages must not wait for it.
    return { outcome: 'refused', response: toError(error).name };
  }
}

function logged({ attempts }: Claimed, result: AttemptResult, nowMs: number): LoggedAttempt {
  const { outcome, response } = result;
  return { attempt: attempts, at: new Date(nowMs).toISOString(), outcome, response };
}

function recordFailure(
  { db, random }: DelivererParts,
  channel: ChannelName,
  {
    message,
    result,
    nowMs,
  }: { readonly message: Claimed; readonly result: FailedAttempt; readonly nowMs: number },
): Promise<Pick<RetryPlan, 'nextAttemptMs'> & { readonly hasFailed: boolean }> {
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
    let hasFailed = false;
    if (nextAttemptMs === undefined) {
      const { id, attempts } = message;
      const end = { at: new Date(nowMs), error: result.response, attempt: logEntry };
      hasFailed = (await settleMessages(tx, [{ id, attempts, state: 'failed', ...end }])) > 0;
      if (hasFailed) await reportFailedOrderWebhook(tx, message, result.response);
    } else {
      const until = new Date(nextAttemptMs);
      await postponeMessage(tx, message, { until, error: result.response, attempt: logEntry });
    }
    if (isDown(health, nowMs)) await syncAlerts(tx, [channelAlerts(channel, health)]);
    return { nextAttemptMs, hasFailed };
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
