/** Statements on when events arrive and how long they wait. Times are the database's. */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';

export interface WebhookGaps {
  readonly lastWebhookMs: number | null;
  readonly usualGapMs: number | null;
}

/** The newest events to read, and the fewest gaps for a percentile. */
const NEWEST = 500;
const MIN_GAPS = 20;

/**
 * The receipt of the last event, and the 99th percentile of the gaps between the newest ones. Batches
 * commit concurrently, so receipt times are not strictly ascending by id.
 */
export async function readWebhookGaps(db: Queryable): Promise<WebhookGaps> {
  const rows = await db.query<WebhookGaps>(
    `with newest as (
       select received_at from webhook_events order by id desc limit $1
     ), gaps as (
       select received_at - lag(received_at) over (order by received_at) as gap from newest
     )
     select (extract(epoch from (select max(received_at) from newest)) * 1000)::bigint
              as "lastWebhookMs",
            case when count(gap) >= $2
                 then (extract(epoch from percentile_disc(0.99) within group (order by gap)) * 1000)::bigint
            end as "usualGapMs"
       from gaps`,
    [NEWEST, MIN_GAPS],
  );
  return rows[0] ?? { lastWebhookMs: null, usualGapMs: null };
}

/** How many events arrived within a window, counted up to `max`. */
export async function countWebhooks(
  db: Queryable,
  { windowMs, max }: { readonly windowMs: number; readonly max: number },
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count
       from (select received_at from webhook_events order by id desc limit $2) as newest
      where received_at > statement_timestamp() - $1 * interval '1 millisecond'`,
    [windowMs, max],
  );
  return rows[0]?.count ?? 0;
}

/** Times are milliseconds since 1970. */
export interface Backlog {
  readonly nowMs: number;
  readonly oldestPendingMs: number | null;
  /** Counted up to 10,000. */
  readonly deadEvents: number;
}

export async function readBacklog(db: Queryable): Promise<Backlog> {
  const rows = await db.query<Backlog>(
    `select (extract(epoch from statement_timestamp()) * 1000)::bigint as "nowMs",
            (select (extract(epoch from min(since)) * 1000)::bigint from pending) as "oldestPendingMs",
            (select count(*) from (select from dead_events where discarded_at is null limit 10000) as d) as "deadEvents"`,
  );
  return oneRow(rows);
}

/** Rows read to find the oldest; a replayed event has an old number and a new time. */
const OLDEST_ROWS = 10_000;

/**
 * For how long the oldest pending event has waited, in milliseconds; undefined if none waits. Events
 * that failed alone are left out: they are being retried, and end as dead.
 */
export async function readPendingAgeMs(db: Queryable): Promise<number | undefined> {
  const [row] = await db.query<{ ageMs: number | null }>(
    `select (extract(epoch from statement_timestamp() - min(since)) * 1000)::bigint as "ageMs"
       from (select since from pending where attempts = 0 order by webhook_event_id limit $1) as p`,
    [OLDEST_ROWS],
  );
  return row?.ageMs ?? undefined;
}

/** The newest events that do not wait. */
export interface NewestOutcomes {
  readonly events: number;
  /** Those of them that belong to another merchant account. */
  readonly foreign: number;
  /** Those that were not applied: foreign ones, unreadable ones, and ones that failed all attempts. */
  readonly unapplied: number;
}

/** The newest events to read, of which some may still wait. */
const NEWEST_READ = 100;

/** What became of the newest events, `max` at most. */
export async function readNewestOutcomes(db: Queryable, max: number): Promise<NewestOutcomes> {
  const rows = await db.query<NewestOutcomes>(
    `with newest as (
       select w.id
         from (select id from webhook_events order by id desc limit $1) w
        where not exists (select from pending p where p.webhook_event_id = w.id)
        order by w.id desc limit $2
     ), seen as (
       select exists (select from findings f
                       where f.class = 'foreign_merchant' and f.subject = 'event:' || n.id
                         and f.state = 'open') as is_foreign,
              exists (select from findings f
                       where f.class = 'unreadable_event' and f.subject = 'event:' || n.id
                         and f.state = 'open') as is_unreadable,
              exists (select from dead_events d
                       where d.webhook_event_id = n.id and d.discarded_at is null) as is_dead
         from newest n
     )
     select count(*) as events,
            count(*) filter (where is_foreign) as "foreign",
            count(*) filter (where is_foreign or is_unreadable or is_dead) as unapplied
       from seen`,
    [NEWEST_READ, max],
  );
  return oneRow(rows);
}
