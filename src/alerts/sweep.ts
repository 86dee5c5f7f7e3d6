/**
 * The sweep of messages: announces every channel that has something due, whatever became of earlier
 * announcements; gives up messages to channels that are no longer set, which nobody else does; and
 * forgets messages that were settled long ago.
 */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Producer } from '../platform/queue/index.ts';
import { GIVE_UP_AFTER_MS } from './domain/retry.ts';
import { type AlertsJob, announceDue } from './jobs.ts';
import { deleteSettled, giveUpAbandoned, readDueChannels } from './store/messages.ts';

/** A receiver that wants to know what it was sent may ask for so long. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const ROWS = 5_000;
/** Whoever tries a message gives it up before. */
const ABANDONED_MS = GIVE_UP_AFTER_MS + 24 * 60 * 60 * 1000;

export interface MessageSweepParts {
  readonly db: Database;
  readonly producer: Producer<AlertsJob>;
  readonly clock: Clock;
}

export async function sweepMessages({ db, producer, clock }: MessageSweepParts): Promise<void> {
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  await deleteSettled(db, { before: new Date(nowMs - KEEP_MS), limit: ROWS });
  await giveUpAbandoned(db, { before: new Date(nowMs - ABANDONED_MS), now, limit: ROWS });
  const channels = await readDueChannels(db, now);
  await announceDue(
    producer,
    channels.map((channel) => ({ channel })),
  );
}
