/**
 * The sweep of messages. It cleans up after channels that were removed from the settings: their old messages
 * fail, and alerts about them are resolved. The process that delivers has settings of its own, so a channel counts
 * as removed when no process that delivers has it, or, where that is not known, while nobody tries it: a process that
 * lacks the channel must not end what another one reports. It makes messages due that were postponed by a clock which
 * was set back since (retry.ts, rule 6); claims do not look for them, because they read an index of what is due.
 * Retention removes messages that were settled long ago.
 */

import { syncAlerts } from '../alerts/syncAlerts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { channelAlerts } from './domain/channel.ts';
import { CHANNELS, type ChannelName } from './domain/message.ts';
import { GIVE_UP_AFTER_MS, latestTimes, TRIED_WITHIN_MS } from './domain/retry.ts';
import { deleteHealthOf, readUntriedChannels } from './store/channelHealth.ts';
import { endWrongWaits, giveUpAbandoned } from './store/messages.ts';

const ROWS = 5_000;

export interface MessageSweepParts {
  readonly db: Database;
  readonly clock: Clock;
  /** The configured channels. Their due messages are tried, however old. */
  readonly channels: readonly ChannelName[];
  /** The channels of all processes that deliver; undefined if that is not known. */
  readonly readSentChannels: () => Promise<readonly string[] | undefined>;
}

export async function sweepMessages(parts: MessageSweepParts): Promise<void> {
  const { db, clock, channels } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  const before = new Date(nowMs - GIVE_UP_AFTER_MS);
  const triedAt = new Date(nowMs - TRIED_WITHIN_MS);
  const untried = await readUntriedChannels(db, { others: channels, since: triedAt });
  const removed = [...new Set([...untried, ...(await readRemoved(parts))])];
  await giveUpAbandoned(db, { channels: removed, before, now, limit: ROWS });
  const { pastMs, leaseMs } = latestTimes(nowMs);
  const [latestPast, latestLease] = [new Date(pastMs), new Date(leaseMs)];
  await endWrongWaits(db, { channels, now, latestPast, latestLease, limit: ROWS });
  await db.transaction(async (tx) => {
    const ended = await deleteHealthOf(tx, removed);
    await syncAlerts(
      tx,
      ended.map((channel) => channelAlerts(channel, undefined)),
    );
  });
}

async function readRemoved(parts: MessageSweepParts): Promise<readonly ChannelName[]> {
  const sent = await parts.readSentChannels();
  if (sent === undefined) return [];
  return CHANNELS.filter((name) => !parts.channels.includes(name) && !sent.includes(name));
}
