/**
 * From the outbox to messages, in one transaction: what is taken out is written down for every
 * channel that wants it, or not taken. How it is gathered is decided in domain/message.ts.
 *
 * The outbox waits while a storm is gathered, not the transactions that write into it.
 */

import type { Severity } from '../alerts/domain/alert.ts';
import { setPace, type TakenRow, takeOutbox, takePace } from '../alerts/store/outbox.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import {
  type ChannelName,
  type Content,
  composeFor,
  type Saying,
  STORM_PAUSE_MS,
  WINDOW_MS,
} from './domain/message.ts';
import { countSingles, insertMessages, type NewMessage } from './store/messages.ts';

/** A channel that alerts are said on, and the least severity that it wants. */
export interface Subscription {
  readonly channel: ChannelName;
  readonly severity: Severity;
}

export interface DispatchParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly subscriptions: readonly Subscription[];
  readonly newMessageId: () => string;
}

/** Rows of one take. More than that is left for the next, which comes within seconds or a minute. */
const TAKE_ROWS = 20_000;
const CALM_PAUSE_MS = 1_000;

/** Turns what waits into messages. Returns the channels that have something new. */
export function dispatchAlerts(parts: DispatchParts): Promise<ReadonlySet<ChannelName>> {
  const { db, clock, newMessageId } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  return db.transaction(async (tx) => {
    if (!(await takePace(tx, now))) return new Set();
    const taken = await takeOutbox(tx, TAKE_ROWS);
    if (taken.length === 0) return new Set();
    const singles = await countSingles(tx, new Date(nowMs - WINDOW_MS));
    const sayings = taken.filter((row) => !isSnoozed(row, nowMs)).map(sayingOf);
    const composed = parts.subscriptions.flatMap(({ channel, severity }) =>
      composeFor({ channel, severity, recentSingles: singles.get(channel) ?? 0 }, sayings).map(
        (content): NewMessage => ({
          id: newMessageId(),
          channel,
          content,
          stream: streamOf(channel, content),
        }),
      ),
    );
    await insertMessages(tx, composed, now);
    const isStorm = composed.some(({ content }) => isGathered(content));
    await setPace(tx, new Date(nowMs + (isStorm ? STORM_PAUSE_MS : CALM_PAUSE_MS)));
    return new Set(composed.map(({ channel }) => channel));
  });
}

/** An alert must not be said to be over before it was said to be. */
function streamOf(channel: ChannelName, content: Content): string | undefined {
  return content.kind === 'alert' ? `${channel}/alert:${content.alert.alertId}` : undefined;
}

function isGathered({ kind }: Content): boolean {
  return kind === 'alerts';
}

function isSnoozed({ snoozedUntil }: TakenRow, nowMs: number): boolean {
  return snoozedUntil !== null && snoozedUntil.getTime() > nowMs;
}

function sayingOf({ currency, amountMinor, snoozedUntil: _, ...row }: TakenRow): Saying {
  return {
    ...row,
    deadlineAt: row.deadlineAt?.toISOString() ?? null,
    openedAt: row.openedAt.toISOString(),
    resolvedAt: row.resolvedAt?.toISOString() ?? null,
    money: currency === null || amountMinor === null ? null : { currency, amountMinor },
  };
}
