/** Statements on what the shop expects of orders. */
import type { Queryable } from '../../platform/db/database.ts';

/** What is expected of one order now. */
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

/** What is expected of orders now. */
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
 * Writes what is expected of an order of which nothing is expected yet. Waits for whoever is
 * registering the same order.
 * @returns false when something is expected already
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

/** Locks and reads what is expected of an order now; undefined when it was replaced meanwhile. */
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

/** Ends what is expected of an order now. The caller holds it and writes what replaces it. */
export async function markReplaced(tx: Queryable, orderKey: string): Promise<void> {
  await tx.query(
    `update order_expectations
        set replaced_at = now()
      where order_key = $1 and replaced_at is null`,
    [orderKey],
  );
}
