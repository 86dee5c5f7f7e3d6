/**
 * The rate budget of the account, shared by all processes through one row. The rules are the
 * client's (client/domain/rate.ts) and our own (domain/ceiling.ts); here they are applied under a
 * lock on that row.
 *
 * Time is the database's, so that processes on machines whose clocks differ agree about the reset.
 * A row costs a round trip for each request, which takes many times longer itself; a lease of several
 * requests for each process would be faster and would leave what it holds unused.
 */

import { type Admission, acquire, RESERVES, update } from '../client/domain/rate.ts';
import type { RateBudget } from '../client/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { type RateSettings, reservesOf, takeBelowCeiling } from './domain/ceiling.ts';
import { type BudgetState, lockBudget, writeBudget } from './store/budget.ts';

/** Makes the budget. Its methods reject when the database is away, and the calls they serve fail. */
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
        const below = takeBelowCeiling(before.background, { lane, settings, nowMs });
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
      // Put from our clock on the database's.
      const waitMs = resetAtMs === undefined ? undefined : resetAtMs - clock.nowMs();
      return change((before, nowMs) => {
        const told = { ...reading, resetAtMs: waitMs === undefined ? undefined : nowMs + waitMs };
        const rate = update(before.rate, told, nowMs);
        const state = rate === before.rate ? before : { ...before, rate };
        return { state, result: undefined };
      });
    },
  };
}
