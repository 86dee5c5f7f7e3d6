/** Statements for the gauges of authorizations. */
import type { Queryable } from '../../platform/db/database.ts';

/** Sums over this many, the nearest deadlines first. */
const COUNTED_ROWS = 10_000;

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
