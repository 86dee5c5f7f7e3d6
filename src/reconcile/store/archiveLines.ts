/** Rows for the archive, in the order of their keys, with all columns. */
import type { Queryable } from '../../platform/db/database.ts';
import type { RowLine } from '../../platform/db/rowLine.ts';

export function readRunLines(tx: Queryable, ids: readonly number[]): Promise<readonly RowLine[]> {
  return tx.query<RowLine>(
    `select r.id as key,
            (to_jsonb(r) || jsonb_build_object('key', r.id::text, 'id', r.id::text))::text as line
       from reconcile_runs r
      where r.id = any ($1::bigint[])
      order by r.id
      limit $2`,
    [ids, ids.length],
  );
}
