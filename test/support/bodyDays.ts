/** Stored bodies of past days, and where each of them is, read without the product's code. */
import { expect } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.ts';

export interface StoredDay {
  /** How many days ago; 1 is yesterday. */
  readonly daysAgo: number;
  readonly events: number;
  /** With the body beside the event, as an older version stored it. */
  readonly isLegacy?: boolean;
}

/** Stores events with bodies of 300 to 900 bytes. @returns their numbers */
export async function storeDay(
  db: Queryable,
  { daysAgo, events, isLegacy = false }: StoredDay,
): Promise<readonly number[]> {
  await db.query(
    `select ensure_body_day(current_day - $1::integer)
                    from (select (now() at time zone 'UTC')::date as current_day) d where not $2`,
    [daysAgo, isLegacy],
  );
  const rows = await db.query<{ id: number }>(
    `with made as (
       select n, convert_to('{"event":' || n || ',"text":"'
                            || repeat(md5(n || ' ' || $1), 9 + n % 19) || '"}', 'UTF8') as body,
              (now() at time zone 'UTC')::date - $1::integer as day
         from generate_series(1, $2::integer) as n
     ), stored as (
       insert into webhook_events (event_id, event_type, body, body_sha256, received_at, body_day)
       select 'evt_' || gen_random_uuid(), 'payment_succeeded', case when $3 then body end, sha256(body),
              day::timestamp at time zone 'UTC' + n * interval '1 day' / ($2 + 1),
              case when $3 then null else day end
         from made order by n
       returning id, body_sha256, body_day
     ), opened as (
       insert into webhook_bodies (day, webhook_event_id, body)
       select stored.body_day, stored.id, made.body
         from stored join made on sha256(made.body) = stored.body_sha256
        where not $3
     )
     select id from stored order by id`,
    [daysAgo, events, isLegacy],
  );
  return rows.map(({ id }) => id);
}

export interface Place {
  readonly id: number;
  /** Each place of its body, of: inline, open, packed, kept. */
  readonly places: readonly string[];
  /** Whether all of them have what was received. */
  readonly isEqual: boolean;
  readonly isRemoved: boolean;
}

/** Every event of the inbox, with the places of its body. */
export function readPlaces(db: Queryable): Promise<readonly Place[]> {
  return db.query<Place>(
    `with place as (
       select id, 'inline' as name, body from webhook_events where body is not null
       union all select webhook_event_id, 'open', body from webhook_bodies
       union all select webhook_event_id, 'kept', body from kept_bodies
       union all
       select u.id, 'packed', substring(p.bodies from (u.following - u.length + 1)::integer for u.length)
         from packed_bodies p
        cross join lateral (
                select id, length, sum(length) over (order by place) as following
                  from unnest(p.event_ids, p.lengths) with ordinality as u (id, length, place)) u
     )
     select e.id, coalesce(array_agg(p.name order by p.name) filter (where p.name is not null), '{}')
              as places,
            coalesce(bool_and(sha256(p.body) = e.body_sha256) filter (where p.name is not null), true)
              as "isEqual",
            coalesce((select d.state = 'removed' from body_days d where d.day = e.body_day), false)
              as "isRemoved"
       from webhook_events e
       left join place p on p.id = e.id
      group by e.id
      order by e.id`,
  );
}

/** Every body is somewhere, as it was received, unless its day is recorded as removed. */
export async function expectNoneLost(db: Queryable): Promise<void> {
  const places = await readPlaces(db);
  expect(places.filter(({ isEqual }) => !isEqual)).toEqual([]);
  expect(places.filter((one) => one.places.length === 0 && !one.isRemoved)).toEqual([]);
}

/** How many events have their bodies in which places. */
export async function countPlaces(db: Queryable): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const { places } of await readPlaces(db)) {
    const key = places.join('+') || 'none';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
