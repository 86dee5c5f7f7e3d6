/** Statements that remove alerts which were resolved long ago. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../platform/db/scannedRows.ts';

/** Whether an alert `a` is removable. One with a notification that is not dispatched yet stays. */
const IS_REMOVABLE = `
  a.state = 'resolved' and a.resolved_at < $1
  and not exists (select from alert_outbox o where o.alert_id = a.id)`;

/** The next alerts by number. */
export async function scanResolved(
  db: Queryable,
  { before, after, limit }: ScanRequest,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(
    `select a.id as key, a.opened_at < $1 as "isPast",
            coalesce(${IS_REMOVABLE}, false) as "isRemovable"
       from (select id, opened_at, state, resolved_at from alerts
              where id > $2 order by id limit $3) a
      order by a.id`,
    [before, after, limit],
  );
}

export async function deleteResolved(
  tx: Queryable,
  ids: readonly number[],
  before: Date,
): Promise<number> {
  const rows = await tx.query(
    `delete from alerts a where a.id = any ($2::bigint[]) and ${IS_REMOVABLE} returning a.id`,
    [before, ids],
  );
  return rows.length;
}

export async function measureResolved(db: Queryable, before: Date): Promise<MeasuredRows> {
  const [row] = await db.query<MeasuredRows>(
    `select (select count(*) from (select from alerts limit $2) a) as rows,
            (select opened_at from alerts order by id limit 1) as oldest,
            (select count(*) from (select from alerts a where ${IS_REMOVABLE} limit $2) a) as removable`,
    [before, COUNTED_ROWS],
  );
  return row ?? NO_ROWS;
}
