/**
 * Enqueues committed inbox rows in coalesced jobs: one `add` at a time. Ids that arrive before the next
 * one join its job. The next job is added
 *
 * 1. as soon as the workers are idle, so that an event does not wait for a timer;
 * 2. when a job is full;
 * 3. after 200 ms while they are busy and no job waits, so that several workers have work, and a job that a dead
 *    worker holds delays nothing;
 * 4. after a second in any case, so that events do not wait for the end of a replay, which has jobs waiting.
 *
 * While a job waits, every worker is busy, and applies what arrives without a job (ledger/inbox/applyArrivals.ts).
 * With another job every 200 ms, they piled up at a steady load, and a retried event or a replay waited behind
 * all of them.
 *
 * A job costs the workers and the queue about as much as a dozen applied events, and a transaction
 * of 50 events nearly as much as one of 250. Enqueueing as soon as the last `add` returned made jobs
 * of 50, and the workers applied 0.36 of the accepted rate. While the workers are busy, a larger job is
 * therefore worth its wait. The figures are in docs/decisions/0035-coalescing-while-busy.md.
 *
 * A failed `add` is logged and not retried here: the ids are in `pending`, and the sweep enqueues
 * them. The sender's reply never waits for this.
 */
import { monotonicMs } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { JobCounts } from '../platform/queue/index.ts';
import { sleep } from '../platform/sleep.ts';

export interface Enqueuer {
  enqueue(webhookEventIds: readonly number[]): void;
  /** Enqueues all waiting ids without further delay; resolves when none waits. */
  drain(): Promise<void>;
}

/** The part of a queue that is needed here. */
export interface EnqueuerQueue {
  add(webhookEventIds: readonly number[]): Promise<void>;
  countJobs(): Promise<JobCounts>;
}

/** The most ids in one job. */
const MAX_IDS = 1_000;
/** Until the workers are examined for the first time after a job; each further time takes twice as long. */
const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 40;
/** Until the next job while the workers are busy and none waits. */
const BUSY_FOR_MS = 200;
/** Until the next job while one waits; a worker takes as long for one at a steady load. */
const BEHIND_FOR_MS = 1_000;
/** Ids kept in memory while adding fails; the sweep enqueues the rest. */
const MAX_WAITING_IDS = 50_000;

/** @param pause a sleep that the signal ends */
export function createEnqueuer(
  queue: EnqueuerQueue,
  log: Log,
  pause: (delayMs: number, signal: AbortSignal) => Promise<void> = sleep,
): Enqueuer {
  let waiting: number[] = [];
  let running: Promise<void> | undefined;
  const stopping = new AbortController();

  const add = async (ids: readonly number[]): Promise<void> => {
    try {
      await queue.add(ids);
    } catch (error) {
      log.warn({ error, events: ids.length }, 'enqueue.failed_left_to_sweep');
    }
  };
  const areDue = async (waitedMs: number): Promise<boolean> => {
    if (waitedMs >= BEHIND_FOR_MS) return true;
    try {
      const { waiting: jobs, active } = await queue.countJobs();
      return jobs === 0 && (active === 0 || waitedMs >= BUSY_FOR_MS);
    } catch {
      // A queue that cannot be examined is taken for a busy one; adding to it reports the reason.
      return waitedMs >= BUSY_FOR_MS;
    }
  };
  /** Waits until one of the four conditions for the next job holds. */
  const untilDue = async (): Promise<void> => {
    const startMs = monotonicMs();
    let pausedMs = 0;
    let pauseMs = FIRST_PAUSE_MS;
    while (waiting.length < MAX_IDS && !stopping.signal.aborted) {
      await pause(pauseMs, stopping.signal);
      pausedMs += pauseMs;
      pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      // A queue may take seconds to respond.
      if (await areDue(Math.max(pausedMs, monotonicMs() - startMs))) return;
    }
  };
  const run = async (): Promise<void> => {
    do {
      const ids = waiting.slice(0, MAX_IDS);
      waiting = waiting.slice(MAX_IDS);
      await add(ids);
      await untilDue();
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
