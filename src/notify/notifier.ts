/**
 * The loop of the role `alerts`: turns notifications and order changes into messages and wakes the
 * channels that have new ones. The queue's consumer delivers them (deliver.ts).
 *
 * While the queue is unavailable, the loop delivers messages itself: an alert about the queue must
 * arrive, too.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import { sleep } from '../platform/sleep.ts';
import type { Deliverer } from './deliver.ts';
import type { ChannelName } from './domain/message.ts';
import { readDueChannels } from './store/messages.ts';

export interface NotifierParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Each creates messages and returns the channels with new ones. */
  readonly sources: Readonly<Record<string, () => Promise<ReadonlySet<ChannelName>>>>;
  /** Whether a source may have something new; a cheap check between two polls. */
  readonly hasNews: () => Promise<boolean>;
  /** Wakes channels. Throws when the queue is unavailable, even for an empty list. */
  readonly wake: (channels: readonly ChannelName[]) => Promise<void>;
  readonly deliverer: Pick<Deliverer, 'run'>;
}

const POLL_INTERVAL_MS = 1_000;
/** A shop waits for its order webhook, so the loop checks for news more often than it polls. */
const CHECK_INTERVAL_MS = 50;

/** Runs until `closing` is aborted, then finishes the deliveries in progress. */
export async function runNotifier(parts: NotifierParts, closing: AbortSignal): Promise<void> {
  const delivering = new Set<Promise<void>>();
  const deliverHere = async (): Promise<void> => {
    for (const channel of await dueChannels(parts)) {
      const done: Promise<void> = parts.deliverer
        .run(channel)
        .finally(() => delivering.delete(done));
      delivering.add(done);
    }
  };
  const attempt = createAttempts(parts.log);
  let isQueueUnavailable = false;
  while (!closing.aborted) {
    const channels = await createMessages(parts, attempt);
    if (channels.size > 0 || isQueueUnavailable) {
      isQueueUnavailable = !(await attempt('wake', () => parts.wake([...channels])));
      if (isQueueUnavailable) await attempt('deliver', deliverHere);
    }
    await untilNews(parts, closing);
  }
  await Promise.all(delivering);
}

/** Waits until there is news, and for one poll interval at most. */
async function untilNews({ hasNews }: NotifierParts, closing: AbortSignal): Promise<void> {
  for (let waitedMs = 0; waitedMs < POLL_INTERVAL_MS; waitedMs += CHECK_INTERVAL_MS) {
    await sleep(CHECK_INTERVAL_MS, closing);
    // A failed check is not reported: the poll fails for the same reason, and reports it.
    if (closing.aborted || (await hasNews().catch(() => false))) return;
  }
}

/** A source that fails must not stop the others. */
async function createMessages(
  { sources }: NotifierParts,
  attempt: Attempt,
): Promise<ReadonlySet<ChannelName>> {
  const channels = new Set<ChannelName>();
  for (const [name, source] of Object.entries(sources)) {
    await attempt(name, async () => {
      for (const channel of await source()) channels.add(channel);
    });
  }
  return channels;
}

function dueChannels({ db, clock }: NotifierParts): Promise<readonly ChannelName[]> {
  return readDueChannels(db, new Date(clock.nowMs()));
}

/** Runs a step and returns whether it succeeded. A repeated failure is logged once. */
type Attempt = (step: string, work: () => Promise<void>) => Promise<boolean>;

function createAttempts(log: Log): Attempt {
  const lastFailures = new Map<string, string>();
  return async (step, work) => {
    try {
      await work();
      lastFailures.delete(step);
      return true;
    } catch (thrown) {
      const error = toError(thrown);
      if (lastFailures.get(step) !== error.message) log.warn({ error, step }, 'notify.step_failed');
      lastFailures.set(step, error.message);
      return false;
    }
  };
}
