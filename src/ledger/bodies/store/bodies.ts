/**
 * Statements that read bodies. Each names one day, so that its plan has one partition: a list of days in
 * a parameter would lock and open them all.
 *
 * A plan that is kept (docs/decisions/0034-plans-by-key.md) has and locks all partitions even then, unless the day is in
 * the text. It is where packed days are read: there is one for each day of retention, which may be without an end. Of
 * open days there are about ten.
 */
import type { Queryable } from '../../../platform/db/database.ts';

export interface StoredBody {
  readonly id: number;
  readonly body: Buffer;
}

/** Bodies of a day that is not packed yet. */
export function readOpenBodies(
  tx: Queryable,
  day: string,
  ids: readonly number[],
): Promise<readonly StoredBody[]> {
  return tx.query<StoredBody>(
    `select webhook_event_id as id, body
       from webhook_bodies
      where day = $1::date and webhook_event_id = any ($2::bigint[])
      limit $3`,
    [day, ids, ids.length],
  );
}

/** @throws RangeError */
export function dayInText(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`${day} is not a day`);
  return `date '${day}'`;
}

/** Which packed row of a day may have an event's body. Ranges of a day do not overlap. */
export function findPacked(
  tx: Queryable,
  day: string,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly firstEventId: number }[]> {
  return tx.query(
    `select wanted.id, p.first_event_id as "firstEventId"
       from unnest($1::bigint[]) as wanted (id)
      cross join lateral (
        select first_event_id, last_event_id
          from packed_bodies
         where day = ${dayInText(day)} and first_event_id <= wanted.id
         order by first_event_id desc
         limit 1) p
      where p.last_event_id >= wanted.id`,
    [ids],
  );
}

/** Several bodies in one value, one after the other. */
export interface PackedBodies {
  readonly eventIds: readonly string[];
  readonly lengths: readonly number[];
  readonly bodies: Buffer;
}

/** One packed row. It is small enough to be read as a whole, which decompresses it once. */
export async function readPacked(
  tx: Queryable,
  day: string,
  firstEventId: number,
): Promise<PackedBodies | undefined> {
  const rows = await tx.query<PackedBodies>(
    `select event_ids as "eventIds", lengths, bodies
       from packed_bodies
      where day = ${dayInText(day)} and first_event_id = $1`,
    [firstEventId],
  );
  return rows[0];
}

/** Bodies that outlived their day. */
export function readKeptBodies(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly StoredBody[]> {
  return tx.query<StoredBody>(
    `select webhook_event_id as id, body
       from kept_bodies
      where webhook_event_id = any ($1::bigint[])
      limit $2`,
    [ids, ids.length],
  );
}

/** What finds the bodies of events; those that do not exist are missing. */
export function readBodyKeys(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly bodyDay: string | null }[]> {
  return tx.query(
    `select id, body_day::text as "bodyDay"
       from webhook_events
      where id = any ($1::bigint[])
      limit $2`,
    [ids, ids.length],
  );
}

export interface InlineBody {
  readonly id: number;
  /** Null if it was copied from the column since the caller read the day. */
  readonly body: Buffer | null;
  readonly bodyDay: string | null;
}

/** Bodies in the column of an older version. */
export function readInlineBodies(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly InlineBody[]> {
  return tx.query<InlineBody>(
    `select id, body, body_day::text as "bodyDay"
       from webhook_events
      where id = any ($1::bigint[])
      limit $2`,
    [ids, ids.length],
  );
}

/** The days of those given with bodies that retention has removed, and when. */
export function readRemovedDays(
  tx: Queryable,
  days: readonly string[],
): Promise<readonly { readonly day: string; readonly removedAt: Date }[]> {
  return tx.query(
    `select day::text as day, removed_at as "removedAt"
       from body_days
      where day = any ($1::date[]) and state = 'removed'
      limit $2`,
    [days, days.length],
  );
}

/** The events of those given with an erased body, and when it was erased. */
export function readErased(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly erasedAt: Date }[]> {
  return tx.query(
    `select webhook_event_id as id, erased_at as "erasedAt"
       from erased_bodies
      where webhook_event_id = any ($1::bigint[])
      limit $2`,
    [ids, ids.length],
  );
}
