/**
 * Job queues over BullMQ, the only place that knows which backend carries them: Redis where a
 * REDIS_URL is set, else the PostgreSQL that is there anyway.
 *
 * 1. A queue is a hint. Lost jobs are enqueued again from PostgreSQL, so adding may fail and
 *    jobs may run twice; nothing here may be needed for correctness.
 * 2. Producers and consumers are made only once the backend answers, and anew if that fails: one
 *    that BullMQ builds while PostgreSQL is down stays dead for ever, silently.
 * 3. Jobs carry ids, never bodies: what stands in a queue is clear text.
 */
import {
  createPostgresBackend,
  type JobProgress,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  WaitingError,
  Worker,
} from 'bullmq';
import { toError } from '../errors.ts';
import type { Log } from '../log.ts';
import { pause } from '../pause.ts';
import type { QueueConnections } from './connections.ts';

export interface NewJob<Data> {
  readonly name: string;
  /** A job with the id of one that waits or runs is not added again; no integer, and no colon in it. */
  readonly id?: string;
  readonly data: Data;
  /** How often it is tried; between tries it waits ever longer, with jitter. */
  readonly attempts: number;
  readonly backoffMs: number;
  /** How long nobody is to take it; not at all when left out. */
  readonly delayMs?: number;
}

export interface RunningJob<Data> {
  readonly name: string;
  readonly data: Data;
  /** It was started before and its process did not live to say how it ended. */
  readonly wasAbandoned: boolean;
  /** If it fails now, the queue does not try it again. */
  readonly isLastAttempt: boolean;
}

export interface Producer<Data> {
  /** Adds jobs. Throws when the backend is away. */
  add(jobs: readonly NewJob<Data>[]): Promise<void>;
  /** Jobs that wait to be taken. Throws when the backend is away. */
  countWaiting(): Promise<number>;
  close(): Promise<void>;
}

export interface MeasuredQueue {
  /** How deep the queue is. Throws when the backend is away. */
  depth(): Promise<QueueDepth>;
}

export const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

export interface QueueDepth {
  /** `delayed` jobs are between two tries; `failed` ones had all of theirs. */
  readonly jobs: Readonly<Record<(typeof JOB_STATES)[number], number>>;
  /** When the job that is next to be taken was added, in milliseconds since 1970. */
  readonly oldestWaitingMs: number | undefined;
}

export interface Consumer {
  /** Lets running jobs finish, takes no new ones. */
  close(): Promise<void>;
}

export interface QueueBackend {
  readonly name: 'redis' | 'postgres';
  /** Throws unless the backend answers. */
  probe(): Promise<void>;
  producer<Data>(queueName: string): Producer<Data> & MeasuredQueue;
  consumer<Data>(
    queueName: string,
    concurrency: number,
    handle: (job: RunningJob<Data>) => Promise<void>,
  ): Consumer;
  close(): Promise<void>;
}

/** What is used of BullMQ's classes, whose types differ by backend. */
type BackedQueue = Pick<
  Queue,
  'add' | 'addBulk' | 'getWaitingCount' | 'getJobCounts' | 'getJobs' | 'close' | 'waitUntilReady'
> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
};
type BackedWorker = Pick<Worker, 'run' | 'close' | 'pause'> & {
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
};

/** A job as a worker hands it over. */
interface BackedJob<Data> {
  readonly name: string;
  readonly data: Data;
  readonly stalledCounter: number;
  /** Attempts that ended; the one under way is not among them. */
  readonly attemptsMade: number;
  readonly opts: { readonly attempts?: number };
  moveToWait(token?: string): Promise<unknown>;
}

/** Finished jobs are gone at once; failed ones stay a week, for whoever looks. */
const KEPT_JOBS = {
  removeOnComplete: true,
  removeOnFail: { count: 1_000, age: 7 * 24 * 3600 },
} as const;

const RETRY_MS = 1_000;
/** A killed process may abandon one job many times; attempts are counted in `pending`, not here. */
const MAX_STALLED_COUNT = 100;

/** Wraps the connections of either backend. */
export function createQueueBackend(connections: QueueConnections, log: Log): QueueBackend {
  return {
    name: connections.name,
    probe: () => connections.probe(),
    producer: (queueName) => createProducer(queueName, connections, log),
    consumer: (queueName, concurrency, handle) =>
      createConsumer({ queueName, concurrency, handle, connections, log }),
    close: () => connections.close(),
  };
}

function createProducer<Data>(
  queueName: string,
  connections: QueueConnections,
  log: Log,
): Producer<Data> & MeasuredQueue {
  let opened: Promise<BackedQueue> | undefined;

  const open = async (): Promise<BackedQueue> => {
    await connections.probe();
    const queue = newQueue(queueName, connections);
    queue.on('error', (error) => log.warn({ error, queueName }, 'queue.producer_error'));
    try {
      await queue.waitUntilReady();
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

  return {
    add: async (jobs) => {
      const queue = await ready();
      const [only, ...others] = jobs.map(toBullJob);
      if (!only) return;
      // Over PostgreSQL a bulk makes temporary tables, which costs some ten times as much as one job.
      if (others.length === 0) await queue.add(only.name, only.data, only.opts);
      else await queue.addBulk([only, ...others]);
    },
    countWaiting: async () => {
      const queue = await ready();
      return queue.getWaitingCount();
    },
    depth: async () => {
      const queue = await ready();
      const {
        waiting = 0,
        active = 0,
        delayed = 0,
        failed = 0,
      } = await queue.getJobCounts(...JOB_STATES);
      // The last of newest first: the backend over PostgreSQL heeds no other order.
      const last = Math.max(0, waiting - 1);
      const [oldest] = await queue.getJobs('waiting', last, last);
      return { jobs: { waiting, active, delayed, failed }, oldestWaitingMs: oldest?.timestamp };
    },
    close: async () => {
      const queue = await opened?.catch(() => undefined);
      await queue?.close();
    },
  };
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

/** For a pause that only keeps a worker from taking more jobs. */
const DO_NOT_WAIT = true;

function createConsumer<Data>(parts: ConsumerParts<Data>): Consumer {
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const handle = (job: RunningJob<Data>): Promise<void> => {
    const done = parts.handle(job).finally(() => running.delete(done));
    running.add(done);
    return done;
  };
  const started = startWorker({ ...parts, handle }, closing.signal);
  return {
    close: async () => {
      closing.abort();
      const worker = await started;
      await worker?.pause(DO_NOT_WAIT);
      // BullMQ takes its leave of the backend, and would wait for one that is away for ever.
      const isAway = await parts.connections.probe().then(
        () => false,
        () => true,
      );
      if (isAway) await Promise.allSettled(running);
      await worker?.close(isAway);
    },
  };
}

/** Builds a worker, again and again until the backend answers (invariant 2). */
async function startWorker<Data>(
  parts: ConsumerParts<Data>,
  closing: AbortSignal,
): Promise<BackedWorker | undefined> {
  const { connections, log, queueName } = parts;
  let isSaid = false;
  while (!closing.aborted) {
    let worker: BackedWorker | undefined;
    try {
      await connections.probe();
      worker = newWorker(parts, closing);
      const warn = (error: Error) => log.warn({ error, queueName }, 'queue.consumer_error');
      worker.on('error', warn);
      await worker.waitUntilReady();
      log.info({ queueName, backend: connections.name }, 'queue.consumer_ready');
      // Not before whoever closes the consumer has a worker to pause.
      if (!closing.aborted) worker.run().catch(warn);
      return worker;
    } catch (error) {
      if (!isSaid) log.warn({ error: toError(error), queueName }, 'queue.backend_away');
      isSaid = true;
      await worker?.close(true);
      await pause(RETRY_MS, closing);
    }
  }
  return undefined;
}

function newQueue(queueName: string, connections: QueueConnections): BackedQueue {
  return connections.name === 'redis'
    ? new Queue(queueName, { connection: connections.producer() })
    : new Queue(queueName, { connection: connections.pool() }, createPostgresBackend);
}

function newWorker<Data>(parts: ConsumerParts<Data>, closing: AbortSignal): BackedWorker {
  const { queueName, concurrency, handle, connections } = parts;
  const options = {
    autorun: false,
    concurrency,
    runRetryDelay: RETRY_MS,
    maxStalledCount: MAX_STALLED_COUNT,
  };
  const processor = async (job: BackedJob<Data>, token?: string): Promise<void> => {
    if (closing.aborted) {
      // BullMQ fetches a job with the end of the last one, or when its wait for one is interrupted,
      // and may have asked for this one before it was paused.
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
  return connections.name === 'redis'
    ? new Worker(queueName, processor, { ...options, connection: connections.consumer() })
    : new Worker<Data, void, string, PostgresQueueBackend, JobProgress, PostgresConnectionOptions>(
        queueName,
        processor,
        { ...options, connection: connections.pool() },
        createPostgresBackend,
      );
}
