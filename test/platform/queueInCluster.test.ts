/**
 * A worker connects while its Redis Cluster lacks the primary of the queue. ioredis never settles
 * the promise of that attempt, and connects by itself later.
 */
import { Cluster } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createQueueBackend, createRedisConnections } from '../../src/platform/queue/index.ts';
import { silentLog } from '../support/database.ts';
import {
  holderOf,
  type RedisFleet,
  replicasOf,
  startRedisCluster,
} from '../support/redisFleets.ts';
import { waitFor } from '../support/waitFor.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

describe.skipIf(inject('redisUrl') === undefined)('a worker in a Redis Cluster', () => {
  let fleet: RedisFleet;
  beforeAll(async () => {
    fleet = await startRedisCluster();
  });
  afterAll(() => fleet?.stop());

  test('that lacked the primary of its queue claims jobs again', async () => {
    const { queues, handled } = await startWorker(fleet);
    const repair = await breakWhileConnecting(fleet);
    await repair();
    const producer = queues.producer('events');
    cleanups.push(() => producer.close());
    await producer.add([{ name: 'order', data: { n: 2 }, attempts: 1, backoffMs: 1 }]);
    await waitFor('the job to be handled', () => handled.includes(2));
  });

  test('that lacks the primary of its queue closes', async () => {
    const { consumer } = await startWorker(fleet);
    await breakWhileConnecting(fleet);
    await consumer.close();
  });
});

/** Starts a worker, and waits until it has finished a job. */
async function startWorker(fleet: RedisFleet) {
  const connections = createRedisConnections({ url: fleet.url, prefix: 'shop' }, silentLog);
  const queues = createQueueBackend(connections, silentLog);
  cleanups.push(() => queues.close());
  const handled: number[] = [];
  const consumer = queues.consumer<{ readonly n: number }>('events', 1, ({ data }) => {
    handled.push(data.n);
    return Promise.resolve();
  });
  cleanups.push(() => consumer.close());
  const producer = queues.producer('events');
  await producer.add([{ name: 'order', data: { n: 1 }, attempts: 1, backoffMs: 1 }]);
  await waitFor('the first job to be handled', () => handled.includes(1));
  await waitFor('the worker to wait for the next job', async () => {
    const { waiting, active } = await producer.countJobs();
    return waiting + active === 0;
  });
  await producer.close();
  return { queues, consumer, handled };
}

/**
 * Makes the holder of the queue hang, so that BullMQ opens the connection of the waiting worker again, and kills
 * it with its replica just before. Resolves when the attempt to connect has failed. @returns what repairs both
 */
async function breakWhileConnecting(fleet: RedisFleet): Promise<() => Promise<void>> {
  const holder = await holderOf(fleet, '{shop:events}:events:meta');
  const [replica] = await replicasOf(fleet, holder);
  let killed: Promise<void> | undefined;
  const disconnect = Cluster.prototype.disconnect;
  const spy = vi.spyOn(Cluster.prototype, 'disconnect').mockImplementation(function (
    this: Cluster,
    isRetried?: boolean,
  ) {
    killed ??= holder.kill();
    disconnect.call(this, isRetried);
  });
  cleanups.push(() => spy.mockRestore());
  await replica?.kill();
  holder.hang();
  await waitFor('an attempt to connect to fail', () => spy.mock.calls.some(([again]) => again));
  expect(replica).toBeDefined();
  return async () => {
    await killed;
    await holder.restart();
    await replica?.restart();
    await fleet.untilHealthy();
  };
}
