/** Statements that remove the bodies of whole days. */
import type { Queryable } from '../../../platform/db/database.ts';

/**
 * Removes a packed day, which is named by its number since 1970, and keeps the bodies that are needed.
 * @returns how many bodies it removed
 * @throws an error with SQLSTATE 55P03 if the locks are not free within 200 ms
 */
export async function detachPackedDay(tx: Queryable, day: number): Promise<number> {
  const [row] = await tx.query<{ removed: number }>(
    `select detach_packed_day(date '1970-01-01' + $1::integer) as removed`,
    [day],
  );
  return row?.removed ?? 0;
}

export interface ScannedDay {
  /** The number of the day since 1970. */
  readonly key: number;
  readonly isPast: boolean;
  readonly isRemovable: boolean;
}

/** The next days that are not removed. A day is past when it ended before an instant. */
export function scanBodyDays(
  db: Queryable,
  {
    before,
    after,
    limit,
  }: { readonly before: Date; readonly after: number; readonly limit: number },
): Promise<readonly ScannedDay[]> {
  return db.query<ScannedDay>(
    `select d.day - date '1970-01-01' as key,
            (d.day + 1)::timestamp at time zone 'UTC' <= $1 as "isPast",
            (d.day + 1)::timestamp at time zone 'UTC' <= $1 and d.state = 'packed'
              and not exists (
                    select from pg_inherits i
                     where i.inhparent = 'webhook_bodies'::regclass
                       and i.inhrelid = to_regclass('webhook_bodies_' || to_char(d.day, 'YYYYMMDD')))
              as "isRemovable"
       from body_days d
      where d.state <> 'removed' and d.day > date '1970-01-01' + $2::integer
      order by d.day
      limit $3`,
    [before.toISOString(), after, limit],
  );
}

export interface MeasuredBodies {
  /** Estimated for days that are not packed. */
  readonly rows: number;
  readonly oldest: Date | null;
  readonly removable: number;
}

/** How many bodies there are, and how many of them are past an instant. */
export async function measureBodies(db: Queryable, before: Date): Promise<MeasuredBodies> {
  const [row] = await db.query<MeasuredBodies>(
    `with days as (
       select d.day, (d.day + 1)::timestamp at time zone 'UTC' <= $1 as is_past,
              coalesce(d.events, (select greatest(c.reltuples, 0)::bigint from pg_class c
                                   where c.oid = to_regclass('webhook_bodies_' || to_char(d.day, 'YYYYMMDD'))),
                       0) as bodies
         from body_days d
        where d.state <> 'removed'
     )
     select coalesce(sum(bodies), 0)::bigint as rows,
            (select min(day)::timestamp at time zone 'UTC' from days where bodies > 0) as oldest,
            coalesce(sum(bodies) filter (where is_past), 0)::bigint as removable
       from days`,
    [before.toISOString()],
  );
  return row ?? { rows: 0, oldest: null, removable: 0 };
}

/**
 * Deletes kept bodies of removed days, and of removed events, that nothing needs. Those imported from an
 * archive stay for a week.
 * @returns how many
 */
export async function deleteUnneededBodies(tx: Queryable, limit: number): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>(
    `with unneeded as (
       select k.webhook_event_id as id
         from kept_bodies k
         left join webhook_events e on e.id = k.webhook_event_id
         left join body_days d on d.day = e.body_day
        where (e.id is null or d.state = 'removed')
          and (k.imported_at is null or k.imported_at < statement_timestamp() - interval '7 days')
          and not exists (select from events_in_need n where n.webhook_event_id = k.webhook_event_id)
        order by 1
        limit $1
     ), variants as (
       update event_variants v set body = null
         from unneeded u
        where v.webhook_event_id = u.id and v.body is not null
     ), deleted as (
       delete from kept_bodies k using unneeded u where k.webhook_event_id = u.id returning k.webhook_event_id
     )
     select count(*) as deleted from deleted`,
    [limit],
  );
  return row?.deleted ?? 0;
}

/** Bytes of each place of bodies, with indexes and TOAST, and how many days are in each state. */
export interface BodyPlaces {
  readonly openBytes: number;
  readonly packedBytes: number;
  readonly keptBytes: number;
  readonly detachedBytes: number;
  readonly openDays: number;
  readonly packedDays: number;
  readonly removedDays: number;
}

export async function measurePlaces(db: Queryable): Promise<BodyPlaces> {
  const [row] = await db.query<BodyPlaces>(
    `select (select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint
               from pg_inherits where inhparent = 'webhook_bodies'::regclass) as "openBytes",
            (select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint
               from pg_inherits where inhparent = 'packed_bodies'::regclass) as "packedBytes",
            pg_total_relation_size('kept_bodies'::regclass) as "keptBytes",
            (select coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::bigint
               from detached_partitions where dropped_at is null) as "detachedBytes",
            count(*) filter (where state = 'open') as "openDays",
            count(*) filter (where state = 'packed') as "packedDays",
            count(*) filter (where state = 'removed') as "removedDays"
       from body_days`,
  );
  if (!row) throw new Error('a query that always has one row returned none');
  return row;
}
