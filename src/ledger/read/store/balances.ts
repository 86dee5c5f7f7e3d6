/**
 * Statements that add the journal up. Sums are exact, however large.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import type { AccountRow, MovedAmount, MovedOnDay } from '../../domain/balances.ts';
import { ACCOUNTS } from '../../domain/legs.ts';
import type { OrderTotals } from '../../domain/order.ts';
import { instantOrNull } from '../../domain/time.ts';
import { micros } from './instants.ts';
import type { SumsAsText } from './sums.ts';

/** A span of recording time in microseconds since 1970: `from` belongs to it, `to` does not. */
interface Span {
  readonly fromMicros: number | undefined;
  readonly toMicros: number | undefined;
}

/** What each pair of accounts exchanged within a span of recording time. */
export async function readMoved(
  db: Queryable,
  { fromMicros, toMicros }: Span,
): Promise<readonly MovedAmount[]> {
  const rows = await db.query<SumsAsText<MovedAmount>>(
    `select debit, credit, currency, sum(amount_minor)::text as "amountMinor"
       from transfers
      where ($1::timestamptz is null or recorded_at >= $1)
        and ($2::timestamptz is null or recorded_at < $2)
      group by debit, credit, currency
      limit 100000`,
    [instantOrNull(fromMicros), instantOrNull(toMicros)],
  );
  return rows.map((row) => ({ ...row, amountMinor: BigInt(row.amountMinor) }));
}

/** The same for each day (UTC) of a span. */
export async function readMovedByDay(
  db: Queryable,
  { fromMicros, toMicros }: { readonly fromMicros: number; readonly toMicros: number },
): Promise<readonly MovedOnDay[]> {
  const rows = await db.query<SumsAsText<MovedOnDay>>(
    `select ${micros('day')} as "dayMicros", debit, credit, currency, minor::text as "amountMinor"
       from (select date_trunc('day', recorded_at, 'UTC') as day, debit, credit, currency,
                    sum(amount_minor) as minor
               from transfers
              where recorded_at >= $1 and recorded_at < $2
              group by 1, debit, credit, currency
              limit 100000) days`,
    [instantOrNull(fromMicros), instantOrNull(toMicros)],
  );
  return rows.map((row) => ({ ...row, amountMinor: BigInt(row.amountMinor) }));
}

/** What the parts of one order moved. */
export async function readOrderMoved(
  db: Queryable,
  orderKey: string,
): Promise<readonly MovedAmount[]> {
  const rows = await db.query<SumsAsText<MovedAmount>>(
    `select t.debit, t.credit, t.currency, sum(t.amount_minor)::text as "amountMinor"
       from resources r
       join transfers t on t.kind = r.kind and t.resource_id = r.id
      where r.order_key = $1
      group by t.debit, t.credit, t.currency
      limit 100000`,
    [orderKey],
  );
  return rows.map((row) => ({ ...row, amountMinor: BigInt(row.amountMinor) }));
}

/** The accounts of the journal, each with its class. */
export async function readAccounts(db: Queryable): Promise<readonly AccountRow[]> {
  const rows = await db.query<AccountRow>(
    'select code as account, class, meaning from accounts order by code limit 1000',
  );
  const meanings: Readonly<Record<string, string>> = ACCOUNTS;
  return rows.map((row) => ({ ...row, meaning: meanings[row.account] ?? row.meaning }));
}

/** The time of the database, and when the first transfer was recorded; undefined without any. */
export async function readJournalTimes(
  db: Queryable,
): Promise<{ readonly nowMicros: number; readonly firstMicros: number | undefined }> {
  const rows = await db.query<{ nowMicros: number; firstMicros: number | null }>(
    `select ${micros('statement_timestamp()')} as "nowMicros",
            (select ${micros('recorded_at')} from transfers order by id limit 1) as "firstMicros"`,
  );
  const row = oneRow(rows);
  return { nowMicros: row.nowMicros, firstMicros: row.firstMicros ?? undefined };
}

/** Sums over orders, in one currency. */
type OrderSums = {
  readonly [Name in keyof Omit<OrderTotals, 'status' | 'currency'>]: bigint;
};

/** The totals of all orders together, in one currency. */
export interface CurrencyTotals extends OrderSums {
  readonly currency: string;
  readonly orders: number;
}

/** Totals of all orders, or of one, by currency. */
export async function readCurrencyTotals(
  db: Queryable,
  orderKey: string | undefined,
): Promise<readonly CurrencyTotals[]> {
  const rows = await db.query<SumsAsText<CurrencyTotals>>(
    `select currency, count(*) as orders,
            sum(authorized_minor)::text as "authorizedMinor",
            sum(captured_minor)::text as "capturedMinor",
            sum(refunded_minor)::text as "refundedMinor",
            sum(refund_pending_minor)::text as "refundPendingMinor",
            sum(disputed_minor)::text as "disputedMinor",
            sum(charged_back_minor)::text as "chargedBackMinor"
       from order_totals
      where $1::text is null or order_key = $1
      group by currency
      order by currency
      limit 1000`,
    [orderKey ?? null],
  );
  return rows.map((row) => ({
    currency: row.currency,
    orders: row.orders,
    authorizedMinor: BigInt(row.authorizedMinor),
    capturedMinor: BigInt(row.capturedMinor),
    refundedMinor: BigInt(row.refundedMinor),
    refundPendingMinor: BigInt(row.refundPendingMinor),
    disputedMinor: BigInt(row.disputedMinor),
    chargedBackMinor: BigInt(row.chargedBackMinor),
  }));
}
