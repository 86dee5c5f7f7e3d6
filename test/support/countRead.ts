/** Counts what a statement reads. */
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { oneRow } from '../../src/platform/db/oneRow.ts';

interface Counted<Row> {
  readonly rows: readonly Row[];
  /** How many rows of the table were read. */
  readonly read: number;
}

/**
 * Runs a statement in a transaction that finds rows by their keys (platform/db/database.ts), and rolls it back.
 * @param table that it reads
 */
export async function countRead<Row>(
  db: Database,
  table: string,
  statement: (tx: Queryable) => Promise<readonly Row[]>,
): Promise<Counted<Row>> {
  const undone = new Error('undo');
  const counted: Counted<Row>[] = [];
  await db
    .transaction(async (tx) => {
      await tx.query('set local enable_seqscan = off');
      await tx.query('set local enable_hashjoin = off');
      await tx.query('set local enable_mergejoin = off');
      await tx.query('set local plan_cache_mode = force_generic_plan');
      const before = await readCounter(tx, table);
      const rows = await statement(tx);
      counted.push({ rows, read: (await readCounter(tx, table)) - before });
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return oneRow(counted);
}

/** Of this session: what it read just before this transaction may be among it. */
async function readCounter(tx: Queryable, table: string): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select coalesce(sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), 0)::int as count
       from pg_stat_xact_user_tables where relname = $1`,
    [table],
  );
  return oneRow(rows).count;
}
