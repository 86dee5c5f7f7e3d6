/** Statements on the session. */
import type { Queryable } from '../../platform/db/database.ts';

/** Times become text in UTC until the end of the transaction, regardless of the server's zone. */
export async function writeTimesInUtc(tx: Queryable): Promise<void> {
  await tx.query(`select set_config('TimeZone', 'UTC', true)`);
}
