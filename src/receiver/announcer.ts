/**
 * Tells the workers of committed inbox rows, coalesced: one `add` in flight, and ids that arrive
 * meanwhile go into the next job. Fewer, fuller jobs doubled the applied rate when measured, since
 * one job costs about as much as a dozen applied events.
 *
 * An announcement that fails is logged and forgotten: the ids stand in `pending`, and the sweep
 * announces them. The sender's reply never waits for this.
 */
import type { Log } from '../platform/log.ts';

export interface Announcer {
  announce(webhookEventIds: readonly number[]): void;
  /** Resolves when nothing waits to be announced. */
  drain(): Promise<void>;
}

/** Most ids that one job carries. */
const MAX_IDS = 500;
/** While announcements fail, this many ids are remembered; the sweep knows the rest. */
const MAX_WAITING_IDS = 50_000;

export function createAnnouncer(
  enqueue: (webhookEventIds: readonly number[]) => Promise<void>,
  log: Log,
): Announcer {
  let waiting: number[] = [];
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const ids = waiting.slice(0, MAX_IDS);
      waiting = waiting.slice(MAX_IDS);
      try {
        await enqueue(ids);
      } catch (error) {
        log.warn({ error, events: ids.length }, 'announce.failed_left_to_sweep');
      }
    }
    running = undefined;
  };

  return {
    announce: (ids) => {
      if (ids.length === 0) return;
      if (waiting.length + ids.length <= MAX_WAITING_IDS) waiting.push(...ids);
      running ??= run();
    },
    drain: () => running ?? Promise.resolve(),
  };
}
