/**
 * The sweep of messages: announces every channel that has something due, whatever became of earlier
 * announcements; forgets messages that were settled long ago; and ends what nobody else does of
 * channels that are no longer set: their messages are given up, and they are not reported any more.
 */

import { settleAlerts } from '../alerts/raise.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Producer } from '../platform/queue/index.ts';
import { channelSettled } from './domain/channel.ts';
import type { ChannelName } from './domain/message.ts';
import { GIVE_UP_AFTER_MS } from './domain/retry.ts';
import { type AlertsJob, announceDue } from './jobs.ts';
import { deleteOtherHealth } from './store/channelHealth.ts';
import { deleteSettled, giveUpAbandoned, readDueChannels } from './store/messages.ts';

/** A receiver that wants to know what it was sent may ask for so long. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const ROWS = 5_000;

export interface MessageSweepParts {
  readonly db: Database;
  readonly producer: Pick<Producer<AlertsJob>, 'add'>;
  readonly clock: Clock;
  /** Those that are set. What is due to one of them is tried, however old it is. */
  readonly channels: readonly ChannelName[];
}

export async function sweepMessages(parts: MessageSweepParts): Promise<void> {
  const { db, producer, clock, channels } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  await deleteSettled(db, { before: new Date(nowMs - KEEP_MS), limit: ROWS });
  const before = new Date(nowMs - GIVE_UP_AFTER_MS);
  await giveUpAbandoned(db, { channels, before, now, limit: ROWS });
  await db.transaction(async (tx) => {
    const gone = await deleteOtherHealth(tx, channels);
    await settleAlerts(
      tx,
      gone.map((channel) => channelSettled(channel, undefined)),
    );
  });
  const due = await readDueChannels(db, now);
  await announceDue(
    producer,
    due.map((channel) => ({ channel })),
  );
}
