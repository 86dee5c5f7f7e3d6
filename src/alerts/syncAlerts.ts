/**
 * Writes alerts and their notifications in the transaction that causes them, with a few statements for
 * any number of alerts.
 *
 * Callers that state alerts about a resource or an order hold the lock on its row. Alerts about the
 * system may be stated at the same time: one caller opens the alert, and the others find it open.
 */
import type { Queryable } from '../platform/db/database.ts';
import { type Alert, diffAlerts, type SubjectAlerts } from './domain/alert.ts';
import {
  insertAlerts,
  insertOutbox,
  listWritten,
  lockUnresolved,
  type OutboxType,
  resolveAlerts,
  updateAlerts,
} from './store/alerts.ts';

/**
 * Makes the stored alerts about subjects match the active ones: opens new alerts, updates those that
 * stay active, and resolves the others of the evaluated rules. Also writes one-time alerts.
 */
export async function syncAlerts(
  tx: Queryable,
  evaluated: readonly SubjectAlerts[],
): Promise<void> {
  if (evaluated.length === 0) return;
  const unresolved = await lockUnresolved(tx, evaluated);
  const news = evaluated.flatMap((subject) => subject.oneTime ?? []);
  const written = news.length > 0 ? await listWritten(tx, news) : [];
  const { opened, kept, resolved, oneTime } = diffAlerts(evaluated, { unresolved, written });
  if (resolved.length > 0) await resolveAlerts(tx, resolved);
  if (kept.length > 0) await updateAlerts(tx, kept);
  const openIds = opened.length > 0 ? await insertAlerts(tx, opened, 'open') : [];
  const oneTimeIds = oneTime.length > 0 ? await insertAlerts(tx, oneTime, 'resolved') : [];
  await notify(tx, {
    resolved: resolved.filter(({ notifies }) => notifies).map(({ id }) => id),
    opened: [...openIds, ...oneTimeIds],
    reminder: kept.filter(({ notifies }) => notifies).map(({ id }) => id),
  });
}

/**
 * Writes one-time alerts: resolved from the start and notified once. The caller knows by a row that it
 * has locked that they happened just now.
 */
export async function raiseOneTimeAlerts(tx: Queryable, alerts: readonly Alert[]): Promise<void> {
  if (alerts.length === 0) return;
  const caused = alerts.map((alert) => ({ ...alert, causedBy: null }));
  await notify(tx, { opened: await insertAlerts(tx, caused, 'resolved') });
}

/** Enqueues notifications of alerts, by their ids. */
async function notify(
  tx: Queryable,
  alertIds: Readonly<Partial<Record<OutboxType, readonly number[]>>>,
): Promise<void> {
  const entries = OUTBOX_TYPES.flatMap((type) =>
    (alertIds[type] ?? []).map((alertId) => ({ alertId, type })),
  );
  if (entries.length > 0) await insertOutbox(tx, entries);
}

/** Resolutions are sent before new alerts. */
const OUTBOX_TYPES: readonly OutboxType[] = ['resolved', 'opened', 'reminder'];
