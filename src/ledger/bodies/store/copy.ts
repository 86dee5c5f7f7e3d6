/** Statements that copy bodies of an older version, from the column `body` of the inbox into their days. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { Day } from './packing.ts';

export interface CopyLimits {
  readonly events: number;
  /** The last body of a step may exceed it. */
  readonly bytes: number;
  /** Younger events are left for later: an event with a smaller number may still be uncommitted. */
  readonly settleMs: number;
}

/** The events of the next step. */
export interface CopyRange {
  readonly after: number;
  /** The last event of the step; equal to `after` if there is none. */
  readonly through: number;
  /** The receipt time of its last event, in microseconds since 1970; null if there is none. */
  readonly untilMicros: number | null;
  /** How many events the step covers, and how many of them have a body to copy. */
  readonly events: number;
  readonly legacy: number;
  /** The days of the bodies to copy. */
  readonly days: readonly Day[];
}

/** Reads which events come next. */
export async function readCopyRange(db: Queryable, limits: CopyLimits): Promise<CopyRange> {
  const [row] = await db.query<CopyRange>(
    `with ahead as (
       select e.id, e.received_at, e.bytes is not null as is_legacy,
              sum(coalesce(e.bytes, 0)) over (order by e.id) - coalesce(e.bytes, 0) as bytes_before
         from (select e.id, e.received_at, octet_length(e.body) as bytes
                 from webhook_events e
                where e.id > (select copied_through from body_copy)
                order by e.id
                limit $1) e
     ), covered as (
       select id, received_at, is_legacy
         from ahead
        where bytes_before < $2
          and id < coalesce(
                (select min(id) from ahead
                  where received_at > statement_timestamp() - $3 * interval '1 millisecond'),
                9223372036854775807)
     )
     select c.copied_through as after,
            coalesce((select max(id) from covered), c.copied_through) as through,
            (select (extract(epoch from max(received_at)) * 1000000)::bigint from covered)
              as "untilMicros",
            (select count(*) from covered) as events,
            (select count(*) from covered where is_legacy) as legacy,
            array(select distinct (received_at at time zone 'UTC')::date::text
                    from covered where is_legacy order by 1) as days
       from body_copy c`,
    [limits.events, limits.bytes, limits.settleMs],
  );
  if (!row) throw new Error('body_copy has no row: run npx tallyhook migrate');
  return row;
}

/** Makes the partition of a day, unless the day was ever made. */
export async function ensureBodyDay(db: Queryable, day: Day): Promise<void> {
  await db.query('select ensure_body_day($1::date)', [day]);
}

/**
 * Copies bodies into their days and empties the column, in one statement. A day that is packed already
 * takes no more, so such a body is kept.
 * @returns how many it copied
 */
export async function copyBodies(
  tx: Queryable,
  { after, through }: Pick<CopyRange, 'after' | 'through'>,
): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `with legacy as (
       select id, body, (received_at at time zone 'UTC')::date as day
         from webhook_events
        where id > $1 and id <= $2 and body is not null
        order by id
          for no key update
     ), opened as (
       insert into webhook_bodies (day, webhook_event_id, body)
       select l.day, l.id, l.body
         from legacy l
         join body_days d on d.day = l.day and d.state = 'open'
     ), kept as (
       insert into kept_bodies (webhook_event_id, body)
       select l.id, l.body
         from legacy l
         join body_days d on d.day = l.day and d.state <> 'open'
       on conflict do nothing
     )
     update webhook_events e
        set body = null, body_day = l.day, body_bytes = octet_length(l.body)
       from legacy l
       join body_days d on d.day = l.day
      where e.id = l.id
     returning e.id`,
    [after, through],
  );
  return rows.length;
}

export interface CopyProgress {
  readonly through: number;
  /** Null: up to the last event that has settled. */
  readonly untilMicros: number | null;
  readonly settleMs: number;
  readonly copied: number;
}

/**
 * Records how far the copy is. It never moves back.
 *
 * A step that covered nothing is recorded only if a day can be packed because of it, and once in five
 * minutes as a sign of life; `doctor` reports a copy without one for ten minutes.
 */
export async function saveCopyProgress(tx: Queryable, progress: CopyProgress): Promise<void> {
  const { through, untilMicros, settleMs, copied } = progress;
  await tx.query(
    `update body_copy c
        set copied_through = greatest(c.copied_through, $1),
            copied_until = greatest(c.copied_until, n.until),
            copied = c.copied + $4,
            stepped_at = statement_timestamp()
       from (select coalesce(to_timestamp($2::double precision / 1000000),
                             statement_timestamp() - $3 * interval '1 millisecond') as until) n
      where $1 > c.copied_through
         or $4 > 0
         or c.copied_until is null
         or ((n.until - $3 * interval '1 millisecond') at time zone 'UTC')::date
              > ((c.copied_until - $3 * interval '1 millisecond') at time zone 'UTC')::date
         or c.stepped_at is null
         or c.stepped_at < statement_timestamp() - interval '5 minutes'`,
    [through, untilMicros, settleMs, copied],
  );
}

export interface CopyState {
  readonly copiedThrough: number;
  readonly lastEventId: number;
  readonly copied: number;
  /** Milliseconds since the last step; null before the first. */
  readonly steppedAgoMs: number | null;
  /** Whether the next events have a body to copy. */
  readonly isCopying: boolean;
}

const LOOKAHEAD = 1_000;

export async function readCopyState(db: Queryable): Promise<CopyState> {
  const [row] = await db.query<CopyState>(
    `select c.copied_through as "copiedThrough", c.copied,
            coalesce((select max(id) from webhook_events), 0) as "lastEventId",
            (extract(epoch from statement_timestamp() - c.stepped_at) * 1000)::float8
              as "steppedAgoMs",
            exists (select from (select e.body from webhook_events e
                                  where e.id > c.copied_through order by e.id limit $1) e
                     where e.body is not null) as "isCopying"
       from body_copy c`,
    [LOOKAHEAD],
  );
  if (!row) throw new Error('body_copy has no row: run npx tallyhook migrate');
  return row;
}
