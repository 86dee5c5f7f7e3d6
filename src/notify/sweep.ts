/**
 * The sweep of messages. It cleans up after channels that were removed from the settings: their old messages
 * fail, and alerts about them are resolved. It makes messages due that were postponed by a clock which was set
 * back since (retry.ts, rule 6); claims do not look for them, because they read an index of what is due.
 * Retention removes messages that were settled long ago.
 */

import { syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { channelAlerts } from './domain/channel.ts';
import type { ChannelName } from './domain/message.ts';
import { GIVE_UP_AFTER_MS, latestTimes } from './domain/retry.ts';
import { deleteOtherHealth } from './store/channelHealth.ts';
import { endWrongWaits, giveUpAbandoned } from './store/messages.ts';

const ROWS = 5_000;

export interface MessageSweepParts {
  readonly db: Database;
  readonly clock: Clock;
  /** The configured channels. Their due messages are tried, however old. */
  readonly channels: readonly ChannelName[];
}

export async function sweepMessages(parts: MessageSweepParts): Promise<void> {
  const { db, clock, channels } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  const before = new Date(nowMs - GIVE_UP_AFTER_MS);
  await giveUpAbandoned(db, { channels, before, now, limit: ROWS });
  const { pastMs, leaseMs } = latestTimes(nowMs);
  const [latestPast, latestLease] = [new Date(pastMs), new Date(leaseMs)];
  await endWrongWaits(db, { channels, now, latestPast, latestLease, limit: ROWS });
  await db.transaction(async (tx) => {
    const removed = await deleteOtherHealth(tx, channels);
    await syncAlerts(
      tx,
      removed.map((channel) => channelAlerts(channel, undefined)),
    );
  });
}
