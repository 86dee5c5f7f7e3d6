import type { Database, Queryable } from '../../platform/db/database.ts';

/**
 * Runs reads that must agree with each other: all of them see the ledger as it stood at the first,
 * whatever is committed meanwhile. Takes no lock that a writer could wait for.
 */
export function readConsistently<T>(
  db: Pick<Database, 'transaction'>,
  read: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    return read(tx);
  });
}
