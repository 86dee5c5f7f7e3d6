/** Rows for the archive, in the order of their keys, with all columns. */
import type { Queryable } from '../../platform/db/database.ts';
import type { RowLine } from '../../platform/db/rowLine.ts';

export function readMessageLines(
  tx: Queryable,
  numbers: readonly number[],
): Promise<readonly RowLine[]> {
  return tx.query<RowLine>(
    `select m.number as key,
            (to_jsonb(m) || jsonb_build_object(
               'key', m.number::text, 'number', m.number::text))::text as line
       from messages m
      where m.number = any ($1::bigint[])
      order by m.number
      limit $2`,
    [numbers, numbers.length],
  );
}
