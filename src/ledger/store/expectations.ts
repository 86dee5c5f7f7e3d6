/** Statements on expectations: the amounts that the shop registered for orders. */
import type { Queryable } from '../../platform/db/database.ts';

/** The current expectation of an order. */
export interface ExpectationRow {
  readonly orderKey: string;
  readonly orderId: string;
  readonly currency: string;
  readonly amountMinor: number;
  readonly registeredAt: Date;
  readonly registeredBy: string;
}

const COLUMNS = `
  order_key as "orderKey", order_id as "orderId", currency, amount_minor as "amountMinor",
  registered_at as "registeredAt", registered_by as "registeredBy"`;

/** The current expectations of orders. */
export function readExpectations(
  db: Queryable,
  orderKeys: readonly string[],
): Promise<readonly ExpectationRow[]> {
  return db.query<ExpectationRow>(
    `select ${COLUMNS}
       from order_expectations
      where order_key = any ($1::text[]) and replaced_at is null
      limit $2`,
    [orderKeys, orderKeys.length],
  );
}

export interface NewExpectation {
  readonly orderKey: string;
  readonly orderId: string;
  readonly currency: string;
  readonly amountMinor: number;
  readonly registeredBy: string;
}

/**
 * Inserts the expectation of an order that has none. Waits for a concurrent registration of the same
 * order.
 * @returns false if the order has one already
 */
export async function insertExpectation(tx: Queryable, one: NewExpectation): Promise<boolean> {
  const rows = await tx.query<{ id: number }>(
    `insert into order_expectations (order_key, order_id, currency, amount_minor, registered_by,
                                     is_awaited)
     values ($1, $2, $3, $4, $5, not exists (select from orders where order_key = $1))
     on conflict (order_key) where replaced_at is null do nothing
     returning id`,
    [one.orderKey, one.orderId, one.currency, one.amountMinor, one.registeredBy],
  );
  return rows.length > 0;
}

/** Locks and reads the current expectation of an order; undefined if it was replaced meanwhile. */
export async function lockExpectation(
  tx: Queryable,
  orderKey: string,
): Promise<ExpectationRow | undefined> {
  const rows = await tx.query<ExpectationRow>(
    `select ${COLUMNS}
       from order_expectations
      where order_key = $1 and replaced_at is null
        for update`,
    [orderKey],
  );
  return rows[0];
}

/** Marks the current expectation of an order as replaced. The caller holds it and inserts the new one. */
export async function markReplaced(tx: Queryable, orderKey: string): Promise<void> {
  await tx.query(
    `update order_expectations
        set replaced_at = now()
      where order_key = $1 and replaced_at is null`,
    [orderKey],
  );
}
