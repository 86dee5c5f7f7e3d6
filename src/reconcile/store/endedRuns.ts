/** Statements that remove reconcile runs which ended long ago. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../platform/db/scannedRows.ts';

/**
 * Runs over a day or more. The weekly and nightly ones are among them, and there are few: the many short runs are
 * read once for a statement, and not for each row.
 */
const LONG_RUNS = `
  long_runs as materialized (
    select id, stream, from_at, position_at
      from reconcile_runs
     where not is_dry_run and position_at - from_at >= interval '1 day')`;

/**
 * Whether a run `r` is removable. The newest of each list stays, to show when it was last compared. A later
 * run is looked up, because the greatest number of a list would be read again for each row. So does a run that
 * compared what no later long run compared as a whole: statements of past months show what was compared.
 */
const IS_REMOVABLE = `
  coalesce(r.finished_at, 'infinity') < $1
  and exists (select from reconcile_runs n where n.stream = r.stream and n.id > r.id)
  and (r.is_dry_run or r.position_at <= r.from_at
       or exists (select from long_runs n
                   where n.stream = r.stream and n.id > r.id
                         and n.from_at <= r.from_at and n.position_at >= r.position_at))`;

/** The columns on which it depends. */
const COLUMNS = 'id, stream, is_dry_run, from_at, position_at, started_at, finished_at';

/** The next runs by number. */
export async function scanEnded(
  db: Queryable,
  { before, after, limit }: ScanRequest,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(
    `with ${LONG_RUNS}
     select r.id as key, r.started_at < $1 as "isPast",
            ${IS_REMOVABLE} as "isRemovable"
       from (select ${COLUMNS} from reconcile_runs where id > $2 order by id limit $3) r
      order by r.id`,
    [before, after, limit],
  );
}

export async function deleteEnded(
  tx: Queryable,
  ids: readonly number[],
  before: Date,
): Promise<number> {
  const rows = await tx.query(
    `with ${LONG_RUNS}
     delete from reconcile_runs r where r.id = any ($2::bigint[]) and ${IS_REMOVABLE} returning r.id`,
    [before, ids],
  );
  return rows.length;
}

export async function measureEnded(db: Queryable, before: Date): Promise<MeasuredRows> {
  const [row] = await db.query<MeasuredRows>(
    `with ${LONG_RUNS}
     select (select count(*) from (select from reconcile_runs limit $2) r) as rows,
            (select started_at from reconcile_runs order by id limit 1) as oldest,
            (select count(*)
               from (select ${COLUMNS} from reconcile_runs order by id limit $2) r
              where ${IS_REMOVABLE}) as removable`,
    [before, COUNTED_ROWS],
  );
  return row ?? NO_ROWS;
}
