/**
 * Leaves the indexes of filled tables alone while rows arrive, and builds them afterwards: a copy then
 * takes a fraction of the time.
 */
import type { Queryable } from '../../src/platform/db/database.ts';

/**
 * How full the pages of an index are after many inserts in random places: about ln 2. Indexes by number
 * or time are written at their end, and keep what PostgreSQL fills by itself.
 */
const SCATTERED_FILL_PERCENT = 70;

/** From now on, inserts write no indexes of these tables. Only a superuser may do this. */
export async function suspendIndexes(db: Queryable, tables: readonly string[]): Promise<void> {
  await db.query(
    `update pg_index set indisready = false, indisvalid = false
      where indrelid = any ($1::text[]::regclass[])`,
    [tables],
  );
}

/**
 * Builds suspended indexes, as full as they are in a ledger that was written row by row.
 * @returns how many there were
 */
export async function rebuildIndexes(db: Queryable, tables: readonly string[]): Promise<number> {
  const indexes = await db.query<{ name: string; isScattered: boolean }>(
    `select i.indexrelid::regclass::text as name,
            a.atttypid in ('text'::regtype, 'bytea'::regtype) as "isScattered"
       from pg_index i
       join pg_attribute a on a.attrelid = i.indexrelid and a.attnum = 1
      where i.indrelid = any ($1::text[]::regclass[]) and not i.indisvalid
      order by 1
      limit 1000`,
    [tables],
  );
  for (const { name, isScattered } of indexes) {
    if (isScattered) {
      await db.query(`alter index ${name} set (fillfactor = ${SCATTERED_FILL_PERCENT})`);
    }
    await db.query(`reindex index ${name}`);
    if (isScattered) await db.query(`alter index ${name} reset (fillfactor)`);
  }
  return indexes.length;
}
