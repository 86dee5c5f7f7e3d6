/**
 * Stores one batch of verified bodies and says of each what became of it.
 *
 * 1. A body is reported only after the transaction that holds it has committed.
 * 2. The first body under an event id stays the event; another one is kept beside it as a variant.
 * 3. Equal ids within a batch are collapsed before they reach the database.
 * 4. A body that was stored earlier is reported only after a commit that covers it: its row may be
 *    visible on a primary that did not live to replicate it.
 */
import type { Database } from '../platform/db/database.ts';
import {
  commitAfterStored,
  insertEvents,
  insertVariant,
  type NewEvent,
  readStoredEvents,
  type StoredEvent,
} from './store/inbox.ts';

export type Stored =
  /** New; `announce` names the inbox row to tell the workers of. */
  | { readonly outcome: 'accepted'; readonly announce: number }
  /** The same bytes under the same id are there already. */
  | { readonly outcome: 'duplicate' }
  /** Other bytes under a known id; `announce` is set when they were new. */
  | { readonly outcome: 'id_reused'; readonly announce: number | undefined };

/** Stores `events`; the result has one entry for each, in their order. */
export async function storeBatch(
  db: Database,
  events: readonly NewEvent[],
  receivedAt: Date,
): Promise<readonly Stored[]> {
  const firsts = new Map<string, NewEvent>();
  for (const event of events) {
    const name = nameOf(event);
    if (!firsts.has(name)) firsts.set(name, event);
  }
  const inserted = await insertEvents(db, [...firsts.values()], receivedAt);
  const known = new Map(inserted.map((row) => [nameOf(row), row]));
  const missing = [...firsts.values()].flatMap(({ eventId }) =>
    eventId !== undefined && !known.has(`id:${eventId}`) ? [eventId] : [],
  );
  const earlier = missing.length > 0 ? await readStoredEvents(db, missing) : [];
  const fresh = new Set(inserted.map(nameOf));
  for (const row of earlier) known.set(nameOf(row), row);

  const results: Stored[] = [];
  for (const event of events) {
    const name = nameOf(event);
    const row = known.get(name);
    if (row && fresh.delete(name)) results.push({ outcome: 'accepted', announce: row.id });
    else results.push(await storeAgain(db, event, row, receivedAt));
  }
  if (results.some(({ outcome }) => outcome !== 'accepted')) await commitAfterStored(db);
  return results;
}

/** A body whose name is taken: the same bytes again, or others. */
async function storeAgain(
  db: Database,
  event: NewEvent,
  row: StoredEvent | undefined,
  receivedAt: Date,
): Promise<Stored> {
  // An unnamed body is known by its bytes, so one that is there already is the same.
  if (!row || row.bodyHash.equals(event.bodyHash)) return { outcome: 'duplicate' };
  const isNew = await insertVariant(db, row.id, event, receivedAt);
  return { outcome: 'id_reused', announce: isNew ? row.id : undefined };
}

function nameOf(event: { eventId: string | null | undefined; bodyHash: Buffer }): string {
  return event.eventId == null ? `body:${event.bodyHash.toString('hex')}` : `id:${event.eventId}`;
}
