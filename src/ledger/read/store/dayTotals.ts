/** Statements that sum what the journal recorded: within a period, and by day. */
import type { Queryable } from '../../../platform/db/database.ts';
import { type Account, LEGS } from '../../domain/legs.ts';
import { instantOrNull } from '../../domain/time.ts';
import type { SumsAsText } from './sums.ts';

export interface DayTotals {
  readonly currency: string;
  readonly capturedMinor: bigint;
  readonly refundedMinor: bigint;
  readonly disputedMinor: bigint;
  readonly paidOutMinor: bigint;
}

const { payment, refund, dispute, payout } = LEGS;

/** A transfer of a leg adds to its total when it debits the account, and subtracts otherwise. */
const SUMMED: readonly {
  readonly total: 'captured' | 'refunded' | 'disputed' | 'paid_out';
  readonly leg: LegName;
  readonly account: Account;
}[] = [
  { total: 'captured', leg: 'captured', account: payment.captured.debit },
  { total: 'captured', leg: 'capture_voided', account: payment.capture_voided.credit },
  { total: 'refunded', leg: 'settled', account: refund.settled.debit },
  { total: 'disputed', leg: 'held', account: dispute.held.debit },
  { total: 'paid_out', leg: 'delivered', account: payout.delivered.debit },
  { total: 'paid_out', leg: 'reversed', account: payout.reversed.credit },
];

type LegName =
  | keyof typeof payment
  | keyof typeof refund
  | keyof typeof dispute
  | keyof typeof payout;

/** Sums of `signedTransfers`, as text: a sum may exceed what a number holds exactly. */
const TOTALS = `
  coalesce(sum(signed) filter (where total = 'captured'), 0)::text as "capturedMinor",
  coalesce(sum(signed) filter (where total = 'refunded'), 0)::text as "refundedMinor",
  coalesce(sum(signed) filter (where total = 'disputed' and signed > 0), 0)::text
    as "disputedMinor",
  coalesce(sum(signed) filter (where total = 'paid_out'), 0)::text as "paidOutMinor"`;

/**
 * What each resource moved at once on the legs in `SUMMED_VALUES`. A corrected effective time takes back
 * and posts again: together nothing.
 * @param condition SQL about the transfer `t`
 */
function signedTransfers(condition: string): string {
  return `
    select t.currency, t.recorded_at, s.total,
           sum(case when t.debit = s.account then t.amount_minor else -t.amount_minor end) as signed
      from transfers t
      join unnest($1::text[], $2::text[], $3::text[]) as s (total, leg, account) on s.leg = t.leg
     where ${condition}
     group by t.currency, t.recorded_at, s.total, t.resource_id`;
}

const SUMMED_VALUES: readonly (readonly string[])[] = [
  SUMMED.map(({ total }) => total),
  SUMMED.map(({ leg }) => leg),
  SUMMED.map(({ account }) => account),
];

/**
 * Captures, settled refunds and delivered payouts, net of reversals, and the amounts that disputes
 * began to hold. Currencies without any of them are left out.
 */
export async function readDayTotals(
  db: Queryable,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<readonly DayTotals[]> {
  const rows = await db.query<SumsAsText<DayTotals>>(
    `select currency, ${TOTALS}
       from (${signedTransfers('t.recorded_at >= $4 and t.recorded_at < $5')}) moved
      group by currency
      order by currency
      limit 1000`,
    [...SUMMED_VALUES, from.toISOString(), to.toISOString()],
  );
  return rows.map((row) => ({ currency: row.currency, ...exactly(row) }));
}

function exactly(row: SumsAsText<DayTotals>): Omit<DayTotals, 'currency'> {
  return {
    capturedMinor: BigInt(row.capturedMinor),
    refundedMinor: BigInt(row.refundedMinor),
    disputedMinor: BigInt(row.disputedMinor),
    paidOutMinor: BigInt(row.paidOutMinor),
  };
}

export interface DatedTotals extends DayTotals {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
}

/** The same for each day in UTC since a time. Days and currencies without any are left out. */
export async function readTotalsByDay(
  db: Queryable,
  fromMicros: number,
): Promise<readonly DatedTotals[]> {
  const rows = await db.query<SumsAsText<DatedTotals>>(
    `select to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD') as day, currency, ${TOTALS}
       from (${signedTransfers('t.recorded_at >= $4')}) moved
      group by 1, 2
      order by 1, 2
      limit 10000`,
    [...SUMMED_VALUES, instantOrNull(fromMicros)],
  );
  return rows.map((row) => ({ day: row.day, currency: row.currency, ...exactly(row) }));
}
