/** A Redis of the user: used only if it has no data of ours, and left unchanged. */
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { EVENTS_QUEUE } from '../src/ledger/inbox/jobs.ts';
import type { Cleanup } from './cleanup.ts';

export async function borrowRedis(url: string, cleanup: Cleanup): Promise<void> {
  const connection = new Redis(url, { maxRetriesPerRequest: 1 });
  connection.on('error', () => undefined);
  cleanup.add(() => connection.disconnect());
  if ((await connection.exists(`bull:${EVENTS_QUEUE}:meta`)) > 0) {
    throw new Error('this Redis holds a queue of Tallyhook already; lend the bench another');
  }
  const queue = new Queue(EVENTS_QUEUE, { connection });
  cleanup.add(async () => {
    await queue.obliterate({ force: true });
    await queue.close();
  });
}
