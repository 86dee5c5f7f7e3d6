/** Statements on customers. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { CustomerState } from '../../domain/customer.ts';
import type { CustomerPage } from '../customers.ts';

/** @returns false when the id exists, even if its customer was deleted */
export async function insertCustomer(tx: Queryable, state: CustomerState): Promise<boolean> {
  const rows = await tx.query(
    `insert into sandbox.customers (customer_id, created_at, state) values ($1, $2, $3)
     on conflict (customer_id) do nothing
     returning customer_id`,
    [state.customer_id, state.created, JSON.stringify(state)],
  );
  return rows.length === 1;
}

/** Reads a customer and locks its row until the transaction ends; undefined for a deleted one. */
export async function lockCustomer(
  tx: Queryable,
  customerId: string,
): Promise<CustomerState | undefined> {
  const rows = await tx.query<{ state: CustomerState }>(
    `select state from sandbox.customers
      where customer_id = $1 and deleted_at is null
        for update`,
    [customerId],
  );
  return rows[0]?.state;
}

/** Reads a customer and prevents its deletion until the transaction ends, with a shared lock. */
export async function lockCustomerShared(
  tx: Queryable,
  customerId: string,
): Promise<CustomerState | undefined> {
  const rows = await tx.query<{ state: CustomerState }>(
    `select state from sandbox.customers
      where customer_id = $1 and deleted_at is null
        for share`,
    [customerId],
  );
  return rows[0]?.state;
}

export async function readCustomer(
  db: Queryable,
  customerId: string,
): Promise<CustomerState | undefined> {
  const rows = await db.query<{ state: CustomerState }>(
    'select state from sandbox.customers where customer_id = $1 and deleted_at is null',
    [customerId],
  );
  return rows[0]?.state;
}

/** Writes a changed customer. Its row is locked by the caller. @param deletedAt ISO 8601 */
export async function updateCustomer(
  tx: Queryable,
  state: CustomerState,
  deletedAt?: string,
): Promise<void> {
  await tx.query(
    'update sandbox.customers set state = $2, deleted_at = $3 where customer_id = $1',
    [state.customer_id, JSON.stringify(state), deletedAt ?? null],
  );
}

/** One page, newest first. @param customerId only this one; undefined for all */
export async function listCustomers(db: Queryable, page: CustomerPage): Promise<CustomerState[]> {
  const rows = await db.query<{ state: CustomerState }>(
    `select state from sandbox.customers
      where deleted_at is null and ($1::text is null or customer_id = $1)
      order by created_at desc, customer_id desc
      limit $2 offset $3`,
    [page.customerId ?? null, page.limit, page.offset],
  );
  return rows.map(({ state }) => state);
}

/** How many there are in all. */
export async function countCustomers(
  db: Queryable,
  customerId: string | undefined,
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count from sandbox.customers
      where deleted_at is null and ($1::text is null or customer_id = $1)`,
    [customerId ?? null],
  );
  return rows[0]?.count ?? 0;
}
