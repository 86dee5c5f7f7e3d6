/**
 * Enqueues committed inbox rows in coalesced jobs: one `add` at a time, and the next after 200 ms or
 * when a job is full. Ids that arrive in between join the next job. After an idle time the first job
 * is added immediately.
 *
 * A job costs the workers and the queue about as much as a dozen applied events, and a transaction
 * of 50 events nearly as much as one of 250. Enqueueing as soon as the last `add` returned made jobs
 * of 50, and the workers applied 0.36 of the accepted rate. The figures for longer intervals and
 * larger jobs are in docs/decisions/0035-one-enqueue-per-200-ms.md.
 *
 * A failed `add` is logged and not retried here: the ids are in `pending`, and the sweep enqueues
 * them. The sender's reply never waits for this.
 */
import type { Log } from '../platform/log.ts';
import { sleep } from '../platform/sleep.ts';

export interface Enqueuer {
  enqueue(webhookEventIds: readonly number[]): void;
  /** Enqueues all waiting ids without further delay; resolves when none waits. */
  drain(): Promise<void>;
}

/** The most ids in one job. */
const MAX_IDS = 1_000;
const MIN_INTERVAL_MS = 200;
/** Ids kept in memory while adding fails; the sweep enqueues the rest. */
const MAX_WAITING_IDS = 50_000;

/**
 * @param rest resolves after the interval between two jobs, or when the signal aborts
 */
export function createEnqueuer(
  enqueue: (webhookEventIds: readonly number[]) => Promise<void>,
  log: Log,
  rest: (signal: AbortSignal) => Promise<void> = (signal) => sleep(MIN_INTERVAL_MS, signal),
): Enqueuer {
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
        log.warn({ error, events: ids.length }, 'enqueue.failed_left_to_sweep');
      }
      if (waiting.length < MAX_IDS) await interval;
    } while (waiting.length > 0);
    running = undefined;
  };

  return {
    enqueue: (ids) => {
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
