/** A process stops although its queue became unavailable while the process was connecting to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createRedisConnections } from '../../src/platform/queue/connections.ts';
import { createQueueBackend, type QueueBackend } from '../../src/platform/queue/queue.ts';
import { redisDatabaseOf } from '../support/redisDatabases.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';

const redisUrl = redisDatabaseOf('queueClose');
/** Each part connects within about so many milliseconds. */
const CONNECTED_WITHIN_MS = 40;

interface Part {
  close(): Promise<void>;
}

/** Starts a part that connects to the queue. */
type Start = (queues: QueueBackend) => Part;

const check: Start = (queues) => {
  const checked = queues.check().catch(() => undefined);
  return {
    close: async () => {
      await queues.close();
      await checked;
    },
  };
};

const consumer: Start = (queues) => queues.consumer('events', 1, async () => undefined);

const producer: Start = (queues) => {
  const opened = queues.producer('events');
  const counted = opened.countJobs().catch(() => undefined);
  return {
    close: async () => {
      await opened.close();
      await counted;
    },
  };
};

describe.skipIf(redisUrl === undefined)(
  redisUrl === undefined
    ? 'a stop of an unavailable queue: SKIPPED: no redis-server'
    : 'a stop of a queue that became unavailable',
  () => {
    test.each([
      ['its first check', check],
      ['the opening of a consumer', consumer],
      ['the opening of a producer', producer],
    ])('ends whenever that was during %s', async (_, start) => {
      const log = createLog('silent');
      for (let afterMs = 0; afterMs < CONNECTED_WITHIN_MS; afterMs += 1) {
        const proxy = await startTcpProxy(redisUrl ?? '');
        const queues = createQueueBackend(createRedisConnections({ url: proxy.url }, log), log);
        const part = start(queues);
        await sleep(afterMs);
        proxy.refuse();
        await part.close();
        await queues.close();
        await proxy.close();
      }
    });
  },
);
