/** Statements on what recent runs found, and whether reconciliation can go on. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Stream } from '../streams.ts';

/** More than the scheduled runs of a day. */
const MAX_RUNS_PER_DAY = 3_000;

/**
 * A run that starts this long after a webhook arrived, or after a receiver began to run, finds what happened after
 * that: earlier runs found what happened before.
 */
const SETTLED_AFTER = `interval '10 minutes'`;

/**
 * Changes that runs found within a window and no webhook reported. Comparisons that an operator
 * starts cover the past, so they do not count.
 * @param sinceMs counts what happened after it, in milliseconds since 1970; null for all
 */
export async function countMissed(
  db: Queryable,
  { windowMs, sinceMs }: { readonly windowMs: number; readonly sinceMs: number | null },
): Promise<number> {
  const rows = await db.query<{ missed: number }>(
    `select coalesce(sum(missed), 0)::bigint as missed
       from (select missed, cause, is_dry_run, started_at, updated_at from reconcile_runs
              order by id desc limit $2) as newest
      where cause <> 'operator' and not is_dry_run
        and updated_at > statement_timestamp() - $1 * interval '1 millisecond'
        and ($3::double precision is null
             or started_at > to_timestamp($3::double precision / 1000) + ${SETTLED_AFTER})`,
    [windowMs, MAX_RUNS_PER_DAY, sinceMs],
  );
  return rows[0]?.missed ?? 0;
}

export interface MissedOnDay {
  /** `YYYY-MM-DD`, UTC: when the run that counted them started. */
  readonly day: string;
  readonly stream: Stream;
  readonly missed: number;
}

/**
 * The same for each of the last days up to today and each list, by the database's clock. Days and lists
 * without any are left out.
 */
export function readMissedByDay(db: Queryable, days: number): Promise<readonly MissedOnDay[]> {
  return db.query<MissedOnDay>(
    `select to_char(started_at at time zone 'UTC', 'YYYY-MM-DD') as day, stream,
            sum(missed)::bigint as missed
       from reconcile_runs
      where missed > 0 and cause <> 'operator' and not is_dry_run
        and started_at >= date_trunc('day', statement_timestamp(), 'UTC') - ($1 - 1) * interval '1 day'
      group by 1, 2
      order by 1, 2
      limit 1000`,
    [days],
  );
}

/**
 * Changes that runs over the newest span found within a day.
 * @param sinceMs as for `countMissed`
 */
export async function countNewestMissed(db: Queryable, sinceMs: number | null): Promise<number> {
  const rows = await db.query<{ missed: number }>(
    `select coalesce(sum(missed), 0)::bigint as missed
       from (select missed, cause, is_dry_run, started_at from reconcile_runs
              order by id desc limit $2) as newest
      where cause = 'tail' and not is_dry_run
        and started_at > statement_timestamp() - interval '1 day'
        and ($1::double precision is null
             or started_at > to_timestamp($1::double precision / 1000) + ${SETTLED_AFTER})`,
    [sinceMs, MAX_RUNS_PER_DAY],
  );
  return rows[0]?.missed ?? 0;
}

/** Whether each list was compared in full by a run that began after an instant, from a day before another. */
export async function isComparedSince(
  db: Queryable,
  streams: readonly Stream[],
  { beganAfterMs, fromMs }: { readonly beganAfterMs: number; readonly fromMs: number },
): Promise<boolean> {
  const [row] = await db.query<{ isCompared: boolean }>(
    `select not exists (
       select from unnest($1::text[]) as s (stream)
        where not exists (
          select from reconcile_runs r
           where r.stream = s.stream and r.mode = 'full' and not r.is_dry_run and r.state = 'done'
             and r.started_at > to_timestamp($2::float8 / 1000)
             and r.from_at < to_timestamp($3::float8 / 1000) - interval '1 day')) as "isCompared"`,
    [streams, beganAfterMs, fromMs],
  );
  return row?.isCompared ?? false;
}
