/** Statements for the gauges of reconciliation; each reads a bounded number of rows. */
import type { Queryable } from '../../platform/db/database.ts';

/** A count stops here, and then means "this many or more". */
const COUNTED_ROWS = 10_000;

export interface WatermarkMeasure {
  readonly stream: string;
  /** Seconds since 1970. */
  readonly watermarkSeconds: number;
}

/** How far each list was read; without lists that never were. */
export function measureWatermarks(db: Queryable): Promise<readonly WatermarkMeasure[]> {
  return db.query<WatermarkMeasure>(
    `select stream, extract(epoch from watermark_at)::float8 as "watermarkSeconds"
       from reconcile_streams where watermark_at is not null`,
  );
}

/** Counts resources that are due for a check, by the index on that time. */
export async function measureDueChecks(db: Queryable): Promise<number> {
  const rows = await db.query<{ due: number }>(
    `select count(*) as due
       from (select from resources where next_check_at <= statement_timestamp() limit $1) d`,
    [COUNTED_ROWS],
  );
  return rows[0]?.due ?? 0;
}

export interface HeldMeasure {
  readonly currency: string;
  readonly authorizations: number;
  /** Amount that can still be captured, in minor units. */
  readonly capturableMinor: number;
  /** Seconds since 1970; null when all deadlines are past. */
  readonly nextDeadlineSeconds: number | null;
}

/**
 * Watched authorizations that can still be captured, nearest deadlines first. Each payment is read by
 * its key: with a plain join, the planner reads all resources for a few thousand of them.
 */
export function measureHeld(
  db: Queryable,
  statuses: readonly string[],
): Promise<readonly HeldMeasure[]> {
  return db.query<HeldMeasure>(
    `select r.currency, count(*) as authorizations,
            sum(r.authorized_minor - r.captured_minor)::float8 as "capturableMinor",
            extract(epoch from min(w.deadline_at) filter (where w.deadline_at > statement_timestamp()))::float8
              as "nextDeadlineSeconds"
       from (select payment_id, deadline_at from authorization_watch
              order by deadline_at, payment_id limit $2) w
      cross join lateral (
              select currency, authorized_minor, captured_minor from resources
               where kind = 'payment' and id = w.payment_id and status = any ($1::text[])
                 and authorized_minor > captured_minor and currency is not null
               limit 1) r
      group by r.currency`,
    [statuses, COUNTED_ROWS],
  );
}
