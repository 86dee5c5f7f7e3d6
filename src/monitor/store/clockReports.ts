/** Statements on the clock reports of processes. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';

/** A process and the skew of its machine's clock. */
export interface ClockReport {
  /** Host and process id. */
  readonly process: string;
  readonly roles: string;
  /** The machine's clock less the database's. */
  readonly skewMs: number;
}

/** Saves a report; the time of the first report is kept. */
export async function saveClockReport(db: Queryable, report: ClockReport): Promise<void> {
  await db.query(
    `insert into clock_reports (process, roles, skew_ms) values ($1, $2, $3)
     on conflict (process) do update
        set roles = excluded.roles, skew_ms = excluded.skew_ms,
            reported_at = statement_timestamp()`,
    [report.process, report.roles, Math.round(report.skewMs)],
  );
}

export async function deleteClockReport(db: Queryable, process: string): Promise<void> {
  await db.query('delete from clock_reports where process = $1', [process]);
}

/**
 * Clocks that have been skewed for `forMs` at least and were reported within `withinMs`, the largest
 * skew first. An older report belongs to a process that was killed.
 */
export function readClockReports(
  db: Queryable,
  { forMs, withinMs }: { readonly forMs: number; readonly withinMs: number },
): Promise<readonly ClockReport[]> {
  return db.query<ClockReport>(
    `select process, roles, skew_ms as "skewMs"
       from clock_reports
      where since <= statement_timestamp() - $1 * interval '1 millisecond'
        and reported_at > statement_timestamp() - $2 * interval '1 millisecond'
      order by abs(skew_ms) desc, process
      limit 100`,
    [forMs, withinMs],
  );
}

/** Deletes reports of processes that were killed long ago. */
export async function removeOldClockReports(db: Queryable): Promise<void> {
  await db.query(
    `delete from clock_reports where reported_at < statement_timestamp() - interval '1 hour'`,
  );
}
