/** A server that has run for a while has its indexes in memory; one that was just started reads them first. */
import type { Database } from '../../src/platform/db/database.ts';

/** 512 MiB: a statement takes seconds, also on a slow disk. */
const BLOCKS_AT_ONCE = 65_536;

/** Reads all indexes, the largest last, so that those that do not fit into memory push out the fewest. */
export async function readIndexes(db: Pick<Database, 'query'>): Promise<void> {
  await db.query('create extension pg_prewarm');
  const indexes = await db.query<{ name: string; blocks: number }>(
    `select c.oid::regclass::text as name,
            pg_relation_size(c.oid) / current_setting('block_size')::int as blocks
       from pg_class c
      where c.relkind = 'i' and c.relnamespace = 'public'::regnamespace
      order by 2
      limit 10000`,
  );
  for (const { name, blocks } of indexes) {
    for (let from = 0; from < blocks; from += BLOCKS_AT_ONCE) {
      const through = Math.min(from + BLOCKS_AT_ONCE, blocks) - 1;
      await db.query(`select pg_prewarm($1::regclass, 'read', 'main', $2, $3)`, [
        name,
        from,
        through,
      ]);
    }
  }
  await db.query('drop extension pg_prewarm');
}
