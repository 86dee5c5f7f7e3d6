/** A process stops although its queue became unavailable while the process was connecting to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inject, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createRedisConnections } from '../../src/platform/queue/connections.ts';
import { createQueueBackend } from '../../src/platform/queue/queue.ts';
import { startTcpProxy } from '../support/tcpProxy.ts';

const redisUrl = inject('redisUrl');
/** The first check connects within about so many milliseconds. */
const CONNECTED_WITHIN_MS = 40;

test.skipIf(redisUrl === undefined)(
  redisUrl === undefined
    ? 'a backend closes whenever its server became unavailable: SKIPPED: no redis-server'
    : 'a backend closes whenever its server became unavailable during the first check',
  async () => {
    const log = createLog('silent');
    for (let afterMs = 0; afterMs < CONNECTED_WITHIN_MS; afterMs += 1) {
      const proxy = await startTcpProxy(`${redisUrl}/15`);
      const queues = createQueueBackend(createRedisConnections(proxy.url, log), log);
      const check = queues.check().catch(() => undefined);
      await sleep(afterMs);
      proxy.refuse();
      await queues.close();
      await check;
      await proxy.close();
    }
  },
);
