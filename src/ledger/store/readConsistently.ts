import type { Database, Queryable } from '../../platform/db/database.ts';

/**
 * Runs reads that must agree with each other. All of them see the ledger as of the first read,
 * regardless of later commits. Takes no lock that blocks writers.
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
