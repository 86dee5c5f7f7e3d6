/** Statements on the rate budget that all processes share. */

import { type RateState, renew } from '../../client/domain/rate.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type BackgroundUse, currentMinute } from '../domain/backgroundRate.ts';

/** Everything in the one row. */
export interface BudgetState {
  readonly rate: RateState;
  readonly background: BackgroundUse;
}

interface BudgetRow {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetMs: number | null;
  readonly isAssumed: boolean;
  readonly backgroundRequests: number;
  readonly backgroundFromMs: number | null;
  readonly nowMs: number;
}

const COLUMNS = `
  requests_limit as "limit", remaining,
  (extract(epoch from reset_at) * 1000)::bigint as "resetMs", is_assumed as "isAssumed",
  background_taken as "backgroundRequests",
  (extract(epoch from background_from) * 1000)::bigint as "backgroundFromMs",
  (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"`;

/** Locks the budget until the transaction ends, and reads it with the database's time. */
export async function lockBudget(
  tx: Queryable,
): Promise<{ readonly state: BudgetState; readonly nowMs: number }> {
  const rows = await tx.query<BudgetRow>(`select ${COLUMNS} from rate_budget for update`);
  const [row] = rows;
  if (!row) throw new Error('the row of rate_budget is missing; a migration inserts it');
  return { state: toState(row), nowMs: row.nowMs };
}

/** The budget as people see it. */
export interface BudgetInUse {
  /** Requests a minute that the service allows; null before it has sent its limit. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Requests of background work in its current minute. */
  readonly backgroundRequests: number;
}

/** Reads what is left without a lock, for people. */
export async function readBudget(db: Queryable): Promise<BudgetInUse> {
  const [row] = await db.query<BudgetRow>(`select ${COLUMNS} from rate_budget`);
  if (!row) throw new Error('the row of rate_budget is missing; a migration inserts it');
  const { rate, background } = toState(row);
  const { limit, remaining } = renew(rate, row.nowMs);
  return {
    limit: limit ?? null,
    remaining: remaining ?? null,
    backgroundRequests: currentMinute(background, row.nowMs).requests,
  };
}

export async function writeBudget(tx: Queryable, { rate, background }: BudgetState): Promise<void> {
  await tx.query(
    `update rate_budget
        set requests_limit = $1, remaining = $2, reset_at = to_timestamp($3::double precision / 1000),
            is_assumed = $4, background_taken = $5,
            background_from = to_timestamp($6::double precision / 1000)`,
    [
      rate.limit ?? null,
      rate.remaining ?? null,
      rate.resetAtMs ?? null,
      rate.isAssumed,
      background.requests,
      background.fromMs ?? null,
    ],
  );
}

function toState(row: BudgetRow): BudgetState {
  const { limit, remaining, resetMs, isAssumed } = row;
  return {
    rate: {
      limit: limit ?? undefined,
      remaining: remaining ?? undefined,
      resetAtMs: resetMs ?? undefined,
      isAssumed,
    },
    background: { requests: row.backgroundRequests, fromMs: row.backgroundFromMs ?? undefined },
  };
}
