/** Statements that remove sessions which ended long ago. The audit log keeps who signed in, and when. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  COUNTED_ROWS,
  type MeasuredRows,
  NO_ROWS,
  type ScannedRow,
  type ScanRequest,
} from '../../platform/db/scannedRows.ts';

/** Whether a session `s` is removable: it was ended, or it expired, also as a link that nobody used. */
const IS_REMOVABLE = 'least(coalesce(s.ended_at, s.expires_at), s.expires_at) < $1';

/** The next sessions by number. */
export async function scanEndedSessions(
  db: Queryable,
  { before, after, limit }: ScanRequest,
): Promise<readonly ScannedRow[]> {
  return await db.query<ScannedRow>(
    `select s.id as key, s.created_at < $1 as "isPast", ${IS_REMOVABLE} as "isRemovable"
       from (select id, created_at, ended_at, expires_at from console_sessions
              where id > $2 order by id limit $3) s
      order by s.id`,
    [before, after, limit],
  );
}

export async function deleteEndedSessions(
  tx: Queryable,
  ids: readonly number[],
  before: Date,
): Promise<number> {
  const rows = await tx.query(
    `delete from console_sessions s where s.id = any ($2::bigint[]) and ${IS_REMOVABLE} returning s.id`,
    [before, ids],
  );
  return rows.length;
}

export async function measureEndedSessions(db: Queryable, before: Date): Promise<MeasuredRows> {
  const [row] = await db.query<MeasuredRows>(
    `select (select count(*) from (select from console_sessions limit $2) s) as rows,
            (select created_at from console_sessions order by id limit 1) as oldest,
            (select count(*)
               from (select from console_sessions s where ${IS_REMOVABLE} limit $2) s) as removable`,
    [before, COUNTED_ROWS],
  );
  return row ?? NO_ROWS;
}
