/**
 * Advisory locks: what one transaction at a time may do, where there is no row to lock.
 *
 * 1. A transaction holds them until it ends; the server releases them after its commit is visible.
 * 2. A lock has a name, and its key is a hash of it. Names that share a hash only wait for each other.
 * 3. The name and the hash of a lock never change: processes of two versions exclude each other by them.
 */
import type { Queryable } from './database.ts';

/** Waits for the lock. */
export async function lockByName(tx: Queryable, name: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

/** @returns false if another transaction holds the lock */
export async function tryLockByName(tx: Queryable, name: string): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [name],
  );
  return row?.locked ?? false;
}
