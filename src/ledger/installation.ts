/** One Tallyhook serves one merchant account: books of two would add up to neither. */
import type { Database, Queryable } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { readStampedAt, stampInstallation } from './store/installation.ts';

/**
 * Binds the database to a merchant account at first use.
 * @throws OperatorError when it is bound to another one
 */
export async function bindInstallation(db: Database, merchantId: string): Promise<void> {
  const stamped = await stampInstallation(db, merchantId);
  if (stamped !== merchantId) {
    throw new OperatorError(
      `This database keeps the books of merchant ${stamped}, but PAYMENTS_MERCHANT_ID is ${merchantId}. ` +
        'Mixing two accounts would make both wrong. Set the other id, or use another database.',
    );
  }
}

/** When Tallyhook began to keep these books, in milliseconds since 1970; now, where it has not yet. */
export async function readBeginningMs(db: Queryable, nowMs: number): Promise<number> {
  return (await readStampedAt(db))?.getTime() ?? nowMs;
}
