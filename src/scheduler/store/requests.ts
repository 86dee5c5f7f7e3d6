/** Statements on requests to run a schedule at once. */
import type { Queryable } from '../../platform/db/database.ts';
import type { ScheduleRequest } from '../domain/state.ts';

/** @returns false if a request is open already */
export async function insertRequest(
  db: Queryable,
  { schedule, requestedBy, reason }: Omit<ScheduleRequest, 'requestedAt'>,
): Promise<boolean> {
  const rows = await db.query(
    `insert into schedule_requests (schedule, requested_by, reason) values ($1, $2, $3)
     on conflict (schedule) do nothing
     returning schedule`,
    [schedule, requestedBy, reason],
  );
  return rows.length > 0;
}

/** There is at most one for each schedule. */
export function readRequests(db: Queryable): Promise<readonly ScheduleRequest[]> {
  return db.query<ScheduleRequest>(
    `select schedule, requested_at as "requestedAt", requested_by as "requestedBy", reason
       from schedule_requests
      limit 100`,
  );
}

/** Deletes requests that a finished run has served. */
export async function deleteServedRequests(db: Queryable): Promise<void> {
  await db.query(
    `delete from schedule_requests r
      using schedule_slots s
      where s.schedule = r.schedule and s.slot >= r.requested_at and s.finished_at is not null`,
  );
}
