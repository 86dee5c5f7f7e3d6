/** How much disk each table uses, partitions counted with their parent. */
import type { Queryable } from '../../src/platform/db/database.ts';

export interface TableSize {
  readonly table: string;
  /** An estimate, as of the last analyze. */
  readonly rows: number;
  readonly heapBytes: number;
  readonly toastBytes: number;
  readonly indexBytes: number;
}

export function readSizes(db: Queryable): Promise<readonly TableSize[]> {
  return db.query<TableSize>(
    `with leaf as (
       select c.oid, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name,
              greatest(c.reltuples, 0) as rows, c.reltoastrelid
         from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
     )
     select name as "table", sum(rows)::bigint as rows,
            sum(pg_relation_size(oid) + pg_relation_size(oid, 'fsm') + pg_relation_size(oid, 'vm')
               )::bigint as "heapBytes",
            sum(case when reltoastrelid = 0 then 0
                     else pg_total_relation_size(reltoastrelid) end)::bigint as "toastBytes",
            sum(pg_indexes_size(oid))::bigint as "indexBytes"
       from leaf
      group by name
      order by sum(pg_total_relation_size(oid)) desc, name`,
  );
}

function totalOf({ heapBytes, toastBytes, indexBytes }: TableSize): number {
  return heapBytes + toastBytes + indexBytes;
}

export function totalBytes(sizes: readonly TableSize[]): number {
  return sizes.reduce((sum, size) => sum + totalOf(size), 0);
}

/** Tables below this share of a byte for each event are one line together. */
const SMALL_BYTES_PER_EVENT = 1;

export function printSizes(sizes: readonly TableSize[], events: number): void {
  const per = (bytes: number) => (bytes / events).toFixed(0).padStart(8);
  console.log('  bytes per event            rows/event    heap   TOAST  indexes   total');
  const show = (name: string, rows: number, size: Omit<TableSize, 'table' | 'rows'>) => {
    const all = { table: name, rows, ...size };
    const { heapBytes, toastBytes, indexBytes } = all;
    const cells = [heapBytes, toastBytes, indexBytes, totalOf(all)].map(per).join('');
    console.log(`  ${name.padEnd(26)} ${(rows / events).toFixed(2).padStart(8)}${cells}`);
  };
  const isSmall = (size: TableSize) => totalOf(size) / events < SMALL_BYTES_PER_EVENT;
  for (const size of sizes.filter((one) => !isSmall(one))) show(size.table, size.rows, size);
  show('all others', 0, sumOf(sizes.filter(isSmall)));
  show('total', 0, sumOf(sizes));
}

function sumOf(sizes: readonly TableSize[]): Omit<TableSize, 'table' | 'rows'> {
  return sizes.reduce(
    (sum, size) => ({
      heapBytes: sum.heapBytes + size.heapBytes,
      toastBytes: sum.toastBytes + size.toastBytes,
      indexBytes: sum.indexBytes + size.indexBytes,
    }),
    { heapBytes: 0, toastBytes: 0, indexBytes: 0 },
  );
}
