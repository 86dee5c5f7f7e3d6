/** Statements that pack the bodies of past days. */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';

/** A UTC date, YYYY-MM-DD. */
export type Day = string;

/**
 * The first day that can be packed: the copy of older rows, which leaves out the newest ones, has passed
 * its end by `settleMs`, and so has the clock. The copy does not move back when the clock of the database does.
 * @param after only later days
 */
export async function readDayToPack(
  db: Queryable,
  settleMs: number,
  after: Day | undefined,
): Promise<Day | undefined> {
  const [row] = await db.query<{ day: Day }>(
    `select d.day::text as day
       from body_days d
       join body_copy c on (d.day + 1)::timestamp at time zone 'UTC'
                           <= c.copied_until - $1 * interval '1 millisecond'
      where d.state = 'open' and d.day > coalesce($2::date, '-infinity')
        and (d.day + 1)::timestamp at time zone 'UTC'
            <= statement_timestamp() - $1 * interval '1 millisecond'
      order by d.day
      limit 1`,
    [settleMs, after ?? null],
  );
  return row?.day;
}

/** Makes the partition for a day's packs, unless it exists. */
export async function ensurePackedDay(db: Queryable, day: Day): Promise<void> {
  await db.query('select ensure_packed_day($1::date)', [day]);
}

/** The number of the last packed event of an open day, 0 before the first; undefined if it is not open. */
export async function readPackedThrough(tx: Queryable, day: Day): Promise<number | undefined> {
  const [row] = await tx.query<{ through: number }>(
    `select coalesce(packed_through, 0) as through from body_days where day = $1 and state = 'open'`,
    [day],
  );
  return row?.through;
}

export interface PackLimits {
  /** Bodies of a step, and their bytes; the last one may exceed the bytes. */
  readonly stepBodies: number;
  readonly stepBytes: number;
  /** Bodies of a pack, and their bytes. */
  readonly packBodies: number;
  readonly packBytes: number;
}

export interface Packed {
  readonly packs: number;
  readonly bodies: number;
  /** The last event; null without packs. */
  readonly through: number | null;
}

/** Inserts packs of the bodies after an event, in the order of their numbers. */
export async function insertPacks(
  tx: Queryable,
  day: Day,
  after: number,
  limits: PackLimits,
): Promise<Packed> {
  const { stepBodies, stepBytes, packBodies, packBytes } = limits;
  const rows = await tx.query<Packed>(
    `with next as (
       select webhook_event_id as id, body
         from webhook_bodies
        where day = $1::date and webhook_event_id > $2
        order by webhook_event_id
        limit $3
     ), placed as (
       select id, body, row_number() over w - 1 as place, sum(octet_length(body)) over w as through_bytes
         from next
       window w as (order by id)
     ), packed as (
       insert into packed_bodies (day, first_event_id, last_event_id, event_ids, lengths, bodies)
       select $1::date, min(id), max(id), array_agg(id order by id),
              array_agg(octet_length(body) order by id), string_agg(body, ''::bytea order by id)
         from placed
        where through_bytes - octet_length(body) < $4
        group by place / $5, through_bytes / $6
       returning last_event_id, cardinality(event_ids) as bodies
     )
     select count(*) as packs, coalesce(sum(bodies), 0)::bigint as bodies, max(last_event_id) as through
       from packed`,
    [day, after, stepBodies, stepBytes, packBodies, packBytes],
  );
  return oneRow(rows);
}

/**
 * Reads packs back and compares each body with its event.
 * @returns the first events with a body that differs from what was received
 */
export async function readWronglyPacked(
  tx: Queryable,
  day: Day,
  after: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await tx.query<{ id: number }>(
    `with pack as materialized (
       -- Concatenated with nothing: decompressed once for a pack, not once for a body.
       select event_ids, lengths, bodies || ''::bytea as bodies
         from packed_bodies
        where day = $1::date and first_event_id > $2
     )
     select u.id
       from pack
      cross join lateral (
              select id, length, sum(length) over (order by place) as following
                from unnest(pack.event_ids, pack.lengths) with ordinality as u (id, length, place)) u
       join webhook_events e on e.id = u.id
      where e.body_sha256
              <> sha256(substring(pack.bodies from (u.following - u.length + 1)::integer for u.length))
         or (u.id = pack.event_ids[cardinality(pack.event_ids)]
             and u.following <> octet_length(pack.bodies))
      order by u.id
      limit $3`,
    [day, after, limit],
  );
  return rows.map(({ id }) => id);
}

/** Records how far a day's packing is. */
export async function savePackedThrough(tx: Queryable, day: Day, through: number): Promise<void> {
  await tx.query('update body_days set packed_through = $2 where day = $1', [day, through]);
}

/** Records which bodies stop the packing of a day; an unchanged record is not written again. */
export async function saveDamaged(db: Queryable, day: Day, ids: readonly number[]): Promise<void> {
  await db.query(
    `update body_days
        set damaged_event_ids = $2::bigint[]
      where day = $1 and state = 'open' and damaged_event_ids is distinct from $2::bigint[]`,
    [day, ids],
  );
}

/** Records that every body of a day is packed. */
export async function markPacked(tx: Queryable, day: Day): Promise<void> {
  await tx.query(
    `update body_days
        set state = 'packed', packed_at = statement_timestamp(), damaged_event_ids = null,
            events = (select coalesce(sum(cardinality(event_ids)), 0)
                        from packed_bodies where packed_bodies.day = $1)
      where day = $1 and state = 'open'`,
    [day],
  );
}

/** A packed day with an open partition that is still attached, packed at least `restMs` ago. */
export async function readDayToDetach(db: Queryable, restMs: number): Promise<Day | undefined> {
  const [row] = await db.query<{ day: Day }>(
    `select d.day::text as day
       from body_days d
       join pg_inherits i on i.inhparent = 'webhook_bodies'::regclass
        and i.inhrelid = to_regclass('webhook_bodies_' || to_char(d.day, 'YYYYMMDD'))
      where d.state = 'packed'
        and d.packed_at <= statement_timestamp() - $1 * interval '1 millisecond'
      order by d.day
      limit 1`,
    [restMs],
  );
  return row?.day;
}

/** What became of a day's open partition; see the function in the migration. */
export type Detachment = 'detached' | 'absent' | 'incomplete';

/** @throws an error with SQLSTATE 55P03 if the locks are not free within 200 ms */
export async function detachBodyDay(db: Queryable, day: Day): Promise<Detachment> {
  const rows = await db.query<{ result: Detachment }>(
    'select detach_body_day($1::date) as result',
    [day],
  );
  return oneRow(rows).result;
}

/** Keeps the bodies that were added to a day after it was packed. @returns how many */
export async function keepLateBodies(tx: Queryable, day: Day): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into kept_bodies (webhook_event_id, body)
     select b.webhook_event_id, b.body
       from webhook_bodies b
      where b.day = $1::date
        and not exists (
              select from (select unnest(event_ids) as id from packed_bodies where day = $1::date) p
               where p.id = b.webhook_event_id)
     on conflict do nothing
     returning webhook_event_id as id`,
    [day],
  );
  return rows.length;
}

/** Names of partitions that were detached two days ago, oldest first. */
export async function readPartitionsToDrop(
  db: Queryable,
  limit: number,
): Promise<readonly string[]> {
  const rows = await db.query<{ name: string }>(
    `select name
       from detached_partitions
      where dropped_at is null and detached_at <= statement_timestamp() - interval '2 days'
      order by detached_at, name
      limit $1`,
    [limit],
  );
  return rows.map(({ name }) => name);
}

/** @returns whether the partition was dropped */
export async function dropDetachedPartition(
  db: Queryable,
  name: string,
  isEarly: boolean,
): Promise<boolean> {
  const [row] = await db.query<{ isDropped: boolean }>(
    'select drop_detached_partition($1, $2) as "isDropped"',
    [name, isEarly],
  );
  return row?.isDropped ?? false;
}
