/**
 * The sweep enqueues events that are in `pending` past their time: jobs that were lost with a process
 * or a queue. With it, everything in the queue can be rebuilt from PostgreSQL.
 *
 * 1. It walks `pending` once by its key, page by page, so that its memory is one job and its cost is
 *    linear in the backlog.
 * 2. It keeps the queue short of what workers take in seconds and adds as they take, so that a backlog
 *    of any size is enqueued at the pace at which it is applied.
 * 3. It waits while the queue is deep: events that have a job need no second one.
 */
import { startStopwatch } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Producer } from '../../platform/queue/index.ts';
import { sleep } from '../../platform/sleep.ts';
import { batchJob, type EventsJob } from './jobs.ts';
import { claimOverdue, readDueBefore } from './store/pending.ts';

const ENQUEUE_AFTER_MS = 60_000;
const IDS_PER_JOB = 500;
/** What every sweep may add. */
const FIRST_JOBS = 40;
/** With more jobs waiting than this, nothing is added. */
const DEEP_QUEUE_JOBS = 200;
/** Past its first jobs, a sweep adds only while fewer than this wait: workers take them in seconds. */
const REFILL_BELOW_JOBS = 40;
const REFILL_EVERY_MS = 500;
/** The next minute has a sweep of its own. */
const RUN_FOR_SECONDS = 50;

export interface SweepParts {
  readonly db: Database;
  readonly producer: Producer<EventsJob>;
  readonly log: Log;
  /** Ends a sweep between two jobs. */
  readonly signal: AbortSignal;
  readonly runForSeconds?: number;
}

export interface Sweep {
  /** Enqueues what is overdue. */
  overdue(): Promise<void>;
  /**
   * Enqueues what waits without a job of its own, within the same bounds: after a start nobody knows
   * what the last process enqueued.
   */
  everything(): Promise<void>;
}

/** How many jobs may wait for a sweep that has added `jobs` to add one more. */
function roomFor(jobs: number): number {
  return jobs < FIRST_JOBS ? DEEP_QUEUE_JOBS : REFILL_BELOW_JOBS;
}

export function createSweep(parts: SweepParts): Sweep {
  const { db, producer, log, signal, runForSeconds = RUN_FOR_SECONDS } = parts;

  /** Waits until the queue has room. @returns whether it has */
  const hasRoom = async (jobs: number, elapsedSeconds: () => number): Promise<boolean> => {
    while (!signal.aborted) {
      const waitingJobs = await producer.countWaiting();
      if (waitingJobs < roomFor(jobs)) return true;
      if (jobs === 0) log.info({ waitingJobs }, 'sweep.queue_deep_waiting');
      if (jobs === 0 || elapsedSeconds() > runForSeconds) return false;
      await sleep(REFILL_EVERY_MS, signal);
    }
    return false;
  };
  const run = async (withinMs: number): Promise<void> => {
    const elapsedSeconds = startStopwatch();
    if (!(await hasRoom(0, elapsedSeconds))) return;
    const dueBefore = await readDueBefore(db, withinMs);
    const request = { dueBefore, limit: IDS_PER_JOB, enqueueAfterMs: ENQUEUE_AFTER_MS };
    let events = 0;
    let afterId = 0;
    for (let jobs = 1; ; jobs += 1) {
      const ids = await claimOverdue(db, { ...request, afterId });
      const last = ids.at(-1);
      if (last === undefined) break;
      await producer.add([batchJob(ids)]);
      events += ids.length;
      afterId = last;
      if (!(await hasRoom(jobs, elapsedSeconds))) break;
    }
    if (events > 0) log.info({ events }, 'sweep.enqueued');
  };
  return {
    overdue: () => run(0),
    // Rows that this sweep stamps lie beyond the limit, so that it does not meet them again.
    everything: () => run(ENQUEUE_AFTER_MS),
  };
}
