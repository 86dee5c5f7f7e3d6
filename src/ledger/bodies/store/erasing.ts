/** Statements that erase bodies of single events, one for each place of a body. */
import type { Queryable } from '../../../platform/db/database.ts';
import { dayInText } from './bodies.ts';

interface Erased {
  readonly id: number;
}

/** In the open partition of the event's day. */
export function eraseOpenBodies(tx: Queryable, ids: readonly number[]): Promise<readonly Erased[]> {
  return tx.query<Erased>(
    `delete from webhook_bodies b
      using webhook_events e
      where e.id = any ($1::bigint[]) and b.day = e.body_day and b.webhook_event_id = e.id
     returning e.id`,
    [ids],
  );
}

/** Among the bodies that outlived their day. */
export function eraseKeptBodies(tx: Queryable, ids: readonly number[]): Promise<readonly Erased[]> {
  return tx.query<Erased>(
    `delete from kept_bodies where webhook_event_id = any ($1::bigint[])
     returning webhook_event_id as id`,
    [ids],
  );
}

/** In the packs of a day, which are written again without them. A pack that would be empty is deleted. */
export function erasePackedBodies(
  tx: Queryable,
  day: string,
  ids: readonly number[],
): Promise<readonly Erased[]> {
  const own = dayInText(day);
  return tx.query<Erased>(
    `with wanted as (
       select u.id, p.first_event_id
         from unnest($1::bigint[]) as u (id)
        cross join lateral (select first_event_id, event_ids from packed_bodies
                             where day = ${own} and first_event_id <= u.id
                             order by first_event_id desc
                             limit 1) p
        where u.id = any (p.event_ids)
     ), pack as materialized (
       -- Concatenated with nothing: decompressed once for a pack, not once for a body.
       select first_event_id, event_ids, lengths, bodies || ''::bytea as bodies
         from packed_bodies
        where day = ${own} and first_event_id in (select first_event_id from wanted)
     ), remaining as (
       select pack.first_event_id,
              array_agg(u.id order by u.place) as event_ids,
              array_agg(u.length order by u.place) as lengths,
              string_agg(substring(pack.bodies from (u.following - u.length + 1)::integer for u.length),
                         ''::bytea order by u.place) as bodies
         from pack
        cross join lateral (
                select id, length, place, sum(length) over (order by place) as following
                  from unnest(pack.event_ids, pack.lengths) with ordinality as u (id, length, place)) u
        where u.id <> all ($1::bigint[])
        group by pack.first_event_id
     ), rewritten as (
       update packed_bodies p
          set event_ids = r.event_ids, lengths = r.lengths, bodies = r.bodies
         from remaining r
        where p.day = ${own} and p.first_event_id = r.first_event_id
     ), emptied as (
       delete from packed_bodies p
        using pack
        where p.day = ${own} and p.first_event_id = pack.first_event_id
          and not exists (select from remaining r where r.first_event_id = pack.first_event_id)
     )
     select id from wanted`,
    [ids],
  );
}

/** In the column of an older version. */
export function eraseInlineBodies(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly Erased[]> {
  return tx.query<Erased>(
    `update webhook_events set body = null where id = any ($1::bigint[]) and body is not null
     returning id`,
    [ids],
  );
}

/** Further bodies that came under the ids of these events. */
export function eraseVariants(tx: Queryable, ids: readonly number[]): Promise<readonly Erased[]> {
  return tx.query<Erased>(
    `update event_variants set body = null
      where webhook_event_id = any ($1::bigint[]) and body is not null
     returning webhook_event_id as id`,
    [ids],
  );
}

/** Detached partitions that still have bodies of these events. */
export async function readDetachedOf(
  tx: Queryable,
  ids: readonly number[],
): Promise<readonly string[]> {
  const rows = await tx.query<{ name: string }>(
    `select name
       from detached_partitions
      where dropped_at is null
        and right(name, 8) in (select to_char(body_day, 'YYYYMMDD')
                                 from webhook_events where id = any ($1::bigint[]))
      order by name`,
    [ids],
  );
  return rows.map(({ name }) => name);
}
