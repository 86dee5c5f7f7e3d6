/**
 * Proves that a queue works: adds a job to a queue of its own, claims it and finishes it, with the
 * commands that real jobs use.
 *
 * 1. All processes share the queue `probe`. A process finishes every job that it claims, so that a job
 *    of a killed process does not stay. Another process may finish this one's job.
 * 2. A finished job is removed, and the queue keeps only its last events.
 */
import { randomUUID } from 'node:crypto';
import { type BackedQueue, type BackedWorker, queueFactory, workerFactory } from './bull.ts';
import type { QueueConnections } from './connections.ts';
import { QUEUES } from './names.ts';

const KEPT_EVENTS = 10;
/** More jobs than processes leave behind. */
const MAX_CLAIMED = 100;

export interface QueueProbe {
  /** Throws unless a job can be added, claimed and finished. */
  run(): Promise<void>;
  close(): Promise<void>;
}

interface Opened {
  readonly queue: BackedQueue;
  readonly worker: BackedWorker;
}

export function createQueueProbe(connections: QueueConnections): QueueProbe {
  // Already aborted: a probe that fails is repeated by its schedule, and must not wait before.
  const closing = AbortSignal.abort();
  const newQueue = queueFactory(QUEUES.probe, connections, {
    streams: { events: { maxLen: KEPT_EVENTS } },
  });
  const newWorker = workerFactory<object>({
    queueName: QUEUES.probe,
    processor: null,
    connections,
    options: { autorun: false },
    closing,
  });
  let opened: Promise<Opened> | undefined;
  /** Set before it is connected. */
  let current: Opened | undefined;

  const open = async (): Promise<Opened> => {
    const queue = newQueue();
    const worker = newWorker();
    current = { queue, worker };
    // The commands below report the same errors.
    for (const part of [queue, worker]) part.on('error', () => undefined);
    try {
      await queue.waitUntilReady();
      await worker.waitUntilReady();
      return { queue, worker };
    } catch (error) {
      await worker.close(true);
      await queue.close();
      throw error;
    }
  };
  return {
    run: async () => {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      await addClaimAndFinish(await opened);
    },
    close: async () => {
      // Does not wait for the opening: it waits for a server that may have become unavailable.
      await current?.worker.close(true);
      await current?.queue.close();
    },
  };
}

async function addClaimAndFinish({ queue, worker }: Opened): Promise<void> {
  const id = randomUUID();
  await queue.add('probe', {}, { jobId: id, removeOnComplete: true, removeOnFail: true });
  for (let claimed = 0; claimed < MAX_CLAIMED; claimed += 1) {
    const token = randomUUID();
    const job = await worker.getNextJob(token, { block: false });
    if (!job) break;
    await job.moveToCompleted(null, token, false);
    if (job.id === id) return;
  }
  const left = await queue.getJob(id);
  if (left && (await left.getState()) === 'waiting') {
    throw new Error('a job was added, and the queue does not hand it out');
  }
}
