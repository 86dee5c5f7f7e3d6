/**
 * Job queues on BullMQ. Only this folder depends on the backend: Redis if REDIS_URL is set, otherwise
 * the PostgreSQL database of the ledger.
 *
 * 1. A queue is a hint. Lost jobs are enqueued again from PostgreSQL, so adding may fail and
 *    jobs may run twice; nothing here may be needed for correctness.
 * 2. Producers and consumers are created only after the backend responds, and created again if that
 *    fails: one that BullMQ creates while PostgreSQL is down never recovers and reports no error.
 * 3. Jobs carry ids, never bodies: job data is clear text.
 */
import { WaitingError } from 'bullmq';
import type { Log } from '../log.ts';
import { atMost, sleep } from '../sleep.ts';
import {
  type BackedJob,
  type BackedQueue,
  type BackedWorker,
  queueFactory,
  workerFactory,
} from './bull.ts';
import { checkQueue } from './check.ts';
import type { QueueConnections } from './connections.ts';
import { createQueueProbe } from './probe.ts';
import { type QueueProblem, toQueueFailure } from './problem.ts';

export interface NewJob<Data> {
  readonly name: string;
  /** A job with the id of a waiting or running one is not added again. Not an integer, and without a colon. */
  readonly id?: string;
  readonly data: Data;
  /** Number of attempts, with exponential backoff and jitter between them. */
  readonly attempts: number;
  readonly backoffMs: number;
  /** How long until a worker may claim it; the default is 0. */
  readonly delayMs?: number;
}

export interface RunningJob<Data> {
  readonly name: string;
  readonly data: Data;
  /** It was started before, and its process ended before it recorded a result. */
  readonly wasAbandoned: boolean;
  /** If this attempt fails, the queue does not retry the job. */
  readonly isLastAttempt: boolean;
}

export interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  /** They wait for their next attempt. */
  readonly delayed: number;
}

export interface Producer<Data> {
  /** Adds jobs. Throws when the backend is unavailable. */
  add(jobs: readonly NewJob<Data>[]): Promise<void>;
  /** Throws when the backend is unavailable. */
  countJobs(): Promise<JobCounts>;
  close(): Promise<void>;
}

export interface MeasuredQueue {
  /** The depth of the queue. Throws when the backend is unavailable. */
  depth(): Promise<QueueDepth>;
}

export const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

export interface QueueDepth {
  /** `delayed` jobs wait for their next attempt; `failed` ones have used all attempts. */
  readonly jobs: Readonly<Record<(typeof JOB_STATES)[number], number>>;
  /** When the oldest waiting job was added, in milliseconds since 1970. */
  readonly oldestWaitingMs: number | undefined;
}

/** A job that has used all its attempts. */
export interface FailedJob {
  readonly id: string;
  readonly name: string;
  readonly attempts: number;
  readonly error: string;
  readonly failedMs: number | undefined;
}

export interface InspectedQueue extends MeasuredQueue {
  /** The newest failed jobs. Throws when the backend is unavailable. */
  failed(limit: number): Promise<readonly FailedJob[]>;
}

export interface Consumer {
  /** Finishes running jobs and claims no new ones. */
  close(): Promise<void>;
}

export interface QueueBackend {
  readonly name: 'redis' | 'postgres';
  /** Throws unless the backend responds. */
  probe(): Promise<void>;
  /**
   * Adds, claims and finishes a job. Never rejects, and takes ten seconds at most.
   * @returns why the queue refuses work; undefined if it works
   */
  check(): Promise<QueueProblem | undefined>;
  producer<Data>(queueName: string): Producer<Data> & InspectedQueue;
  consumer<Data>(
    queueName: string,
    concurrency: number,
    handle: (job: RunningJob<Data>) => Promise<void>,
  ): Consumer;
  close(): Promise<void>;
}

/** Completed jobs are removed at once; failed ones are kept for a week for operators. */
const KEPT_JOBS = {
  removeOnComplete: true,
  removeOnFail: { count: 1_000, age: 7 * 24 * 3600 },
} as const;

/** Longer than opening takes over PostgreSQL, which has limits of its own. */
const OPEN_TIMEOUT_MS = 15_000;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 4_000;
/** Killed processes may abandon a job many times; attempts are counted in `pending`, not here. */
const MAX_STALLED_COUNT = 100;

/** Wraps the connections of either backend. */
export function createQueueBackend(connections: QueueConnections, log: Log): QueueBackend {
  const probe = createQueueProbe(connections);
  return {
    name: connections.name,
    probe: () => connections.probe(),
    check: () => checkQueue(connections, probe),
    producer: (queueName) => createProducer(queueName, connections, log),
    consumer: (queueName, concurrency, handle) =>
      createConsumer({ queueName, concurrency, handle, connections, log }),
    close: async () => {
      await probe.close();
      await connections.close();
    },
  };
}

function createProducer<Data>(
  queueName: string,
  connections: QueueConnections,
  log: Log,
): Producer<Data> & InspectedQueue {
  const newQueue = queueFactory(queueName, connections);
  const warn = (error: Error) =>
    log.warn({ error: toQueueFailure(error), queueName }, 'queue.producer_error');
  const abandoned = new AbortController();
  let opened: Promise<BackedQueue> | undefined;

  const open = async (): Promise<BackedQueue> => {
    await connections.probe();
    const queue = newQueue();
    queue.on('error', warn);
    try {
      await untilReady(queue, abandoned.signal);
      return queue;
    } catch (error) {
      await queue.close();
      throw error;
    }
  };
  const ready = (): Promise<BackedQueue> => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  /** Runs a command of the queue. Its errors are those of a queue. */
  const command = async <Result>(run: (queue: BackedQueue) => Promise<Result>): Promise<Result> => {
    try {
      return await run(await ready());
    } catch (error) {
      throw toQueueFailure(error);
    }
  };

  return {
    add: (jobs) =>
      command(async (queue) => {
        const [only, ...others] = jobs.map(toBullJob);
        if (!only) return;
        // On PostgreSQL, addBulk creates temporary tables and costs about ten times as much as one add.
        if (others.length === 0) await queue.add(only.name, only.data, only.opts);
        else await queue.addBulk([only, ...others]);
      }),
    countJobs: () =>
      command(async (queue) => {
        const counts = await queue.getJobCounts('waiting', 'active', 'delayed');
        const { waiting = 0, active = 0, delayed = 0 } = counts;
        return { waiting, active, delayed };
      }),
    depth: () =>
      command(async (queue) => {
        const {
          waiting = 0,
          active = 0,
          delayed = 0,
          failed = 0,
        } = await queue.getJobCounts(...JOB_STATES);
        // Newest first, so the oldest is the last: the PostgreSQL backend ignores any other order.
        const last = Math.max(0, waiting - 1);
        const [oldest] = await queue.getJobs('waiting', last, last);
        return { jobs: { waiting, active, delayed, failed }, oldestWaitingMs: oldest?.timestamp };
      }),
    failed: (limit) =>
      command(async (queue) => {
        const found = await queue.getJobs('failed', 0, limit - 1);
        return found.map(({ id, name, attemptsMade, failedReason, finishedOn }) => ({
          id: id ?? '',
          name,
          attempts: attemptsMade,
          error: failedReason ?? 'no reason is known',
          failedMs: finishedOn,
        }));
      }),
    close: async () => {
      if (opened && (await isUnavailable(connections))) abandoned.abort();
      const queue = await opened?.catch(() => undefined);
      await queue?.close();
    },
  };
}

async function isUnavailable(connections: QueueConnections): Promise<boolean> {
  return await connections.probe().then(
    () => false,
    () => true,
  );
}

/**
 * Waits until a queue or worker is connected. A server that became unavailable after it responded to the
 * probe must not keep it waiting.
 * @throws after a time, and when the opening is abandoned
 */
async function untilReady(
  part: Pick<BackedQueue | BackedWorker, 'waitUntilReady'>,
  abandoned: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const timeout = sleep(OPEN_TIMEOUT_MS, AbortSignal.any([abandoned, done.signal]));
  try {
    const isReady = await Promise.race([
      part.waitUntilReady().then(() => true),
      timeout.then(() => false),
    ]);
    if (!isReady) throw new Error(`it was not ready within ${OPEN_TIMEOUT_MS / 1_000} s`);
  } finally {
    done.abort();
  }
}

function toBullJob<Data>({ name, id, data, attempts, backoffMs, delayMs = 0 }: NewJob<Data>) {
  return {
    name,
    data,
    opts: {
      ...KEPT_JOBS,
      ...(id !== undefined && { jobId: id }),
      attempts,
      delay: delayMs,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
    },
  };
}

interface ConsumerParts<Data> {
  readonly queueName: string;
  readonly concurrency: number;
  readonly handle: (job: RunningJob<Data>) => Promise<void>;
  readonly connections: QueueConnections;
  readonly log: Log;
}

/**
 * The backend may become unavailable while a worker closes. Closing the connections ends what is left; until
 * then, the rest of the process must have time to close, too (shutdown.ts).
 */
const CLOSE_LIMIT_MS = 10_000;
/** For a pause that only keeps a worker from claiming more jobs. */
const DO_NOT_WAIT = true;

function createConsumer<Data>(parts: ConsumerParts<Data>): Consumer {
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const handle = (job: RunningJob<Data>): Promise<void> => {
    const done = parts.handle(job).finally(() => running.delete(done));
    running.add(done);
    return done;
  };
  const abandoned = new AbortController();
  const signals = { closing: closing.signal, abandoned: abandoned.signal };
  let isOpen = false;
  const started = startWorker({ ...parts, handle }, signals).finally(() => {
    isOpen = true;
  });
  return {
    close: async () => {
      closing.abort();
      if (!isOpen && (await isUnavailable(parts.connections))) abandoned.abort();
      const worker = await started;
      await worker?.pause(DO_NOT_WAIT);
      await Promise.allSettled(running);
      // BullMQ's close calls the backend, and would wait forever for an unavailable one.
      const isForced = await isUnavailable(parts.connections);
      if (worker) await atMost(CLOSE_LIMIT_MS, worker.close(isForced));
    },
  };
}

/** Creates a worker, and retries until the backend responds (invariant 2). */
async function startWorker<Data>(
  parts: ConsumerParts<Data>,
  { closing, abandoned }: { readonly closing: AbortSignal; readonly abandoned: AbortSignal },
): Promise<BackedWorker | undefined> {
  const { connections, log, queueName } = parts;
  const newWorker = consumerFactory(parts, closing);
  let isLogged = false;
  let delayMs = RETRY_MS;
  while (!closing.aborted) {
    let worker: BackedWorker | undefined;
    try {
      await connections.probe();
      worker = newWorker();
      const warn = (error: Error) =>
        log.warn({ error: toQueueFailure(error), queueName }, 'queue.consumer_error');
      worker.on('error', warn);
      await untilReady(worker, abandoned);
      log.info({ queueName, backend: connections.name }, 'queue.consumer_ready');
      // A worker that was created while the consumer closes must not start.
      if (!closing.aborted) worker.run().catch(warn);
      return worker;
    } catch (error) {
      if (!isLogged && !closing.aborted) {
        log.warn({ error: toQueueFailure(error), queueName }, 'queue.backend_unavailable');
        isLogged = true;
      }
      await worker?.close(true);
      await sleep(delayMs, closing);
      delayMs = Math.min(MAX_RETRY_MS, 2 * delayMs);
    }
  }
  return undefined;
}

function consumerFactory<Data>(parts: ConsumerParts<Data>, closing: AbortSignal) {
  const { queueName, concurrency, handle, connections } = parts;
  const processor = async (job: BackedJob<Data>, token?: string): Promise<void> => {
    if (closing.aborted) {
      // BullMQ fetches a job when it completes the previous one, or when its wait is interrupted, and
      // may have requested this one before it was paused.
      await job.moveToWait(token);
      throw new WaitingError();
    }
    await handle({
      name: job.name,
      data: job.data,
      wasAbandoned: job.stalledCounter > 0,
      isLastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
    });
  };
  const options = {
    autorun: false,
    concurrency,
    runRetryDelay: RETRY_MS,
    maxStalledCount: MAX_STALLED_COUNT,
  };
  return workerFactory({ queueName, processor, connections, options, closing });
}
