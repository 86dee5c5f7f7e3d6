/** Statements on what recent runs found, and whether reconciliation can go on. */
import type { Queryable } from '../../platform/db/database.ts';

/** More than the scheduled runs of a day. */
const MAX_RUNS_PER_DAY = 3_000;

/**
 * Changes that runs found within a window and no webhook reported. Comparisons that an operator
 * starts cover the past, so they do not count.
 */
export async function countMissed(db: Queryable, windowMs: number): Promise<number> {
  const rows = await db.query<{ missed: number }>(
    `select coalesce(sum(missed), 0)::bigint as missed
       from (select missed, cause, is_dry_run, updated_at from reconcile_runs
              order by id desc limit $2) as newest
      where cause <> 'operator' and not is_dry_run
        and updated_at > statement_timestamp() - $1 * interval '1 millisecond'`,
    [windowMs, MAX_RUNS_PER_DAY],
  );
  return rows[0]?.missed ?? 0;
}

/**
 * A run over the newest span that starts this long after the last webhook finds what happened after
 * that webhook: earlier runs found what happened before.
 */
const SETTLED_AFTER = `interval '10 minutes'`;

/** Changes that runs over the newest span found since the last webhook, within a day. */
export async function countMissedSinceWebhook(
  db: Queryable,
  lastWebhookMs: number | null,
): Promise<number> {
  const rows = await db.query<{ missed: number }>(
    `select coalesce(sum(missed), 0)::bigint as missed
       from (select missed, cause, is_dry_run, started_at from reconcile_runs
              order by id desc limit $2) as newest
      where cause = 'tail' and not is_dry_run
        and started_at > statement_timestamp() - interval '1 day'
        and ($1::double precision is null
             or started_at > to_timestamp($1::double precision / 1000) + ${SETTLED_AFTER})`,
    [lastWebhookMs, MAX_RUNS_PER_DAY],
  );
  return rows[0]?.missed ?? 0;
}

/** Whether no request is left in the current window of the rate limit. */
export async function isRateLimitExhausted(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ isExhausted: boolean }>(
    `select coalesce(remaining <= 0 and reset_at > statement_timestamp(), false) as "isExhausted"
       from rate_budget limit 1`,
  );
  if (!row) throw new Error('the row of the rate budget is missing; a migration inserts it');
  return row.isExhausted;
}
