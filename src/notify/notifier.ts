/**
 * The loops of the role `alerts`: turn notifications and changes of orders into messages, and have the
 * channels deliver them (deliver.ts).
 *
 * 1. What is due is in the database, and a poll finds it: new notifications, and messages that are tried again
 *    or that another process left. No queue is needed, because an alert about the queue must arrive, too.
 * 2. A shop waits for its order webhook, so changes of orders are looked for more often than the rest.
 * 3. A step that fails does not stop the others.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { sleep } from '../platform/sleep.ts';
import type { Deliverer } from './deliver.ts';
import type { ChannelName } from './domain/message.ts';
import { readDueChannels } from './store/messages.ts';

/** Creates messages, and returns the channels with new ones. */
type Source = () => Promise<ReadonlySet<ChannelName>>;

export interface NotifierParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly alerts: Source;
  /** Undefined if the shop receives no order webhooks. */
  readonly orders:
    | { readonly enqueue: Source; readonly hasNews: () => Promise<boolean> }
    | undefined;
  readonly deliverer: Deliverer;
}

const POLL_INTERVAL_MS = 1_000;
const CHECK_INTERVAL_MS = 25;

/** Runs until `closing` is aborted, then finishes the deliveries in progress. */
export async function runNotifier(parts: NotifierParts, closing: AbortSignal): Promise<void> {
  const { alerts, orders, deliverer } = parts;
  const attempt = createAttempts(parts.log);
  // The last run of a channel ends no earlier than those before it.
  const delivering = new Map<ChannelName, Promise<void>>();
  const deliver = (channels: Iterable<ChannelName>): void => {
    for (const channel of channels) delivering.set(channel, deliverer.run(channel));
  };
  const poll = async (): Promise<void> => {
    while (!closing.aborted) {
      await attempt('alerts', async () => deliver(await alerts()));
      await attempt('due', async () => deliver(await dueChannels(parts)));
      await sleep(POLL_INTERVAL_MS, closing);
    }
  };
  const followOrders = async ({ enqueue, hasNews }: NonNullable<typeof orders>): Promise<void> => {
    while (!closing.aborted) {
      await attempt('orders', async () => deliver(await enqueue()));
      await untilNews(hasNews, closing);
    }
  };
  await Promise.all([poll(), orders && followOrders(orders)]);
  await Promise.all(delivering.values());
}

/** Waits until there is news, and for one poll interval at most. */
async function untilNews(hasNews: () => Promise<boolean>, closing: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < POLL_INTERVAL_MS; waitedMs += CHECK_INTERVAL_MS) {
    await sleep(CHECK_INTERVAL_MS, closing);
    // A failed check is not reported: the next step fails for the same reason, and reports it.
    if (closing.aborted || (await hasNews().catch(() => false))) return;
  }
}

function dueChannels({ db, clock }: NotifierParts): Promise<readonly ChannelName[]> {
  return readDueChannels(db, new Date(clock.nowMs()));
}

/** Runs a step. A repeated failure is logged once. */
type Attempt = (step: string, work: () => Promise<void>) => Promise<void>;

function createAttempts(log: Log): Attempt {
  const lastFailures = new Map<string, string>();
  return async (step, work) => {
    try {
      await work();
      lastFailures.delete(step);
    } catch (thrown) {
      const error = toError(thrown);
      if (lastFailures.get(step) !== error.message) log.warn({ error, step }, 'notify.step_failed');
      lastFailures.set(step, error.message);
    }
  };
}
