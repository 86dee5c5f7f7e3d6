import { type Database, MAY_BE_IDLE, type Queryable } from '../../platform/db/database.ts';
import { pipelined } from '../../platform/db/pipelined.ts';

/**
 * Runs reads that must agree with each other. All of them see the ledger as of the first read,
 * regardless of later commits. Takes no lock that blocks writers, so it may be idle for as long as a reader of its
 * output takes.
 */
export function readConsistently<T>(
  db: Pick<Database, 'transaction'>,
  read: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await pipelined([
      tx.query('set transaction isolation level repeatable read, read only'),
      tx.query(`select ${MAY_BE_IDLE}`),
    ]);
    return read(tx);
  });
}
