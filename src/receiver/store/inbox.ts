/** Statements on the inbox. None of them parses a body. */
import { type Database, type Queryable, SEND_WARNINGS } from '../../platform/db/database.ts';
import { SQLSTATES } from '../../platform/db/sqlStates.ts';
import { laneOf } from '../../platform/lanes.ts';

/** A verified body on its way into the inbox. */
export interface NewEvent {
  readonly eventId: string | undefined;
  readonly merchantId: string | undefined;
  readonly eventType: string | undefined;
  /** What it is about: events about the same are in one lane (platform/lanes.ts). */
  readonly subject: string | undefined;
  readonly body: Buffer;
  /** SHA-256 of `body`. */
  readonly bodyHash: Buffer;
  /** The secret that verified it (platform/secretFingerprint.ts). */
  readonly secretFingerprint: number;
}

export interface StoredEvent {
  readonly id: number;
  readonly eventId: string | null;
  readonly bodyHash: Buffer;
}

/**
 * The timeline, and when the server started. Two standbys that are promoted beside each other choose the same
 * timeline, so the timeline alone is not enough; null where the server does not reveal it.
 */
const HISTORY = `database_timeline() || '@' || extract(epoch from pg_postmaster_start_time())`;

/** The time an event may be in `pending` before the sweep enqueues it. */
const ENQUEUE_GRACE = '60 seconds';

/**
 * Inserts events and, in the same statement, their bodies and their rows in `pending`. Returns the
 * inserted ones; an event id (or, without an id, a body) that is already stored is skipped.
 *
 * Rows are inserted in the order of their ids, so that two batches that share events cannot deadlock.
 * Bodies are sent as one value with offsets and cut apart in SQL: an array of them would be sent as
 * hexadecimal text, which measured 10 to 15 % slower.
 *
 * The database's clock decides the day of the bodies, because it also decides for which days there are
 * partitions.
 */
export async function insertEvents(
  db: Database,
  events: readonly NewEvent[],
  receivedAt: Date,
): Promise<{ readonly inserted: readonly StoredEvent[]; readonly timeline: string | undefined }> {
  const { joined, starts } = joinBodies(events);
  const rows = await db.prepared<Inserted>(
    `with input as (
       select u.*, substring($2::bytea from (u.place - 1) * 32 + 1 for 32) as body_sha256
         from ${SEND_WARNINGS},
              (select unnest($3::text[]) as event_id, unnest($4::text[]) as merchant_id,
                      unnest($5::text[]) as event_type, unnest($6::int[]) as start,
                      unnest($7::int[]) as length, unnest($9::int[]) as secret,
                      unnest($10::int[]) as lane, generate_subscripts($6::int[], 1) as place) u
     ), inserted as (
       insert into webhook_events (event_id, merchant_id, event_type, body_day, body_bytes, body_sha256,
                                   received_at, secret_fingerprint)
       select event_id, merchant_id, event_type, (now() at time zone 'UTC')::date, length, body_sha256,
              $8::timestamptz, secret
         from input
        order by event_id, body_sha256
       on conflict do nothing
       returning id, event_id, body_day, body_sha256
     ), accepted as materialized (
       select i.id, i.body_day, n.start, n.length, n.lane
         from inserted i
         join input n on n.body_sha256 = i.body_sha256 and n.event_id is not distinct from i.event_id
     ), bodies as (
       insert into webhook_bodies (day, webhook_event_id, body)
       select body_day, id, substring($1::bytea from start for length) from accepted
     ), queued as (
       insert into pending (webhook_event_id, enqueue_at, lane)
       select id, now() + interval '${ENQUEUE_GRACE}', lane from accepted
     )
     -- Without the offset, it would be evaluated for each row, which takes a microsecond.
     select server.timeline, id, event_id as "eventId", body_sha256 as "bodyHash"
       from (select ${HISTORY} as timeline offset 0) server
       left join inserted on true`,
    [
      joined,
      Buffer.concat(events.map(({ bodyHash }) => bodyHash)),
      events.map(({ eventId }) => eventId ?? null),
      events.map(({ merchantId }) => merchantId ?? null),
      events.map(({ eventType }) => eventType ?? null),
      starts,
      events.map(({ body }) => body.length),
      receivedAt.toISOString(),
      events.map(({ secretFingerprint }) => secretFingerprint),
      events.map(laneOfEvent),
    ],
  );
  return {
    inserted: rows.flatMap(({ id, eventId, bodyHash }) =>
      id === null ? [] : [{ id, eventId, bodyHash }],
    ),
    timeline: rows[0]?.timeline ?? undefined,
  };
}

function laneOfEvent({
  subject,
  eventId,
  bodyHash,
}: Pick<NewEvent, 'subject' | 'eventId' | 'bodyHash'>): number {
  return laneOf(subject ?? eventId ?? bodyHash);
}

/** One row without an event if none was inserted. */
interface Inserted extends Omit<StoredEvent, 'id'> {
  readonly id: number | null;
  readonly timeline: string | null;
}

/** The timeline of the server; undefined if it does not reveal it. */
export async function readTimeline(db: Queryable): Promise<string | undefined> {
  const [row] = await db.query<{ timeline: string | null }>(`select ${HISTORY} as timeline`);
  return row?.timeline ?? undefined;
}

/** Whether an insert failed because the partition of its day does not exist. */
export function isBodyDayMissing(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error && 'table' in error)) return false;
  // A row that no partition accepts violates a check, too, but one without a name.
  const constraint = 'constraint' in error ? error.constraint : undefined;
  return (
    error.code === SQLSTATES.check_violation &&
    error.table === 'webhook_bodies' &&
    constraint === undefined
  );
}

/** Reads the stored events of event ids. Ids without a row are missing from the result. */
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
 * Commits a WAL record after rows that were read, so that they are as durable as a row just inserted.
 * PostgreSQL waits for a synchronous standby only if the transaction wrote WAL before its commit
 * record, and then for all WAL up to it. A logical message is such a write: about 100 bytes, no row, no
 * lock, no privilege. docs/decisions/0020-duplicates-and-standbys.md
 */
export async function commitAfterStored(db: Queryable): Promise<void> {
  await db.query(
    `select ${SEND_WARNINGS}, pg_logical_emit_message(true, 'tallyhook.duplicate', '')`,
  );
}

/** A different body under a known event id. */
export interface Variant {
  readonly webhookEventId: number;
  readonly event: NewEvent;
}

/**
 * Stores different bodies under known event ids and puts the events back into `pending`, so that the worker
 * opens findings. A variant that is already stored changes nothing.
 *
 * An event that is pending stays so, but its row is locked until the commit. So a worker that has claimed it
 * is waited for, and one that claims it later sees the variant. Rows are locked in the order of their ids.
 * @returns those that are new, each once
 */
export async function insertVariants(
  db: Database,
  variants: readonly Variant[],
  receivedAt: Date,
): Promise<readonly { readonly webhookEventId: number; readonly bodyHash: Buffer }[]> {
  const events = variants.map(({ event }) => event);
  const { joined, starts } = joinBodies(events);
  return await db.prepared(
    `with input as (
       select u.webhook_event_id, u.lane, substring($1::bytea from u.start for u.length) as body,
              substring($2::bytea from (u.place::int - 1) * 32 + 1 for 32) as body_sha256
         from ${SEND_WARNINGS}, unnest($3::bigint[], $4::int[], $5::int[], $6::int[])
              with ordinality as u (webhook_event_id, start, length, lane, place)
     ), inserted as (
       insert into event_variants (webhook_event_id, body, body_sha256, received_at)
       select webhook_event_id, body, body_sha256, $7::timestamptz
         from input
        order by webhook_event_id, body_sha256
       on conflict do nothing
       returning webhook_event_id, body_sha256
     ), queued as (
       insert into pending (webhook_event_id, enqueue_at, lane)
       select distinct on (i.webhook_event_id) i.webhook_event_id,
              now() + interval '${ENQUEUE_GRACE}', n.lane
         from inserted i
         join input n on n.webhook_event_id = i.webhook_event_id and n.body_sha256 = i.body_sha256
        order by i.webhook_event_id, i.body_sha256
       on conflict (webhook_event_id) do update set enqueue_at = pending.enqueue_at
     )
     select webhook_event_id as "webhookEventId", body_sha256 as "bodyHash" from inserted`,
    [
      joined,
      Buffer.concat(events.map(({ bodyHash }) => bodyHash)),
      variants.map(({ webhookEventId }) => webhookEventId),
      starts,
      events.map(({ body }) => body.length),
      events.map(laneOfEvent),
      receivedAt.toISOString(),
    ],
  );
}

/** Bodies as one value, and where each begins in it, counted from 1. */
function joinBodies(events: readonly NewEvent[]): {
  readonly joined: Buffer;
  readonly starts: readonly number[];
} {
  const starts: number[] = [];
  let length = 0;
  for (const { body } of events) {
    starts.push(length + 1);
    length += body.length;
  }
  return { joined: Buffer.concat(events.map(({ body }) => body)), starts };
}
