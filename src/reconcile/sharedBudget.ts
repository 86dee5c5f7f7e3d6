/**
 * The rate budget of the account, shared by all processes through one row. The rules are those of
 * client/domain/rate.ts and domain/backgroundRate.ts; here they are applied under a lock on that row.
 *
 * Times are the database's, so that processes agree about the reset although their clocks differ.
 * Locking the row costs each request a round trip to the database. Leasing several requests to each
 * process would save it and leave the unused ones of a lease idle.
 */

import { type Admission, acquire, RESERVES, update } from '../client/domain/rate.ts';
import type { RateBudget } from '../client/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { acquireBelowCeiling, type RateSettings, reservesOf } from './domain/backgroundRate.ts';
import { type BudgetState, lockBudget, writeBudget } from './store/budget.ts';

/** Makes the budget. Its methods reject while the database is unavailable, and then no request is sent. */
export function createSharedBudget(db: Database, clock: Clock, settings: RateSettings): RateBudget {
  const reserves = { ...RESERVES, ...reservesOf(settings) };
  const change = <T>(
    decide: (
      state: BudgetState,
      nowMs: number,
    ) => { readonly state: BudgetState; readonly result: T },
  ): Promise<T> =>
    db.transaction(async (tx) => {
      const { state: before, nowMs } = await lockBudget(tx);
      const { state, result } = decide(before, nowMs);
      if (state !== before) await writeBudget(tx, state);
      return result;
    });
  return {
    acquire: (lane) =>
      change<Admission>((before, nowMs) => {
        const below = acquireBelowCeiling(before.background, { lane, settings, nowMs });
        if (below.waitMs > 0) {
          return { state: before, result: { admitted: false, waitMs: below.waitMs } };
        }
        const { state: rate, admission } = acquire(before.rate, lane, nowMs, reserves);
        const background = admission.admitted ? below.use : before.background;
        const isSame = rate === before.rate && background === before.background;
        return { state: isSame ? before : { rate, background }, result: admission };
      }),
    update: (reading) => {
      const { resetAtMs } = reading;
      // From the local clock to the database's.
      const waitMs = resetAtMs === undefined ? undefined : resetAtMs - clock.nowMs();
      return change((before, nowMs) => {
        const onDatabaseClock = {
          ...reading,
          resetAtMs: waitMs === undefined ? undefined : nowMs + waitMs,
        };
        const rate = update(before.rate, onDatabaseClock, nowMs);
        const state = rate === before.rate ? before : { ...before, rate };
        return { state, result: undefined };
      });
    },
  };
}
