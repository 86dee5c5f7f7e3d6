/** Statements that remove the bodies of whole days. */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';

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

/**
 * The days that are not removed. A day is past when it ended before an instant, and removable when all of
 * its bodies are packed and its open partition is detached, too. Bodies are estimated before that.
 */
const DAYS = `
  select d.day, p.is_past,
         p.is_past and d.state = 'packed'
           and not exists (select from pg_inherits i
                            where i.inhparent = 'webhook_bodies'::regclass and i.inhrelid = p.opened)
           as is_removable,
         coalesce(d.events,
                  (select greatest(c.reltuples, 0)::bigint from pg_class c where c.oid = p.opened),
                  0) as bodies
    from body_days d
   cross join lateral (
           select (d.day + 1)::timestamp at time zone 'UTC' <= $1 as is_past,
                  to_regclass('webhook_bodies_' || to_char(d.day, 'YYYYMMDD')) as opened) p
   where d.state <> 'removed'`;

/** The next days that are not removed. */
export function scanBodyDays(
  db: Queryable,
  {
    before,
    after,
    limit,
  }: { readonly before: Date; readonly after: number; readonly limit: number },
): Promise<readonly ScannedDay[]> {
  return db.query<ScannedDay>(
    `select day - date '1970-01-01' as key, is_past as "isPast", is_removable as "isRemovable"
       from (${DAYS}) d
      where day > date '1970-01-01' + $2::integer
      order by day
      limit $3`,
    [before.toISOString(), after, limit],
  );
}

export interface MeasuredBodies {
  /** Estimated for days that are not packed. */
  readonly rows: number;
  readonly oldest: Date | null;
  readonly removable: number;
  /** Past days that are not removable yet. */
  readonly waitingDays: number;
}

/** How many bodies there are, and how many of them are in removable days. */
export async function measureBodies(db: Queryable, before: Date): Promise<MeasuredBodies> {
  const [row] = await db.query<MeasuredBodies>(
    `select coalesce(sum(bodies), 0)::bigint as rows,
            min(day) filter (where bodies > 0)::timestamp at time zone 'UTC' as oldest,
            coalesce(sum(bodies) filter (where is_removable), 0)::bigint as removable,
            count(*) filter (where is_past and not is_removable) as "waitingDays"
       from (${DAYS}) d`,
    [before.toISOString()],
  );
  return row ?? { rows: 0, oldest: null, removable: 0, waitingDays: 0 };
}

/**
 * Deletes kept bodies of removed days, and of removed events, that nothing needs. Those imported from an
 * archive stay for a week. Further bodies under the ids of their events go with them if their day, with which they
 * were archived, was removed after they came; others stay as long as the events.
 * @returns how many
 */
export async function deleteUnneededBodies(tx: Queryable, limit: number): Promise<number> {
  const [row] = await tx.query<{ deleted: number }>(
    `with unneeded as (
       select k.webhook_event_id as id, d.removed_at
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
        where v.webhook_event_id = u.id and v.body is not null and v.received_at <= u.removed_at
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
  const rows = await db.query<BodyPlaces>(
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
  return oneRow(rows);
}
