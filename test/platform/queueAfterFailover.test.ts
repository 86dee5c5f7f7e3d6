/** A Redis behind one address, as of a load balancer or a name, that leads to another server after a failover. */
import { afterEach, describe, expect, inject, test } from 'vitest';
import { createQueueBackend, createRedisConnections } from '../../src/platform/queue/index.ts';
import { silentLog } from '../support/database.ts';
import { startRedisServer } from '../support/redisServer.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';
import { waitFor } from '../support/waitFor.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function startServer() {
  const server = await startRedisServer();
  cleanups.push(() => server.stop());
  return server;
}

describe.skipIf(inject('redisUrl') === undefined)('Redis behind one address', () => {
  test('is used again when a primary was demoted and keeps its connections', async () => {
    const [demoted, promoted] = [await startServer(), await startServer()];
    const proxy = await startTcpProxy(demoted.url);
    cleanups.push(() => proxy.close());
    const queues = createQueueBackend(
      createRedisConnections({ url: proxy.url }, silentLog),
      silentLog,
    );
    cleanups.push(() => queues.close());
    const producer = queues.producer<{ readonly id: number }>('events');
    cleanups.push(() => producer.close());
    const add = (id: number) =>
      producer.add([{ name: 'job', data: { id }, attempts: 1, backoffMs: 0 }]);
    await add(1);

    proxy.retarget(promoted.url);
    await demoted.command('replicaof', '127.0.0.1', String(promoted.port));
    await expect(add(2)).rejects.toThrow('READONLY');
    await waitFor(
      'a job to be added',
      () =>
        add(3).then(
          () => true,
          () => false,
        ),
      10_000,
    );
    expect(await producer.countJobs()).toMatchObject({ waiting: 1 });
  });
});
