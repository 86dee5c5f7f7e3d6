/** Attempts to move money, or to submit evidence about it, that ended without a result. */
import type { Queryable } from '../platform/db/database.ts';
import { DAY_MS, MINUTE_MS } from '../platform/time.ts';
import { type AuditRow, readOpenAttempts } from './store/audit.ts';

/** Longer than a request and the retrieves around it take. */
export const RUNNING_FOR_MS = 5 * MINUTE_MS;
/** The report ends by itself, also where nobody closes the attempt. */
const REPORTED_FOR_MS = 7 * DAY_MS;

/** The oldest attempts. @param limit how many at most */
export function readInterruptedAttempts(
  db: Queryable,
  limit: number,
): Promise<readonly AuditRow[]> {
  return readOpenAttempts(db, {
    actions: [
      'authorization.capture',
      'authorization.cancel',
      'payment.refund',
      'dispute.accept',
      'dispute.evidence',
      'dispute.upload',
      'payout.retry',
      'payout.fulfill',
      'payout.cancel',
    ],
    olderThanMs: RUNNING_FOR_MS,
    withinMs: REPORTED_FOR_MS,
    limit,
  });
}
