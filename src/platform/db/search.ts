/**
 * Lists by number, newest first, with filters that few rows may match.
 *
 * 1. A page reads at most `MAX_SEARCHED_ROWS` rows of its table, in any plan and with any statistics, and returns
 *    where it ended. It may be short, or empty, although there is a next one.
 * 2. What finds the rows that are searched is one condition, which an index has. Other conditions of the filter are
 *    compared with each of them.
 * 3. An index that is for a list alone has a condition that its list states and no other statement does, such as
 *    `id > 0`. On a table with the statistics of an empty one, any index that can be used may be, also by a lookup for
 *    which it reads the whole table (record 187).
 */
import type { Queryable } from './database.ts';

/** The most rows that are searched for a page. */
export const MAX_SEARCHED_ROWS = 10_000;

interface Search {
  readonly table: string;
  /** The number of a row, by which the list is ordered. */
  readonly key: string;
  readonly columns: string;
  readonly source: SearchSource;
  /** Undefined: every row of the source is shown. */
  readonly filter: SearchFilter | undefined;
}

/** The rows that are searched. */
export interface SearchSource {
  /** A condition of constants and `$2`, the value. */
  readonly where: string;
  /** Undefined: the condition has none. */
  readonly value?: string | readonly string[];
}

export interface SearchFilter {
  /** The columns that are compared, such as `state, severity`. */
  readonly columns: string;
  /** A condition of these columns and the values, `$5` and further. */
  readonly where: string;
  readonly values: readonly unknown[];
  /** No row below one of an earlier time matches. */
  readonly end?: { readonly timeColumn: string; readonly at: Date } | undefined;
}

export interface SearchPage {
  /** Rows from this number on were on earlier pages. */
  readonly below: number;
  readonly limit: number;
}

export interface Found<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Rows below this number were not searched; undefined at the end of the list. */
  readonly next: number | undefined;
}

/** A page of a list, and where the search for it ended. */
export async function searchNewest<Row extends object>(
  db: Queryable,
  { table, key, columns, source, filter }: Search,
  { below, limit }: SearchPage,
): Promise<Found<Row>> {
  const value = source.value ?? null;
  const searched = `from ${table} where ${key} < $1 and (${source.where}) ${value === null ? 'and $2::text is null' : ''}
      order by ${key} desc`;
  const compared = filter === undefined ? key : `${key}, ${filter.columns}`;
  const rows = await db.query<Row & { readonly searchKey: number }>(
    `select ${columns}, ${key} as "searchKey"
       from ${table}
      where ${key} = any (array(
              select ${key} from (select ${compared} ${searched} limit $3) searched
               where ${filter?.where ?? 'true'}
               order by ${key} desc limit $4))
      order by ${key} desc`,
    [
      below,
      value,
      filter === undefined ? limit + 1 : MAX_SEARCHED_ROWS,
      limit + 1,
      ...(filter?.values ?? []),
    ],
  );
  const shown = rows.slice(0, limit).map(({ searchKey: _searchKey, ...row }) => row as Row);
  if (rows.length > limit) return { rows: shown, next: rows[limit - 1]?.searchKey };
  if (filter === undefined) return { rows: shown, next: undefined };
  const [end] = await db.query<{ number: number; isPast: boolean }>(
    `select ${key} as number, coalesce(${filter.end?.timeColumn ?? 'null'} < $3::timestamptz, false) as "isPast"
       from (select * ${searched} offset ${MAX_SEARCHED_ROWS - 1} limit 1) ending`,
    [below, value, filter.end?.at.toISOString() ?? null],
  );
  return { rows: shown, next: end === undefined || end.isPast ? undefined : end.number };
}
