/**
 * Adds transfers to the sums by effective time, some thousands at a time (store/transferSums.ts).
 *
 * 1. A step is one transaction that locks one row, which no worker locks: events go on.
 * 2. Sums that are found wrong begin again: by `verify`, or here, after the clock of the database went back.
 */
import { monotonicMs } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { hasUndatedTransfers } from './read/store/statement.ts';
import {
  addToSums,
  lockSums,
  readNextSpan,
  removeSums,
  restartSums,
} from './store/transferSums.ts';
import { BUDGET_MS, turnsUntil } from './turns.ts';

/** Transfers of a step, about half a second of work. */
const TRANSFERS_AT_ONCE = 5_000;

export interface SumsJobParts {
  readonly db: Database;
  readonly signal: AbortSignal;
}

/** @returns the work of one run of the schedule `transfer_sums` */
export function createSumsJob({ db, signal }: SumsJobParts): () => Promise<void> {
  return async () => {
    for await (const _turn of turnsUntil(monotonicMs() + BUDGET_MS, signal)) {
      if (!(await sumNext(db))) return;
    }
  };
}

/** @param limit about how many transfers to add @returns false once nothing is left to do */
export function sumNext(db: Database, limit = TRANSFERS_AT_ONCE): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Their effective times are set later, in place.
    if (await hasUndatedTransfers(tx)) return false;
    const state = await lockSums(tx);
    if (state.isAhead) {
      await restartSums(tx);
      return true;
    }
    if (!state.isBegun && (await removeSums(tx, limit)) > 0) return true;
    const span = await readNextSpan(tx, state, limit);
    if (!span) return false;
    await addToSums(tx, span);
    return true;
  });
}
