/** Statements on the queue reports of processes. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';

/** A process for which the queue refuses work. */
export interface QueueReport {
  /** Host and process id. */
  readonly process: string;
  readonly roles: string;
  readonly reason: string;
  readonly remedy: string;
}

/** Saves a report; the time of the first report is kept. */
export async function saveQueueReport(db: Queryable, report: QueueReport): Promise<void> {
  await db.query(
    `insert into queue_reports (process, roles, reason, remedy) values ($1, $2, $3, $4)
     on conflict (process) do update
        set roles = excluded.roles, reason = excluded.reason, remedy = excluded.remedy,
            reported_at = statement_timestamp()`,
    [report.process, report.roles, report.reason, report.remedy],
  );
}

export async function deleteQueueReport(db: Queryable, process: string): Promise<void> {
  await db.query('delete from queue_reports where process = $1', [process]);
}

/**
 * Reports that have lasted for `forMs` at least and were renewed within `withinMs`, the oldest first. An
 * older report belongs to a process that was killed.
 */
export function readQueueReports(
  db: Queryable,
  { forMs, withinMs }: { readonly forMs: number; readonly withinMs: number },
): Promise<readonly (QueueReport & { readonly sinceMs: number })[]> {
  return db.query<QueueReport & { readonly sinceMs: number }>(
    `select process, roles, reason, remedy, (extract(epoch from since) * 1000)::bigint as "sinceMs"
       from queue_reports
      where since <= statement_timestamp() - $1 * interval '1 millisecond'
        and reported_at > statement_timestamp() - $2 * interval '1 millisecond'
      order by since, process
      limit 100`,
    [forMs, withinMs],
  );
}

/** Deletes reports of processes that were killed long ago. */
export async function removeOldQueueReports(db: Queryable): Promise<void> {
  await db.query(
    `delete from queue_reports where reported_at < statement_timestamp() - interval '1 hour'`,
  );
}
