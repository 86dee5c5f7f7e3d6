/** Statements on how far retention is. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';

export interface ClassState {
  readonly name: string;
  readonly removedRows: number;
  /** The greatest number removed; null if none was. */
  readonly removedThrough: number | null;
  /** How long ago nothing was left to remove. */
  readonly behindMs: number;
}

export async function readStates(db: Queryable): Promise<readonly ClassState[]> {
  return await db.query<ClassState>(
    `select class as name, removed_rows as "removedRows", removed_through as "removedThrough",
            (extract(epoch from statement_timestamp() - caught_up_at) * 1000)::bigint as "behindMs"
       from retention_state
      order by class
      limit 100`,
  );
}

/** Adds rows for classes without one, as if they had just caught up. */
export async function keepStates(tx: Queryable, names: readonly string[]): Promise<void> {
  await tx.query(
    `insert into retention_state (class) select unnest($1::text[]) on conflict (class) do nothing`,
    [names],
  );
}

/** Adds to what was removed, in the transaction that removes it. */
export async function addRemoved(
  tx: Queryable,
  name: string,
  { rows, through }: { readonly rows: number; readonly through: number },
): Promise<void> {
  await tx.query(
    `update retention_state
        set removed_rows = removed_rows + $2, removed_through = greatest(removed_through, $3)
      where class = $1`,
    [name, rows, through],
  );
}

/** Records that nothing is left to remove of classes. */
export async function markCaughtUp(db: Queryable, names: readonly string[]): Promise<void> {
  await db.query(
    `update retention_state set caught_up_at = statement_timestamp() where class = any ($1::text[])`,
    [names],
  );
}

/** The database's time less some days. */
export async function readCutoff(db: Queryable, days: number): Promise<Date> {
  const rows = await db.query<{ before: Date }>(
    `select statement_timestamp() - $1 * interval '1 day' as before`,
    [days],
  );
  return oneRow(rows).before;
}
