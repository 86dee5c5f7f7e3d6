/** Statements on rows that were read back from an archive. */
import type { Queryable } from '../../platform/db/database.ts';
import type { RowLine } from '../../platform/db/rowLine.ts';

/**
 * Inserts rows of a class. A row that is there already is replaced: a later batch has a later state.
 * @returns how many rows there were
 */
export async function insertImportedRows(
  tx: Queryable,
  className: string,
  rows: readonly RowLine[],
): Promise<number> {
  await tx.query(
    `insert into imported_rows (class, key, row)
     select distinct on (u.key) $1, u.key, u.line::jsonb
       from unnest($2::bigint[], $3::text[]) with ordinality as u (key, line, place)
      order by u.key, u.place desc
     on conflict (class, key) do update set row = excluded.row`,
    [className, rows.map(({ key }) => key), rows.map(({ line }) => line)],
  );
  return rows.length;
}

/** Deletes all imported rows. @returns how many */
export async function clearImportedRows(tx: Queryable): Promise<number> {
  const [cleared] = await tx.query<{ rows: number }>(
    `with cleared as (delete from imported_rows returning 1)
     select count(*) as rows from cleared`,
  );
  return cleared?.rows ?? 0;
}
