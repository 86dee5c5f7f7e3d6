/**
 * Acknowledges, snoozes and assigns alerts for people. None of it resolves an alert with a condition: it
 * is resolved when the condition no longer holds.
 */
import type { Queryable } from '../platform/db/database.ts';
import { DAY_MS } from '../platform/time.ts';
import {
  type AlertRow,
  type Assignment,
  markAcknowledged,
  markAssigned,
  markSnoozed,
  readAlert,
  type Snooze,
} from './store/alertRows.ts';

export type Acknowledged =
  | { readonly outcome: 'done'; readonly alert: AlertRow }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'resolved' | 'already'; readonly alert: AlertRow };

/**
 * Acknowledges an open alert.
 * @param acknowledgement who acknowledges it, and what they do about it; neither is empty
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

/** Of a snooze or an assignment. */
export type ChangedAlert =
  | { readonly outcome: 'done' | 'resolved'; readonly alert: AlertRow }
  | { readonly outcome: 'unknown' };

/** A longer snooze would be forgotten: accept the finding or acknowledge the alert instead. */
export const LONGEST_SNOOZE_MS = 30 * DAY_MS;

/**
 * Mutes an alert until a time. A later snooze replaces an earlier one.
 * @param snooze `until` in the future, at most LONGEST_SNOOZE_MS ahead
 */
export async function snoozeAlert(
  db: Queryable,
  id: number,
  snooze: Snooze,
): Promise<ChangedAlert> {
  return await changedOrNot(db, id, await markSnoozed(db, id, snooze));
}

/** Assigns an alert to a person, in place of an earlier one. It notifies as before. */
export async function assignAlert(
  db: Queryable,
  id: number,
  assignment: Assignment,
): Promise<ChangedAlert> {
  return await changedOrNot(db, id, await markAssigned(db, id, assignment));
}

/** @param changed undefined: it is resolved or unknown */
async function changedOrNot(
  db: Queryable,
  id: number,
  changed: AlertRow | undefined,
): Promise<ChangedAlert> {
  if (changed) return { outcome: 'done', alert: changed };
  const alert = await readAlert(db, id);
  return alert ? { outcome: 'resolved', alert } : { outcome: 'unknown' };
}
