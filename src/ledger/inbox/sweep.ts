/**
 * The sweep enqueues events that have been in `pending` for too long, because their job was lost with a
 * process or a queue. So the queue can be rebuilt from PostgreSQL.
 *
 * 1. It reads `pending` once, in key order and page by page: its memory is one job, and its cost is
 *    linear in the backlog.
 * 2. It keeps the queue shorter than what workers process in seconds, so that a backlog of any size is
 *    enqueued as fast as it is applied.
 * 3. It adds nothing while the queue is deep: those events have a job already.
 * 4. An empty queue holds no job of any event, as after a failover or a deletion of its keys. Events that have
 *    waited for seconds are then enqueued at once (docs/decisions/0113-an-empty-queue-is-refilled.md).
 */
import { startStopwatch } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Producer } from '../../platform/queue/index.ts';
import { sleep } from '../../platform/sleep.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { batchJob, type EventsJob } from './jobs.ts';
import { claimOverdue, readDueBefore } from './store/pending.ts';

const ENQUEUE_AFTER_MS = MINUTE_MS;
/** Longer than the receiver takes to add a job, so that only events that lost their job are enqueued (rule 4). */
const LOST_AFTER_MS = 10_000;
const IDS_PER_JOB = 500;
/** The jobs that every sweep may add. */
const FIRST_JOBS = 40;
/** With more jobs waiting than this, nothing is added. */
const DEEP_QUEUE_JOBS = 200;
/** After its first jobs, a sweep adds only while fewer than this wait; workers process them in seconds. */
const REFILL_BELOW_JOBS = 40;
const REFILL_EVERY_MS = 500;
/** Then the next sweep reads what has become due meanwhile. */
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
  /** Enqueues events that are past their enqueue time, and those without a job (rule 4). */
  overdue(): Promise<void>;
  /**
   * Enqueues every pending event, within the same bounds. Runs at startup, when it is not known which
   * jobs the last process enqueued.
   */
  everything(): Promise<void>;
}

/** The number of waiting jobs below which a sweep that has added `jobs` may add one more. */
function roomFor(jobs: number): number {
  return jobs < FIRST_JOBS ? DEEP_QUEUE_JOBS : REFILL_BELOW_JOBS;
}

export function createSweep(parts: SweepParts): Sweep {
  const { db, producer, log, signal, runForSeconds = RUN_FOR_SECONDS } = parts;

  /** Waits until the queue has room. @returns false if it still has none */
  const hasRoom = async (jobs: number, elapsedSeconds: () => number): Promise<boolean> => {
    while (!signal.aborted) {
      const { waiting: waitingJobs } = await producer.countJobs();
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
    overdue: async () => {
      const { waiting, active, delayed } = await producer.countJobs();
      await run(waiting + active + delayed === 0 ? ENQUEUE_AFTER_MS - LOST_AFTER_MS : 0);
    },
    // The rows that this sweep claims are past the limit, so it does not read them again.
    everything: () => run(ENQUEUE_AFTER_MS),
  };
}
