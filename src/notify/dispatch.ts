/**
 * Turns notifications in the outbox into messages, in one transaction: a notification is removed from
 * the outbox only together with its messages for every channel. domain/message.ts decides what a
 * message contains.
 *
 * During a burst the notifications wait in the outbox; transactions that write to it never wait.
 */

import { moneyOf, type Severity } from '../alerts/domain/alert.ts';
import {
  claimDispatch,
  claimOutbox,
  type OutboxRow,
  setNextDispatch,
} from '../alerts/store/outbox.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { CLOCK_TOLERANCE_MS } from '../platform/time.ts';
import {
  type ChannelName,
  type Content,
  composeMessages,
  DIGEST_INTERVAL_MS,
  type WaitingNotification,
  WINDOW_MS,
} from './domain/message.ts';
import { countSingles, insertMessages, type NewMessage } from './store/messages.ts';

/** A channel that gets alerts, and its minimum severity. */
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

/** Rows beyond this are left for the next batch, which follows within seconds or a minute. */
const ROWS_PER_BATCH = 20_000;
const DISPATCH_INTERVAL_MS = 1_000;

/** Turns a batch of notifications into messages. Returns the channels with new messages. */
export function dispatchAlerts(parts: DispatchParts): Promise<ReadonlySet<ChannelName>> {
  const { db, clock, newMessageId } = parts;
  const nowMs = clock.nowMs();
  const now = new Date(nowMs);
  const latest = new Date(nowMs + DIGEST_INTERVAL_MS + CLOCK_TOLERANCE_MS);
  return db.transaction(async (tx) => {
    if (!(await claimDispatch(tx, { now, latest }))) return new Set();
    const rows = await claimOutbox(tx, ROWS_PER_BATCH);
    if (rows.length === 0) return new Set();
    const singles = await countSingles(tx, new Date(nowMs - WINDOW_MS));
    const batch = rows.filter((row) => !isSnoozed(row, nowMs)).map(notificationOf);
    const messages = parts.subscriptions.flatMap(({ channel, severity }) =>
      composeMessages({ channel, severity, recentSingles: singles.get(channel) ?? 0 }, batch).map(
        (content): NewMessage => ({
          id: newMessageId(),
          channel,
          content,
          stream: streamOf(channel, content),
        }),
      ),
    );
    await insertMessages(tx, messages, now);
    const hasDigest = messages.some(({ content }) => isDigest(content));
    const intervalMs = hasDigest ? DIGEST_INTERVAL_MS : DISPATCH_INTERVAL_MS;
    await setNextDispatch(tx, new Date(nowMs + intervalMs));
    return new Set(messages.map(({ channel }) => channel));
  });
}

/** The message that an alert is resolved must not overtake the message that it opened. */
function streamOf(channel: ChannelName, content: Content): string | undefined {
  return content.kind === 'alert' ? `${channel}/alert:${content.alert.alertId}` : undefined;
}

function isDigest({ kind }: Content): boolean {
  return kind === 'digest';
}

function isSnoozed({ snoozedUntil }: OutboxRow, nowMs: number): boolean {
  return snoozedUntil !== null && snoozedUntil.getTime() > nowMs;
}

function notificationOf({ detail, snoozedUntil: _, ...row }: OutboxRow): WaitingNotification {
  return {
    ...row,
    writtenAt: row.writtenAt.toISOString(),
    deadlineAt: row.deadlineAt?.toISOString() ?? null,
    openedAt: row.openedAt.toISOString(),
    resolvedAt: row.resolvedAt?.toISOString() ?? null,
    money: moneyOf({ detail }),
  };
}
