/**
 * Keyset pagination: a page begins after the last row of the one before, so rows that are inserted or deleted
 * meanwhile shift nothing.
 */

/** Reads up to `limit` rows after one, or from the first on. */
type ReadAfter<Row> = (after: Row | undefined, limit: number) => Promise<readonly Row[]>;

/** Every page of a list. None is empty. */
export async function* keysetPages<Row>(
  limit: number,
  readAfter: ReadAfter<Row>,
): AsyncGenerator<readonly Row[], void> {
  let last: Row | undefined;
  for (;;) {
    const rows = await readAfter(last, limit);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1);
  }
}

/** Every row of a list. */
export async function* keysetRows<Row>(
  limit: number,
  readAfter: ReadAfter<Row>,
): AsyncGenerator<Row, void> {
  for await (const rows of keysetPages(limit, readAfter)) yield* rows;
}

interface LinkedPage<Row, Place> {
  readonly rows: readonly Row[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: Place | undefined;
}

/** Every page of a list that searches a bounded number of rows for a page, without the empty ones. */
export async function* linkedPages<Row, Place>(
  from: Place | undefined,
  readPage: (after: Place | undefined) => Promise<LinkedPage<Row, Place>>,
): AsyncGenerator<readonly Row[], void> {
  let after = from;
  do {
    const { rows, next } = await readPage(after);
    if (rows.length > 0) yield rows;
    after = next;
  } while (after !== undefined);
}
