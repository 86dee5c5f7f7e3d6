/**
 * Pages of lists that are read by scanning a bounded number of rows.
 *
 * Terms. *Place*: the time and id of a row; a list is ordered by place, newest first. *Scan*: rows of one
 * source that match a filter, and the place up to which the source was searched.
 *
 * 1. A page never ends before a match that it leaves out: rows that are older than the end of any scan
 *    wait for a later page, because that scan may still have newer ones.
 * 2. The next page starts at the end of this one, so no row is listed twice.
 */

export interface Place {
  /** Microseconds since 1970. */
  readonly atMicros: number;
  readonly id: string;
}

export interface Scan<Row extends Place> {
  /** Matches, newest first; one more than the page at most. */
  readonly rows: readonly Row[];
  /** The last place that was searched; undefined if the source has no more rows. */
  readonly end: Place | undefined;
}

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Where the next page starts; undefined on the last page. */
  readonly next: Place | undefined;
}

export function mergeScans<Row extends Place>(
  scans: readonly Scan<Row>[],
  limit: number,
): ListPage<Row> {
  const ends = scans.flatMap(({ rows, end }) => endOf(rows, end, limit));
  const frontier = ends.toSorted(newestFirst)[0];
  const found = scans
    .flatMap(({ rows }) => rows)
    .filter((row) => frontier === undefined || newestFirst(row, frontier) <= 0)
    .toSorted(newestFirst);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length > limit && last) return { rows, next: placeOf(last) };
  return { rows, next: frontier };
}

/** A scan that found more than a page has searched no further than its last match. */
function endOf<Row extends Place>(
  rows: readonly Row[],
  end: Place | undefined,
  limit: number,
): readonly Place[] {
  const last = rows.at(-1);
  if (rows.length > limit && last) return [placeOf(last)];
  return end === undefined ? [] : [end];
}

function placeOf({ atMicros, id }: Place): Place {
  return { atMicros, id };
}

/** Ids are compared by their code units, as the collation "C" of PostgreSQL does for what ids contain. */
function newestFirst(one: Place, other: Place): number {
  if (one.atMicros !== other.atMicros) return other.atMicros - one.atMicros;
  if (one.id === other.id) return 0;
  return one.id < other.id ? 1 : -1;
}
