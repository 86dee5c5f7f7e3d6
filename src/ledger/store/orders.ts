/** Statements on orders and their totals. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrderState } from '../domain/order.ts';
import { orderIdOf } from '../domain/orderKey.ts';

/** An order before the transaction changes it. */
export interface StoredOrder {
  readonly orderKey: string;
  readonly status: string;
  /** Classes of the open findings about it. */
  readonly openFindings: readonly string[];
}

/** Locks and reads orders, in the order of their keys. */
export function lockOrders(
  tx: Queryable,
  orderKeys: readonly string[],
): Promise<readonly StoredOrder[]> {
  return tx.query<StoredOrder>(
    `select order_key as "orderKey", status, open_findings as "openFindings"
       from orders
      where order_key = any ($1::text[])
      order by order_key
        for update`,
    [orderKeys],
  );
}

/** The new state of an order. */
export interface OrderUpdate extends OrderState {
  readonly orderKey: string;
  /** Keys of the orders that payments move to now, each once. */
  readonly movedTo: readonly string[];
  /** Classes of the findings that its parts show now. */
  readonly openFindings: readonly string[];
}

/**
 * Inserts orders.
 * @returns the inserted keys; one that another transaction inserted meanwhile is missing
 */
export async function insertOrders(
  tx: Queryable,
  orders: readonly OrderUpdate[],
): Promise<readonly string[]> {
  const rows = await tx.query<{ orderKey: string }>(
    `insert into orders (order_key, order_id, status, open_findings)
     select order_key, order_id, status, open_findings::text[]
       from (select unnest($1::text[]) as order_key, unnest($2::text[]) as order_id,
                    unnest($3::text[]) as status, unnest($4::text[]) as open_findings) u
      order by order_key
     on conflict do nothing
     returning order_key as "orderKey"`,
    [
      orders.map(({ orderKey }) => orderKey),
      orders.map(({ orderKey }) => orderIdOf(orderKey)),
      orders.map(({ status }) => status),
      orders.map(({ openFindings }) => `{${openFindings.join(',')}}`),
    ],
  );
  return rows.map(({ orderKey }) => orderKey);
}

/** Updates orders. The caller holds them. */
export async function updateOrders(tx: Queryable, orders: readonly OrderUpdate[]): Promise<void> {
  await tx.query(
    `update orders o
        set status = u.status,
            moved_to = case when u.moved_to = '[]' then o.moved_to
                            else o.moved_to || array(
                              select went from jsonb_array_elements_text(u.moved_to) as went
                               where went <> all (o.moved_to)) end,
            open_findings = u.open_findings::text[],
            updated_at = now()
       from (select unnest($1::text[]) as order_key, unnest($2::text[]) as status,
                    unnest($3::jsonb[]) as moved_to,
                    unnest($4::text[]) as open_findings) u
      where o.order_key = u.order_key`,
    [
      orders.map(({ orderKey }) => orderKey),
      orders.map(({ status }) => status),
      orders.map(({ movedTo }) => JSON.stringify(movedTo)),
      orders.map(({ openFindings }) => `{${openFindings.join(',')}}`),
    ],
  );
}

/** Writes the totals of orders; an unchanged one is not written again. The caller holds the orders. */
export async function upsertTotals(tx: Queryable, orders: readonly OrderUpdate[]): Promise<void> {
  const totals = orders.flatMap(({ orderKey, totals: own }) =>
    own.map((total) => ({ orderKey, ...total })),
  );
  await tx.query(
    `insert into order_totals (order_key, currency, status, authorized_minor, captured_minor,
                               refunded_minor, refund_pending_minor, disputed_minor,
                               charged_back_minor)
     select order_key, currency, status, authorized, captured, refunded, pending, disputed, lost
       from (select unnest($1::text[]) as order_key, unnest($2::text[]) as currency,
                    unnest($3::text[]) as status, unnest($4::bigint[]) as authorized,
                    unnest($5::bigint[]) as captured, unnest($6::bigint[]) as refunded,
                    unnest($7::bigint[]) as pending, unnest($8::bigint[]) as disputed,
                    unnest($9::bigint[]) as lost) t
     on conflict (order_key, currency) do update
        set status = excluded.status, authorized_minor = excluded.authorized_minor,
            captured_minor = excluded.captured_minor, refunded_minor = excluded.refunded_minor,
            refund_pending_minor = excluded.refund_pending_minor,
            disputed_minor = excluded.disputed_minor,
            charged_back_minor = excluded.charged_back_minor
      where (order_totals.status, order_totals.authorized_minor, order_totals.captured_minor,
             order_totals.refunded_minor, order_totals.refund_pending_minor,
             order_totals.disputed_minor, order_totals.charged_back_minor)
            is distinct from
            (excluded.status, excluded.authorized_minor, excluded.captured_minor,
             excluded.refunded_minor, excluded.refund_pending_minor,
             excluded.disputed_minor, excluded.charged_back_minor)`,
    [
      totals.map(({ orderKey }) => orderKey),
      totals.map(({ currency }) => currency),
      totals.map(({ status }) => status),
      totals.map(({ authorizedMinor }) => authorizedMinor),
      totals.map(({ capturedMinor }) => capturedMinor),
      totals.map(({ refundedMinor }) => refundedMinor),
      totals.map(({ refundPendingMinor }) => refundPendingMinor),
      totals.map(({ disputedMinor }) => disputedMinor),
      totals.map(({ chargedBackMinor }) => chargedBackMinor),
    ],
  );
}

/** Deletes totals in currencies that no part of the order has any longer. */
export async function deleteStaleTotals(
  tx: Queryable,
  updates: readonly OrderUpdate[],
): Promise<void> {
  const kept = updates.flatMap(({ orderKey, totals }) =>
    totals.map(({ currency }) => ({ orderKey, currency })),
  );
  await tx.query(
    `delete from order_totals
      where order_key = any ($1::text[])
        and (order_key, currency) not in (
              select order_key, currency
                from (select unnest($2::text[]) as order_key, unnest($3::text[]) as currency) kept)`,
    [
      updates.map(({ orderKey }) => orderKey),
      kept.map(({ orderKey }) => orderKey),
      kept.map(({ currency }) => currency),
    ],
  );
}
