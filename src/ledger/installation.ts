/** Binds a database to one merchant account: totals over two accounts would be wrong for both. */
import type { Database, Queryable } from '../platform/db/database.ts';
import { UsageError } from '../platform/errors.ts';
import { readStampedAt, stampInstallation } from './store/installation.ts';

/**
 * Binds the database to a merchant account at first use.
 * @throws UsageError when it is bound to another one
 */
export async function bindInstallation(db: Database, merchantId: string): Promise<void> {
  const stamped = await stampInstallation(db, merchantId);
  if (stamped !== merchantId) {
    throw new UsageError(
      `This database holds the ledger of merchant ${stamped}, but PAYMENTS_MERCHANT_ID is ${merchantId}. ` +
        'One ledger for two accounts would be wrong for both. Set PAYMENTS_MERCHANT_ID to the first id, or use another database.',
    );
  }
}

/** When this ledger was created, in milliseconds since 1970; `nowMs` if it does not exist yet. */
export async function readBeginningMs(db: Queryable, nowMs: number): Promise<number> {
  return (await readStampedAt(db))?.getTime() ?? nowMs;
}
