/** Finds money that stands longer on its way than it should; run by the scheduler. */
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { TERMS } from './domain/overdue.ts';
import { openOverdue } from './store/overdue.ts';

const ROWS_PER_STATEMENT = 500;

export function createOverdueCheck(parts: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<void> {
  return async () => {
    const request = { terms: TERMS, now: new Date(parts.clock.nowMs()), limit: ROWS_PER_STATEMENT };
    let found = 0;
    for (;;) {
      const rows = await openOverdue(parts.db, request);
      found += rows;
      if (rows < ROWS_PER_STATEMENT) break;
    }
    if (found > 0) parts.log.warn({ found }, 'ledger.overdue_found');
  };
}
