/** Statements on the size of tables. */
import type { Queryable } from '../../platform/db/database.ts';

export interface TableSize {
  readonly table: string;
  /** As of the last vacuum or analyze; negative if there was none. */
  readonly estimatedRows: number;
  /** With indexes and TOAST, and of all partitions. */
  readonly bytes: number;
}

export async function readTableSizes(
  db: Queryable,
  tables: readonly string[],
): Promise<readonly TableSize[]> {
  return await db.query<TableSize>(
    `select relname::text as "table", reltuples::bigint as "estimatedRows",
            case relkind
              when 'p' then (select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint
                               from pg_inherits where inhparent = c.oid)
              else pg_total_relation_size(oid)
            end as bytes
       from pg_class c
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and relname = any ($1::text[])
      limit $2`,
    [tables, tables.length],
  );
}
