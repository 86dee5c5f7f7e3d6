/** Statements that measure alerts for Prometheus. Each reads a bounded number of rows. */
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';

/** Counts stop here and then mean "this many or more". */
const COUNTED_ROWS = 100_000;

export interface AlertCount {
  readonly rule: string;
  readonly severity: string;
  readonly state: 'open' | 'acknowledged';
  readonly alerts: number;
  /** Seconds since 1970; null if no deadline lies ahead. */
  readonly nextDeadlineSeconds: number | null;
}

/** Unresolved alerts; uses their partial index. */
export function measureAlerts(db: Queryable): Promise<readonly AlertCount[]> {
  return db.query<AlertCount>(
    `select rule, severity, state, count(*) as alerts,
            extract(epoch from min(deadline_at) filter (where deadline_at > statement_timestamp()))::float8
              as "nextDeadlineSeconds"
       from (select rule, severity, state, deadline_at from alerts
              where state <> 'resolved' order by id limit $1) a
      group by rule, severity, state`,
    [COUNTED_ROWS],
  );
}

export interface OutboxMeasure {
  readonly waiting: number;
  /** 0 if there is none. */
  readonly oldestAgeSeconds: number;
}

/** The notifications of alerts that are not yet turned into messages. */
export async function measureOutbox(db: Queryable): Promise<OutboxMeasure> {
  const rows = await db.query<OutboxMeasure>(
    `select count(*) as waiting,
            greatest(coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0), 0)::float8
              as "oldestAgeSeconds"
       from (select created_at from alert_outbox order by id limit $1) o`,
    [COUNTED_ROWS],
  );
  return oneRow(rows);
}
