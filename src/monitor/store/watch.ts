/** Statements on what the watch over the system counts and reads. Time is the database's. */

import type { Rule } from '../../alerts/domain/alert.ts';
import type { Queryable } from '../../platform/db/database.ts';

export type CountName = 'signature_mismatched' | 'signature_unsigned' | 'rate_exhausted';

/** Adds to the counts of this minute. Names are distinct. */
export async function addCounts(
  db: Queryable,
  counts: readonly { readonly name: CountName; readonly count: number }[],
): Promise<void> {
  await db.query(
    `insert into watch_counts as c (minute, name, count)
     select date_trunc('minute', statement_timestamp()), name, count
       from unnest($1::text[], $2::bigint[]) as u (name, count)
      order by name
     on conflict (minute, name) do update set count = c.count + excluded.count`,
    [counts.map(({ name }) => name), counts.map(({ count }) => count)],
  );
}

/** Removes counts that no rule looks at any more. */
export async function removeOldCounts(db: Queryable): Promise<void> {
  await db.query(
    `delete from watch_counts where minute < statement_timestamp() - interval '1 day'`,
  );
}

/** How much was counted, and in how many minutes. */
export async function readCount(
  db: Queryable,
  name: CountName,
  windowMs: number,
): Promise<{ readonly count: number; readonly minutes: number }> {
  const rows = await db.query<{ count: number; minutes: number }>(
    `select coalesce(sum(count), 0)::bigint as count, count(*) as minutes
       from watch_counts
      where name = $1 and minute > statement_timestamp() - $2 * interval '1 millisecond'`,
    [name, windowMs],
  );
  return rows[0] ?? { count: 0, minutes: 0 };
}

/** Rules that stand about the system. */
export async function readStanding(
  db: Queryable,
  subjects: readonly string[],
): Promise<readonly Rule[]> {
  const rows = await db.query<{ rule: Rule }>(
    `select rule from alerts where state <> 'resolved' and subject = any ($1::text[]) limit 100`,
    [subjects],
  );
  return rows.map(({ rule }) => rule);
}

export interface Rhythm {
  readonly lastWebhookMs: number | null;
  readonly usualGapMs: number | null;
}

/** Webhooks that the rhythm is told by, and gaps without which it is not known. */
const NEWEST = 500;
const LEAST_GAPS = 20;

/**
 * When the last webhook came, and the gap that 99 of 100 of the newest ones keep within. Batches
 * commit side by side, so that times may step back within a moment.
 */
export async function readRhythm(db: Queryable): Promise<Rhythm> {
  const rows = await db.query<Rhythm>(
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
    [NEWEST, LEAST_GAPS],
  );
  return rows[0] ?? { lastWebhookMs: null, usualGapMs: null };
}

/** How many of the newest webhooks came within a time, counted up to `most`. */
export async function countWebhooks(
  db: Queryable,
  { windowMs, most }: { readonly windowMs: number; readonly most: number },
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count
       from (select received_at from webhook_events order by id desc limit $2) as newest
      where received_at > statement_timestamp() - $1 * interval '1 millisecond'`,
    [windowMs, most],
  );
  return rows[0]?.count ?? 0;
}

/** More runs than the schedules make in a day. */
const RUNS_OF_A_DAY = 3_000;

/** Changes that runs found in a time and no webhook had told of. What operators compare is history. */
export async function countMissed(db: Queryable, windowMs: number): Promise<number> {
  const rows = await db.query<{ missed: number }>(
    `select coalesce(sum(missed), 0)::bigint as missed
       from (select missed, cause, is_dry_run, updated_at from reconcile_runs
              order by id desc limit $2) as newest
      where cause <> 'operator' and not is_dry_run
        and updated_at > statement_timestamp() - $1 * interval '1 millisecond'`,
    [windowMs, RUNS_OF_A_DAY],
  );
  return rows[0]?.missed ?? 0;
}

/**
 * A run of the newest span that begins so much later than the last webhook finds what happened after
 * it: the runs between have found what happened before.
 */
const NEWS_AFTER = `interval '10 minutes'`;

/** Changes that runs over the newest span found since the last webhook, within a day. */
export async function countNews(db: Queryable, lastWebhookMs: number | null): Promise<number> {
  const rows = await db.query<{ news: number }>(
    `select coalesce(sum(missed), 0)::bigint as news
       from (select missed, cause, is_dry_run, started_at from reconcile_runs
              order by id desc limit $2) as newest
      where cause = 'tail' and not is_dry_run
        and started_at > statement_timestamp() - interval '1 day'
        and ($1::double precision is null
             or started_at > to_timestamp($1::double precision / 1000) + ${NEWS_AFTER})`,
    [lastWebhookMs, RUNS_OF_A_DAY],
  );
  return rows[0]?.news ?? 0;
}

export interface Watermark {
  readonly stream: string;
  readonly atMs: number;
}

/** How far each list was read whole; those that never were are left out. */
export function readWatermarks(db: Queryable): Promise<readonly Watermark[]> {
  return db.query<Watermark>(
    `select stream, (extract(epoch from watermark_at) * 1000)::bigint as "atMs"
       from reconcile_streams
      where watermark_at is not null
      order by stream
      limit 10`,
  );
}

/** Single figures. Times are milliseconds since 1970. */
export interface Figures {
  readonly nowMs: number;
  readonly oldestPendingMs: number | null;
  readonly deadEvents: number;
  readonly pausedMs: number | null;
  readonly pausedBy: string | null;
  readonly unusableSinceMs: number | null;
  /** No request is left in the window that runs. */
  readonly isExhausted: boolean;
}

export async function readFigures(db: Queryable): Promise<Figures> {
  const [row] = await db.query<Figures>(
    `select (extract(epoch from statement_timestamp()) * 1000)::bigint as "nowMs",
            (select (extract(epoch from min(since)) * 1000)::bigint from pending) as "oldestPendingMs",
            (select count(*) from (select from dead_events limit 10000) as d) as "deadEvents",
            (extract(epoch from p.paused_at) * 1000)::bigint as "pausedMs", p.paused_by as "pausedBy",
            (select (extract(epoch from min(opened_at)) * 1000)::bigint from findings
              where class = 'service_unusable' and state = 'open' and accepted_at is null)
              as "unusableSinceMs",
            coalesce(b.remaining <= 0 and b.reset_at > statement_timestamp(), false) as "isExhausted"
       from rate_budget b
       left join reconcile_pauses p on p.resumed_at is null
      limit 1`,
  );
  if (!row) throw new Error('the row of the rate budget is gone; a migration made it');
  return row;
}
