/** How long transactions wait for what others hold. */
import type { Database, Queryable } from './database.ts';

/**
 * Lets each wait for a lock end with PostgreSQL's error lock_not_available after a time, until the transaction
 * ends or the setting is restored. @returns the setting before
 */
export async function limitLockWaits(tx: Queryable, withinMs: number): Promise<string> {
  const [row] = await tx.query<{ before: string }>(
    `select current_setting('lock_timeout') as before, set_config('lock_timeout', $1, true)`,
    [`${withinMs}ms`],
  );
  return row?.before ?? '0';
}

/** @param before as `limitLockWaits` returned it */
export async function restoreLockWaits(tx: Queryable, before: string): Promise<void> {
  await tx.query(`select set_config('lock_timeout', $1, true)`, [before]);
}

/** The same database, in which each transaction limits its waits for locks. */
export function limitingLockWaits(db: Database, withinMs: number): Database {
  return {
    ...db,
    transaction: (work) =>
      db.transaction(async (tx) => {
        await limitLockWaits(tx, withinMs);
        return await work(tx);
      }),
  };
}
