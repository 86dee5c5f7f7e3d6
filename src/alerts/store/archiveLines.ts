/** Rows for the archive, in the order of their keys, with all columns. */
import type { Queryable } from '../../platform/db/database.ts';
import type { RowLine } from '../../platform/db/rowLine.ts';

export function readAlertLines(tx: Queryable, ids: readonly number[]): Promise<readonly RowLine[]> {
  return tx.query<RowLine>(
    `select a.id as key,
            (to_jsonb(a) || jsonb_build_object('key', a.id::text, 'id', a.id::text))::text as line
       from alerts a
      where a.id = any ($1::bigint[])
      order by a.id
      limit $2`,
    [ids, ids.length],
  );
}
