/**
 * Statements that read and change any text of the database.
 *
 * Their tables and columns come from the catalog: a copy of personal data may be where nobody thought of
 * it, also in a table that a later version adds. Names are quoted by the catalog itself.
 */
import { readConsistently } from '../../ledger/store/readConsistently.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { isRefusedChange } from '../../platform/db/failures.ts';

/** A column that can hold text. */
export interface TextColumn {
  readonly name: string;
  readonly quoted: string;
  readonly type: 'text' | 'json' | 'jsonb' | 'bytea' | 'array';
  readonly canUpdate: boolean;
}

export interface TextTable {
  readonly schema: string;
  readonly name: string;
  readonly quoted: string;
  /** False: the role may not read all of its columns. */
  readonly canRead: boolean;
  /** Whether this role may vacuum it. */
  readonly isOwned: boolean;
  readonly bytes: number;
  readonly columns: readonly TextColumn[];
}

/**
 * Every table of the database with a column that can hold text, with what this role may do. Partitions are
 * read through their table, which has the rights; its rows are not changed here.
 */
export function readTextTables(db: Queryable): Promise<readonly TextTable[]> {
  return db.query<TextTable>(
    `select n.nspname as schema, c.relname as name,
            quote_ident(n.nspname) || '.' || quote_ident(c.relname) as quoted,
            has_schema_privilege(n.oid, 'usage')
              and bool_and(has_column_privilege(c.oid, a.attnum, 'select')) as "canRead",
            pg_has_role(c.relowner, 'usage') as "isOwned",
            (select sum(pg_table_size(coalesce(part.relid, c.oid)))::bigint
               from (select c.oid) own
               left join pg_partition_tree(c.oid) part on c.relkind = 'p') as bytes,
            json_agg(json_build_object(
              'name', a.attname, 'quoted', quote_ident(a.attname),
              'type', case when t.typcategory = 'A' then 'array'
                           when t.typname in ('json', 'jsonb', 'bytea') then t.typname
                           else 'text' end,
              'canUpdate', has_column_privilege(c.oid, a.attnum, 'update')
                and c.relkind = 'r' and a.attgenerated = ''
                and not exists (select from pg_index i
                                 where i.indrelid = c.oid and i.indisunique
                                   and a.attnum = any (i.indkey::smallint[])))
              order by a.attnum) as columns
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_type t on t.oid = a.atttypid
       left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
      where c.relkind in ('r', 'p', 'm') and not c.relispartition
        and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
        and (t.typcategory = 'S' or t.typname in ('json', 'jsonb', 'bytea', 'xml', 'hstore')
             or e.typcategory = 'S' or e.typname in ('json', 'jsonb', 'bytea'))
      group by n.oid, n.nspname, c.oid, c.relname
      order by n.nspname, c.relname
      limit 100000`,
  );
}

/** A row: where it is, and its texts in the order of the table's columns. */
export interface TextRow {
  readonly tid: string;
  readonly texts: readonly (string | null)[];
}

const ROWS_AT_ONCE = 500;
/** A value of bytes may be large. */
const ROWS_WITH_BYTES_AT_ONCE = 50;

/**
 * Reads every row of a table as of one moment, so that none is missed because it moves. No lock blocks
 * writers.
 */
export async function scanTable(
  db: Pick<Database, 'transaction'>,
  { quoted, columns }: TextTable,
  visit: (rows: readonly TextRow[]) => Promise<void>,
): Promise<void> {
  const hasBytes = columns.some(({ type }) => type === 'bytea');
  const atOnce = hasBytes ? ROWS_WITH_BYTES_AT_ONCE : ROWS_AT_ONCE;
  const texts = columns.map(({ quoted: column, type }) =>
    type === 'bytea' ? column : `${column}::text`,
  );
  const names = texts.map((text, place) => `${text} as c${place}`).join(', ');
  await readConsistently(db, async (tx) => {
    await tx.query(
      `declare scan no scroll cursor for select ctid::text as tid, ${names} from ${quoted}`,
    );
    for (;;) {
      const rows = await tx.query<Record<string, string | Buffer | null>>(
        `fetch forward ${atOnce} from scan`,
      );
      await visit(
        rows.map((row) => ({
          tid: String(row.tid),
          texts: columns.map((_column, place) => textOf(row[`c${place}`] ?? null)),
        })),
      );
      if (rows.length < atOnce) return;
    }
  });
}

function textOf(value: string | Buffer | null): string | null {
  return Buffer.isBuffer(value) ? value.toString('utf8') : value;
}

const TYPES = {
  text: 'text',
  json: 'json',
  jsonb: 'jsonb',
  bytea: 'bytea',
  array: 'text[]',
} as const;

/**
 * Replaces one value, unless it has changed since it was read, or the table refuses the change: a trigger or a
 * check of the shop's own table stops no erasure.
 * @returns where the row is now; undefined if the value was not replaced
 */
export async function replaceText(
  db: Queryable,
  { quoted }: TextTable,
  {
    column: { quoted: column, type },
    tid,
    before,
    after,
  }: {
    readonly column: TextColumn;
    readonly tid: string;
    readonly before: string;
    readonly after: string;
  },
): Promise<string | undefined> {
  const isBytes = type === 'bytea';
  try {
    const rows = await db.query<{ tid: string }>(
      `update ${quoted} set ${column} = $1::${TYPES[type]}
        where ctid = $2::tid and ${isBytes ? '$3::text is not null' : `${column}::text = $3`}
        returning ctid::text as tid`,
      [isBytes ? Buffer.from(after) : after, tid, before],
    );
    return rows[0]?.tid;
  } catch (error) {
    if (isRefusedChange(error)) return undefined;
    throw error;
  }
}

/** Removes the versions of rows from before, and statistics with values of them. Only owned tables. */
export async function vacuumTable(db: Queryable, { quoted }: TextTable): Promise<void> {
  await db.query(`vacuum (analyze) ${quoted}`);
}
