/**
 * Writes alerts, and what is to be said of them, in the transaction that causes them. A call takes a
 * handful of statements, however many alerts it is about.
 *
 * Whoever states what stands of a resource or an order holds its row. Statements about the system
 * may be made side by side: then one of them opens the alert, and the others find that it is there.
 */
import type { Queryable } from '../platform/db/database.ts';
import { type Alert, type Settled, settle } from './domain/alert.ts';
import {
  insertAlerts,
  insertOutbox,
  lockCurrent,
  type Occasion,
  resolveAlerts,
  updateAlerts,
} from './store/alerts.ts';

/**
 * What stands about subjects now, by the rules named: opens what is new, brings up to date what goes
 * on, and resolves what stands no longer. News about the subjects is told with it.
 */
export async function settleAlerts(tx: Queryable, settled: readonly Settled[]): Promise<void> {
  if (settled.length === 0) return;
  const { opened, kept, resolved, news } = settle(settled, await lockCurrent(tx, settled));
  if (resolved.length > 0) await resolveAlerts(tx, resolved);
  if (kept.length > 0) await updateAlerts(tx, kept);
  const created = opened.length > 0 ? await insertAlerts(tx, opened, 'open') : [];
  const told = news.length > 0 ? await insertAlerts(tx, news, 'resolved') : [];
  await say(tx, {
    resolved: resolved.filter(({ isSaid }) => isSaid).map(({ id }) => id),
    opened: [...created, ...told],
    reminder: kept.filter(({ isSaid }) => isSaid).map(({ id }) => id),
  });
}

/**
 * News that calls for nothing more: kept as resolved from the start, and said once. The caller knows
 * by a row it has locked that it happened just now.
 */
export async function tellNews(tx: Queryable, news: readonly Alert[]): Promise<void> {
  if (news.length === 0) return;
  await say(tx, { opened: await insertAlerts(tx, news, 'resolved') });
}

/** Hands alerts, by their numbers, to the channels. */
async function say(
  tx: Queryable,
  said: Readonly<Partial<Record<Occasion, readonly number[]>>>,
): Promise<void> {
  const entries = OCCASIONS.flatMap((occasion) =>
    (said[occasion] ?? []).map((alertId) => ({ alertId, occasion })),
  );
  if (entries.length > 0) await insertOutbox(tx, entries);
}

/** What is over is said before what is new. */
const OCCASIONS: readonly Occasion[] = ['resolved', 'opened', 'reminder'];
