/**
 * Statements that add the journal up. Sums are exact: one that leaves the range of exact integers
 * makes the statement fail, in the database or where its result is read.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { OrderTotals } from '../../domain/order.ts';

/** What one account holds in one currency. */
export interface AccountBalance {
  readonly account: string;
  readonly class: string;
  readonly meaning: string;
  readonly currency: string;
  readonly debitedMinor: number;
  readonly creditedMinor: number;
  /** Debited less credited. */
  readonly balanceMinor: number;
}

function balancesOf(transfers: string): string {
  return `
    with moved as (
      select t.debit, t.credit, t.currency, sum(t.amount_minor) as minor
        from ${transfers}
       group by t.debit, t.credit, t.currency
    ), sides as (
      select debit as account, currency, minor as debited, 0 as credited from moved
      union all
      select credit, currency, 0, minor from moved
    )
    select a.code as account, a.class, a.meaning, s.currency,
           sum(s.debited)::bigint as "debitedMinor", sum(s.credited)::bigint as "creditedMinor",
           sum(s.debited - s.credited)::bigint as "balanceMinor"
      from sides s
      join accounts a on a.code = s.account
     group by a.code, a.class, a.meaning, s.currency
     order by a.code, s.currency
     limit 10000`;
}

/** Every account's balance, by currency. Reads the whole journal. */
export function readBalances(db: Queryable): Promise<readonly AccountBalance[]> {
  return db.query<AccountBalance>(balancesOf('transfers t'));
}

/** What the parts of one order left on the accounts, by currency. */
export function readOrderBalances(
  db: Queryable,
  orderKey: string,
): Promise<readonly AccountBalance[]> {
  return db.query<AccountBalance>(
    balancesOf(`resources r
      join transfers t on t.kind = r.kind and t.resource_id = r.id and r.order_key = $1`),
    [orderKey],
  );
}

/** The totals of all orders together, in one currency. */
export interface CurrencyTotals extends Omit<OrderTotals, 'status'> {
  readonly orders: number;
}

/** Totals of all orders, or of one, by currency. */
export function readCurrencyTotals(
  db: Queryable,
  orderKey: string | undefined,
): Promise<readonly CurrencyTotals[]> {
  return db.query<CurrencyTotals>(
    `select currency, count(*) as orders,
            sum(authorized_minor)::bigint as "authorizedMinor",
            sum(captured_minor)::bigint as "capturedMinor",
            sum(refunded_minor)::bigint as "refundedMinor",
            sum(refund_pending_minor)::bigint as "refundPendingMinor",
            sum(disputed_minor)::bigint as "disputedMinor",
            sum(charged_back_minor)::bigint as "chargedBackMinor"
       from order_totals
      where $1::text is null or order_key = $1
      group by currency
      order by currency
      limit 1000`,
    [orderKey ?? null],
  );
}
