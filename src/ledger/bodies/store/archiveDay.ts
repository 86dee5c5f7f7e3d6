/** Statements that read the bodies of a packed day for the archive, and bring bodies back. */
import { createHash } from 'node:crypto';
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import type { PackedBodies, StoredBody } from './bodies.ts';

/** A date, which is named by its number since 1970, as in 2026-11-22. */
export async function nameDay(db: Queryable, day: number): Promise<string> {
  const rows = await db.query<{ day: string }>(
    `select to_char(date '1970-01-01' + $1::integer, 'YYYY-MM-DD') as day`,
    [day],
  );
  return oneRow(rows).day;
}

/** The next packed row of a day after an event. */
export async function readNextPack(
  db: Queryable,
  day: string,
  after: number,
): Promise<PackedBodies | undefined> {
  const rows = await db.query<PackedBodies>(
    `select event_ids as "eventIds", lengths, bodies
       from packed_bodies
      where day = $1::date and first_event_id > $2
      order by first_event_id
      limit 1`,
    [day, after],
  );
  return rows[0];
}

/** Bodies that reached the day when it was packed already. */
export function readLateBodies(
  db: Queryable,
  page: { readonly day: string; readonly after: number; readonly limit: number },
): Promise<readonly StoredBody[]> {
  return db.query<StoredBody>(
    `select k.webhook_event_id as id, k.body
       from kept_bodies k
       join webhook_events e on e.id = k.webhook_event_id and e.body_day = $1::date
      where k.webhook_event_id > $2 and k.imported_at is null
      order by k.webhook_event_id
      limit $3`,
    [page.day, page.after, page.limit],
  );
}

export interface StoredVariant extends StoredBody {
  readonly sha256: string;
}

/** Further bodies under the ids of the day's events, by the event and then by their hashes. */
export function readDayVariants(
  db: Queryable,
  page: {
    readonly day: string;
    readonly after: { readonly id: number; readonly sha256: string };
    readonly limit: number;
  },
): Promise<readonly StoredVariant[]> {
  return db.query<StoredVariant>(
    `select v.webhook_event_id as id, v.body, encode(v.body_sha256, 'hex') as sha256
       from event_variants v
       join webhook_events e on e.id = v.webhook_event_id and e.body_day = $1::date
      where (v.webhook_event_id, v.body_sha256) > ($2, decode($3, 'hex')) and v.body is not null
      order by v.webhook_event_id, v.body_sha256
      limit $4`,
    [page.day, page.after.id, page.after.sha256, page.limit],
  );
}

/**
 * The bodies that can come back, by their places, and when they were received: with an event in the inbox that has the
 * same hash, of which the day is removed and the body was not erased. The caller holds the lock of bodies.
 */
export function findImportable(
  tx: Queryable,
  bodies: readonly StoredBody[],
): Promise<readonly { readonly place: number; readonly receivedAt: Date }[]> {
  return tx.query(
    `select u.number - 1 as place, e.received_at as "receivedAt"
       from unnest($1::bigint[], $2::bytea[]) with ordinality as u (id, sha256, number)
       join webhook_events e on e.id = u.id and e.body_sha256 = u.sha256
       join body_days d on d.day = e.body_day and d.state = 'removed'
      where not exists (select from erased_bodies x where x.webhook_event_id = e.id)
      order by e.id, u.number
      limit $3`,
    [
      bodies.map(({ id }) => id),
      bodies.map(({ body }) => createHash('sha256').update(body).digest()),
      bodies.length,
    ],
  );
}

/** Keeps bodies that `findImportable` found. @returns how many were not kept already */
export async function insertImportedBodies(
  tx: Queryable,
  bodies: readonly StoredBody[],
): Promise<number> {
  const inserted = await tx.query(
    `insert into kept_bodies (webhook_event_id, body, imported_at)
     select u.id, u.body, statement_timestamp()
       from unnest($1::bigint[], $2::bytea[]) as u (id, body)
     on conflict (webhook_event_id) do nothing
     returning webhook_event_id`,
    [bodies.map(({ id }) => id), bodies.map(({ body }) => body)],
  );
  return inserted.length;
}
