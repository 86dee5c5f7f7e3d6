/**
 * Closes months and reopens them, in the caller's transaction. What a month may be, and what a closing
 * contains, is in ledger/domain/closings.ts.
 *
 * 1. One transaction at a time closes or reopens, under a lock that nothing else takes.
 * 2. The number that divides the journal is read under this lock, so later closings have greater ones.
 */
import {
  type Closing,
  type ClosingException,
  closingsInForce,
  type MayClose,
  mayClose,
  mayReopen,
  zoneOf,
} from '../ledger/domain/closings.ts';
import type { Period } from '../ledger/domain/period.ts';
import { fenceJournal } from '../ledger/fenceJournal.ts';
import { readClosings } from '../ledger/read/store/closings.ts';
import { readPeriod } from '../ledger/read/store/statement.ts';
import { requireDated } from '../ledger/read/undated.ts';
import {
  insertClosing,
  insertClosingSums,
  lockClosings,
  markReopened,
} from '../ledger/store/closings.ts';
import { readConsistently } from '../ledger/store/readConsistently.ts';
import { sumNewClosing } from '../ledger/sumClosing.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { readExceptions } from './unproven.ts';

export interface CloseRequest {
  /** `2026-10` */
  readonly month: string;
  /** Undefined: that of the closed months, or UTC. */
  readonly timeZone: string | undefined;
  readonly by: string;
  /** Why it is closed in spite of its exceptions. */
  readonly reason: string | undefined;
  /** Close it although something is unproven. */
  readonly withExceptions: boolean;
}

/** What would happen if a month was closed now. */
export interface ClosingPlan {
  readonly period: Period;
  readonly may: MayClose;
  readonly exceptions: readonly ClosingException[];
  /** Every closing of the month. */
  readonly closings: readonly Closing[];
}

/** @param request without a time zone: that of the closed months, or UTC */
export function readClosingPlan(db: Database, request: PlanRequest): Promise<ClosingPlan> {
  return readConsistently(db, (tx) => planClosing(tx, request));
}

type PlanRequest = Pick<CloseRequest, 'month' | 'timeZone'>;

async function planClosing(tx: Queryable, { month, timeZone }: PlanRequest): Promise<ClosingPlan> {
  const all = await readClosings(tx);
  const inForce = closingsInForce(all);
  const read = await readPeriod(tx, month, timeZone ?? zoneOf(inForce));
  const { knownMicros: nowMicros, ...period } = read;
  return {
    period,
    may: mayClose(period, { inForce, nowMicros }),
    exceptions: await readExceptions(tx, period),
    closings: all.filter((one) => one.month === month),
  };
}

export type Closed =
  | { readonly outcome: 'closed'; readonly closing: Closing }
  | { readonly outcome: 'refused'; readonly message: string }
  | { readonly outcome: 'unproven'; readonly exceptions: readonly ClosingException[] };

/** @throws UndatedTransfers while transfers of an earlier version have no effective time */
export async function closePeriod(tx: Queryable, request: CloseRequest): Promise<Closed> {
  const { by, reason, withExceptions } = request;
  await lockClosings(tx);
  await requireDated(tx);
  const { period, may, exceptions, closings } = await planClosing(tx, request);
  if (may.outcome !== 'ok') return may;
  if (exceptions.length > 0 && !withExceptions) return { outcome: 'unproven', exceptions };
  const version = closings.length + 1;
  const { previous } = may;
  const lastTransfer = await fenceJournal(tx);
  const id = await insertClosing(tx, {
    period,
    version,
    previous,
    lastTransfer,
    by,
    reason,
    exceptions,
  });
  await insertClosingSums(tx, id, await sumNewClosing(tx, { period, lastTransfer, previous }));
  const closing = (await readClosings(tx)).find((one) => one.id === id);
  if (!closing) throw new Error('the closing that was inserted is missing');
  return { outcome: 'closed', closing };
}

export type Reopened =
  | { readonly outcome: 'reopened'; readonly closing: Closing }
  | { readonly outcome: 'not_closed' | 'refused'; readonly message: string };

/** @param request why; not empty */
export async function reopenPeriod(
  tx: Queryable,
  { month, by, reason }: { readonly month: string; readonly by: string; readonly reason: string },
): Promise<Reopened> {
  await lockClosings(tx);
  const may = mayReopen(month, closingsInForce(await readClosings(tx)));
  if (may.outcome !== 'ok') return may;
  await markReopened(tx, may.closing.id, { by, reason });
  return { outcome: 'reopened', closing: may.closing };
}
