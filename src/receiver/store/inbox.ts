/** Statements on the inbox. Each is one function; none of them parses a body. */
import type { Database, Queryable } from '../../platform/db/database.ts';

/** A verified body on its way into the inbox. */
export interface NewEvent {
  readonly eventId: string | undefined;
  readonly merchantId: string | undefined;
  readonly eventType: string | undefined;
  readonly body: Buffer;
  /** SHA-256 of `body`. */
  readonly bodyHash: Buffer;
}

export interface StoredEvent {
  readonly id: number;
  readonly eventId: string | null;
  readonly bodyHash: Buffer;
}

/** How long an event may stand in `pending` before the sweep announces it. */
const ANNOUNCE_GRACE = '60 seconds';

/**
 * Inserts events and, in the same statement, their rows in `pending`. Returns those inserted; an
 * event id (or, for unnamed bodies, a body) that is already there is left alone.
 *
 * Rows are inserted in the order of their names: two batches that share events would otherwise wait
 * for each other. Bodies travel as one value with offsets, cut apart in SQL: an array of them would
 * go over the wire as hexadecimal text, which measured 10 to 15 % slower.
 */
export function insertEvents(
  db: Database,
  events: readonly NewEvent[],
  receivedAt: Date,
): Promise<readonly StoredEvent[]> {
  const starts: number[] = [];
  let length = 0;
  for (const { body } of events) {
    starts.push(length + 1);
    length += body.length;
  }
  return db.prepared<StoredEvent>(
    'insert_events',
    `with input as (
       select u.event_id, u.merchant_id, u.event_type,
              substring($1::bytea from u.start for u.length) as body,
              substring($2::bytea from (u.place::int - 1) * 32 + 1 for 32) as body_sha256
         from unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::int[])
              with ordinality as u (event_id, merchant_id, event_type, start, length, place)
     ), inserted as (
       insert into webhook_events (event_id, merchant_id, event_type, body, body_sha256, received_at)
       select event_id, merchant_id, event_type, body, body_sha256, $8::timestamptz
         from input
        order by event_id, body_sha256
       on conflict do nothing
       returning id, event_id, body_sha256
     ), queued as (
       insert into pending (webhook_event_id, announce_at)
       select id, now() + interval '${ANNOUNCE_GRACE}' from inserted
     )
     select id, event_id as "eventId", body_sha256 as "bodyHash" from inserted`,
    [
      Buffer.concat(events.map(({ body }) => body)),
      Buffer.concat(events.map(({ bodyHash }) => bodyHash)),
      events.map(({ eventId }) => eventId ?? null),
      events.map(({ merchantId }) => merchantId ?? null),
      events.map(({ eventType }) => eventType ?? null),
      starts,
      events.map(({ body }) => body.length),
      receivedAt.toISOString(),
    ],
  );
}

/** Reads what is stored under event ids. Ids without a row are missing from the result. */
export function readStoredEvents(
  db: Queryable,
  eventIds: readonly string[],
): Promise<readonly StoredEvent[]> {
  return db.query<StoredEvent>(
    `select id, event_id as "eventId", body_sha256 as "bodyHash"
       from webhook_events
      where event_id = any ($1::text[])
      limit $2`,
    [eventIds, eventIds.length],
  );
}

/**
 * Commits something after rows that were read, so that they are as durable as a row just inserted.
 * PostgreSQL waits for a synchronous standby only in a transaction that wrote WAL before its commit
 * record, and then for all of the WAL up to it. A logical message is such a write: about 100 bytes, no
 * row, no lock, no privilege. docs/decisions/0020-duplicates-and-standbys.md
 */
export async function commitAfterStored(db: Queryable): Promise<void> {
  await db.query(`select pg_logical_emit_message(true, 'tallyhook.duplicate', '')`);
}

/**
 * Keeps another body under an event id that is taken, and puts the event back into `pending`, so
 * that the worker says so. A variant that is already kept changes nothing.
 * @returns whether it was new
 */
export async function insertVariant(
  db: Queryable,
  webhookEventId: number,
  variant: Pick<NewEvent, 'body' | 'bodyHash'>,
  receivedAt: Date,
): Promise<boolean> {
  const rows = await db.query<{ id: number }>(
    `with inserted as (
       insert into event_variants (webhook_event_id, body, body_sha256, received_at)
       values ($1, $2, $3, $4)
       on conflict do nothing
       returning webhook_event_id
     ), queued as (
       insert into pending (webhook_event_id, announce_at)
       select webhook_event_id, now() + interval '${ANNOUNCE_GRACE}' from inserted
       on conflict do nothing
     )
     select webhook_event_id as id from inserted`,
    [webhookEventId, variant.body, variant.bodyHash, receivedAt.toISOString()],
  );
  return rows.length > 0;
}
