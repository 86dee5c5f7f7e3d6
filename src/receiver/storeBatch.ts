/**
 * Persists one batch of verified bodies and returns the outcome of each.
 *
 * 1. An outcome is returned only after the transaction that holds the body has committed.
 * 2. The first body of an event id stays the event; a different one is stored beside it as a variant.
 * 3. Equal ids in a batch are collapsed before they reach the database.
 * 4. A duplicate is returned only after a commit that covers the earlier row: the row may be visible
 *    on a primary that has not replicated it.
 */
import type { Database } from '../platform/db/database.ts';
import {
  commitAfterStored,
  insertEvents,
  insertVariants,
  type NewEvent,
  readStoredEvents,
} from './store/inbox.ts';

export type Stored =
  /** New; `toEnqueue` is the id of its inbox row. */
  | { readonly outcome: 'accepted'; readonly toEnqueue: number }
  /** The same bytes are stored under the same id. */
  | { readonly outcome: 'duplicate' }
  /** Different bytes under a known id; `toEnqueue` is set if they are new. */
  | { readonly outcome: 'id_reused'; readonly toEnqueue: number | undefined };

export interface StoredBatch {
  /** One for each event, in their order. */
  readonly outcomes: readonly Stored[];
  /** The timeline of the server that committed them, if it is known. */
  readonly timeline: string | undefined;
}

/** Persists `events`. */
export async function storeBatch(
  db: Database,
  events: readonly NewEvent[],
  receivedAt: Date,
): Promise<StoredBatch> {
  const firsts = new Map<string, NewEvent>();
  for (const event of events) {
    const key = keyOf(event);
    if (!firsts.has(key)) firsts.set(key, event);
  }
  const { inserted, timeline } = await insertEvents(db, [...firsts.values()], receivedAt);
  const known = new Map(inserted.map((row) => [keyOf(row), row]));
  const missing = [...firsts.values()].flatMap(({ eventId }) =>
    eventId !== undefined && !known.has(`id:${eventId}`) ? [eventId] : [],
  );
  const earlier = missing.length > 0 ? await readStoredEvents(db, missing) : [];
  const fresh = new Set(inserted.map(keyOf));
  for (const row of earlier) known.set(keyOf(row), row);

  const variants = events.flatMap((event) => {
    const row = known.get(keyOf(event));
    return row && !row.bodyHash.equals(event.bodyHash) ? [{ webhookEventId: row.id, event }] : [];
  });
  const stored = variants.length > 0 ? await insertVariants(db, variants, receivedAt) : [];
  const newVariants = new Set(stored.map(variantKey));

  const outcomes = events.map((event): Stored => {
    const key = keyOf(event);
    const row = known.get(key);
    if (row && fresh.delete(key)) return { outcome: 'accepted', toEnqueue: row.id };
    // A body without an id is identified by its hash, so an existing one is the same.
    if (!row || row.bodyHash.equals(event.bodyHash)) return { outcome: 'duplicate' };
    const isNew = newVariants.delete(variantKey({ ...event, webhookEventId: row.id }));
    return { outcome: 'id_reused', toEnqueue: isNew ? row.id : undefined };
  });
  // A variant that was stored just now was committed after everything that was read.
  const isCovered = stored.length > 0 || outcomes.every(({ outcome }) => outcome === 'accepted');
  if (!isCovered) await commitAfterStored(db);
  return { outcomes, timeline };
}

function variantKey(variant: {
  readonly webhookEventId: number;
  readonly bodyHash: Buffer;
}): string {
  return `${variant.webhookEventId}:${variant.bodyHash.toString('hex')}`;
}

function keyOf(event: { eventId: string | null | undefined; bodyHash: Buffer }): string {
  return event.eventId == null ? `body:${event.bodyHash.toString('hex')}` : `id:${event.eventId}`;
}
