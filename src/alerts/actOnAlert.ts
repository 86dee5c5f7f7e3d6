/**
 * What people do about an alert: say that they deal with it, or have nothing said of it for a while.
 * Neither ends what has a condition: that ends when its condition does.
 */
import type { Queryable } from '../platform/db/database.ts';
import { type AlertRow, markAcknowledged, markSnoozed, readAlert } from './store/reading.ts';

export type Acknowledged =
  | { readonly outcome: 'done'; readonly alert: AlertRow }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'resolved' | 'already'; readonly alert: AlertRow };

/**
 * Acknowledges an open alert.
 * @param acknowledgement who, and what they do about it; neither empty
 */
export async function acknowledgeAlert(
  db: Queryable,
  id: number,
  acknowledgement: { readonly by: string; readonly reason: string },
): Promise<Acknowledged> {
  const done = await markAcknowledged(db, id, acknowledgement);
  if (done) return { outcome: 'done', alert: done };
  const alert = await readAlert(db, id);
  if (!alert) return { outcome: 'unknown' };
  return { outcome: alert.acknowledgedAt === null ? 'resolved' : 'already', alert };
}

export type Snoozed =
  | { readonly outcome: 'done'; readonly alert: AlertRow }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'resolved'; readonly alert: AlertRow };

/** What is put off for longer than this is forgotten: accept its finding, or acknowledge it. */
export const LONGEST_SNOOZE_MS = 30 * 24 * 60 * 60_000;

/**
 * Has nothing said of an alert until a time; another snooze takes its place.
 * @param snooze `until` in the future, at most LONGEST_SNOOZE_MS ahead
 */
export async function snoozeAlert(
  db: Queryable,
  id: number,
  snooze: { readonly by: string; readonly until: Date },
): Promise<Snoozed> {
  const done = await markSnoozed(db, id, snooze);
  if (done) return { outcome: 'done', alert: done };
  const alert = await readAlert(db, id);
  return alert ? { outcome: 'resolved', alert } : { outcome: 'unknown' };
}
