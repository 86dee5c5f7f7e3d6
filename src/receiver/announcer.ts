/**
 * Tells the workers of committed inbox rows, coalesced: one `add` at a time, and the next after 200 ms
 * or with a full job; ids that arrive meanwhile go into it. The first after a pause goes at once.
 *
 * A job costs the workers and the queue about as much as a dozen applied events, and a transaction
 * of 50 events nearly as much as one of 250. Announcing as soon as the last `add` was done made jobs
 * of 50 and let the workers fall to 0.36 of what was accepted; docs/decisions/0014-speed.md has what
 * longer intervals and larger jobs brought.
 *
 * An announcement that fails is logged and forgotten: the ids stand in `pending`, and the sweep
 * announces them. The sender's reply never waits for this.
 */
import type { Log } from '../platform/log.ts';
import { pause } from '../platform/pause.ts';

export interface Announcer {
  announce(webhookEventIds: readonly number[]): void;
  /** Announces what waits without further delay; resolves when nothing does. */
  drain(): Promise<void>;
}

/** Most ids that one job carries. */
const MAX_IDS = 1_000;
const MIN_INTERVAL_MS = 200;
/** While announcements fail, this many ids are remembered; the sweep knows the rest. */
const MAX_WAITING_IDS = 50_000;

/**
 * @param rest waits out the interval between two jobs, or less when the signal ends it
 */
export function createAnnouncer(
  enqueue: (webhookEventIds: readonly number[]) => Promise<void>,
  log: Log,
  rest: (signal: AbortSignal) => Promise<void> = (signal) => pause(MIN_INTERVAL_MS, signal),
): Announcer {
  let waiting: number[] = [];
  let running: Promise<void> | undefined;
  const stopping = new AbortController();

  const run = async (): Promise<void> => {
    do {
      const ids = waiting.slice(0, MAX_IDS);
      waiting = waiting.slice(MAX_IDS);
      const interval = rest(stopping.signal);
      try {
        await enqueue(ids);
      } catch (error) {
        log.warn({ error, events: ids.length }, 'announce.failed_left_to_sweep');
      }
      if (waiting.length < MAX_IDS) await interval;
    } while (waiting.length > 0);
    running = undefined;
  };

  return {
    announce: (ids) => {
      if (ids.length === 0) return;
      if (waiting.length + ids.length <= MAX_WAITING_IDS) waiting.push(...ids);
      running ??= run();
    },
    drain: () => {
      stopping.abort();
      return running ?? Promise.resolve();
    },
  };
}
