/** The sweep of the scheduler, a minute early. */
import { EVENTS_QUEUE, type EventsJob } from '../../src/ledger/inbox/jobs.ts';
import { createSweep } from '../../src/ledger/inbox/sweep.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { QueueConnections } from '../../src/platform/queue/connections.ts';
import { createQueueBackend } from '../../src/platform/queue/index.ts';
import { silentLog } from './database.ts';

export async function sweepOverdue(db: Database, connections: QueueConnections): Promise<void> {
  await db.query(`update pending set enqueue_at = now() - interval '1 second'`);
  const backend = createQueueBackend(connections, silentLog);
  const producer = backend.producer<EventsJob>(EVENTS_QUEUE);
  try {
    const { signal } = new AbortController();
    await createSweep({ db, producer, log: silentLog, signal }).overdue();
  } finally {
    await producer.close();
    await backend.close();
  }
}
