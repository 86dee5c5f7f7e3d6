/**
 * Creates BullMQ's queues and workers over either backend. A queue or worker that failed to open is
 * replaced by a new one over the same connection, so that retries open no further connections.
 */
import {
  createPostgresBackend,
  type JobProgress,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { atMost, sleep } from '../sleep.ts';
import type { QueueConnections } from './connections.ts';
import type { RedisClient } from './redisClient.ts';

/** The used part of BullMQ's classes, which have different types for each backend. */
export type BackedQueue = Pick<
  Queue,
  | 'add'
  | 'addBulk'
  | 'getJob'
  | 'getWaitingCount'
  | 'getJobCounts'
  | 'getJobs'
  | 'close'
  | 'waitUntilReady'
> & {
  on(event: 'error', listener: (error: Error) => void): unknown;
};
export type BackedWorker = Pick<Worker, 'run' | 'close' | 'pause' | 'getNextJob'> & {
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  getBackend(): Claiming;
};

/** The calls by which a worker gets its next job, and opens and closes the connection on which it waits. */
type Claiming = Pick<
  PostgresQueueBackend,
  'moveToActive' | 'waitForJob' | 'disconnectBlocking' | 'reconnectBlocking'
>;

/** A job as BullMQ passes it to a processor. */
export interface BackedJob<Data> {
  readonly name: string;
  readonly data: Data;
  readonly stalledCounter: number;
  /** Finished attempts, without the current one. */
  readonly attemptsMade: number;
  readonly opts: { readonly attempts?: number };
  moveToWait(token?: string): Promise<unknown>;
}

/** Null for a worker that claims only on request. */
export type Processor<Data> = ((job: BackedJob<Data>, token?: string) => Promise<void>) | null;

/** Returns a function that creates the queue, each time over the same connection. */
export function queueFactory(
  queueName: string,
  connections: QueueConnections,
  options: Omit<QueueOptions, 'connection'> = {},
): () => BackedQueue {
  if (connections.name === 'postgres') {
    const connection = connections.pool();
    return () => new Queue(queueName, { ...options, connection }, createPostgresBackend);
  }
  const prefix = connections.prefixOf(queueName);
  let client: RedisClient | undefined;
  return () => {
    client ??= connections.producer();
    return new Queue(queueName, { ...options, prefix, connection: client });
  };
}

export interface WorkerInput<Data> {
  readonly queueName: string;
  readonly processor: Processor<Data>;
  readonly connections: QueueConnections;
  readonly options: Omit<WorkerOptions, 'connection'>;
  /** Ends a wait before a retry. */
  readonly closing: AbortSignal;
}

/** Returns a function that creates the worker, each time over the same connection. */
export function workerFactory<Data>(input: WorkerInput<Data>): () => BackedWorker {
  const { closing, connections, options, processor, queueName } = input;
  if (connections.name === 'postgres') {
    const connection = connections.pool();
    return () =>
      guard(
        new Worker<
          Data,
          void,
          string,
          PostgresQueueBackend,
          JobProgress,
          PostgresConnectionOptions
        >(queueName, processor, { ...options, connection }, createPostgresBackend),
        closing,
      );
  }
  const prefix = connections.prefixOf(queueName);
  let client: RedisClient | undefined;
  return () => {
    client ??= connections.consumer();
    return guard(
      new Worker(queueName, processor, { ...options, prefix, connection: client }),
      closing,
    );
  };
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5_000;

/** How long a worker waits for its connection to open or close. */
const RECONNECT_LIMIT_MS = 5_000;

/**
 * Keeps a worker from two faults of BullMQ:
 *
 * 1. It repeats a refused claim at once: over a backend that refuses every command, a worker would keep a core
 *    busy and report 10,000 errors a second. So the worker waits after each failure to get a job.
 * 2. It waits without a limit until its connection has opened or closed. ioredis never settles that promise
 *    if a Cluster lacks the primary of some slots while the client connects, although the client connects
 *    later, nor if it stops between two attempts. Such a worker would claim nothing and never close.
 */
function guard(worker: BackedWorker, closing: AbortSignal): BackedWorker {
  const backend = worker.getBackend();
  let failures = 0;
  const slowed =
    <Args extends unknown[], Result>(claim: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const result = await claim(...args);
        failures = 0;
        return result;
      } catch (error) {
        const delayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
        failures += 1;
        await sleep(delayMs, closing);
        throw error;
      }
    };
  const limited =
    <Args extends unknown[]>(change: (...args: Args) => Promise<void>) =>
    (...args: Args): Promise<void> =>
      atMost(RECONNECT_LIMIT_MS, change(...args));
  backend.moveToActive = slowed(backend.moveToActive.bind(backend));
  backend.waitForJob = slowed(backend.waitForJob.bind(backend));
  backend.disconnectBlocking = limited(backend.disconnectBlocking.bind(backend));
  backend.reconnectBlocking = limited(backend.reconnectBlocking.bind(backend));
  return worker;
}
