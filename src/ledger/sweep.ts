/**
 * The sweep announces again what stands in `pending` past its time: announcements that were lost
 * with a process or a queue. With it, everything in the queue can be rebuilt from PostgreSQL.
 *
 * It is bounded, and waits while the queue is deep: a backlog is no reason to announce it twice.
 */
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import type { Producer } from '../platform/queue/index.ts';
import { batchJob, type EventsJob } from './jobs.ts';
import { readDueBefore, takeOverdue } from './store/pending.ts';

const ANNOUNCE_AFTER_MS = 60_000;
const IDS_PER_JOB = 500;
const MAX_JOBS_PER_SWEEP = 40;
const DEEP_QUEUE_JOBS = 200;

export interface SweepParts {
  readonly db: Database;
  readonly producer: Producer<EventsJob>;
  readonly log: Log;
}

export interface Sweep {
  /** Announces what is overdue. */
  overdue(): Promise<void>;
  /**
   * Announces what waits without a job of its own, within the same bounds: after a start nobody knows
   * what the last process announced.
   */
  everything(): Promise<void>;
}

export function createSweep({ db, producer, log }: SweepParts): Sweep {
  const run = async (withinMs: number): Promise<void> => {
    const waitingJobs = await producer.countWaiting();
    if (waitingJobs > DEEP_QUEUE_JOBS) {
      log.info({ waitingJobs }, 'sweep.queue_deep_waiting');
      return;
    }
    const dueBefore = await readDueBefore(db, withinMs);
    const request = { dueBefore, limit: IDS_PER_JOB, announceAfterMs: ANNOUNCE_AFTER_MS };
    let events = 0;
    for (let jobs = 0; jobs < MAX_JOBS_PER_SWEEP; jobs += 1) {
      const ids = await takeOverdue(db, request);
      if (ids.length === 0) break;
      await producer.add([batchJob(ids)]);
      events += ids.length;
    }
    if (events > 0) log.info({ events }, 'sweep.announced');
  };
  return {
    overdue: () => run(0),
    // Rows that this sweep stamps lie beyond the limit, so that it does not meet them again.
    everything: () => run(ANNOUNCE_AFTER_MS),
  };
}
