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

export interface TableActivity {
  readonly table: string;
  /** As PostgreSQL estimates it. */
  readonly estimatedRows: number;
  /** With indexes and TOAST, and of all partitions. */
  readonly bytes: number;
  /** Since the counters began. */
  readonly inserted: number;
  readonly deleted: number;
}

/** Tables by size, the largest first, from the catalog and its counters alone: no table is read. */
export async function readTableActivity(
  db: Queryable,
  limit: number,
): Promise<readonly TableActivity[]> {
  return await db.query<TableActivity>(
    `with parts as (
       select c.oid as parent, c.relname, c.oid as part
         from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          and not c.relispartition
        union all
       select c.oid, c.relname, i.inhrelid
         from pg_class c join pg_inherits i on i.inhparent = c.oid
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'p')
     select p.relname::text as "table",
            coalesce(sum(s.n_live_tup), 0)::bigint as "estimatedRows",
            coalesce(sum(pg_total_relation_size(p.part)), 0)::bigint as bytes,
            coalesce(sum(s.n_tup_ins), 0)::bigint as inserted,
            coalesce(sum(s.n_tup_del), 0)::bigint as deleted
       from parts p left join pg_stat_all_tables s on s.relid = p.part
      group by p.parent, p.relname
      order by bytes desc, p.relname
      limit $1`,
    [limit],
  );
}

/** Since when PostgreSQL counts; null if the counters were never reset. */
export async function readCountersSince(db: Queryable): Promise<Date | null> {
  const [row] = await db.query<{ since: Date | null }>(
    'select stats_reset as since from pg_stat_database where datname = current_database()',
  );
  return row?.since ?? null;
}
