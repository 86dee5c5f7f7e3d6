/** Customers, in memory. */
import type { CustomerState } from '../../domain/customer.ts';
import type { CustomerPage } from '../customers.ts';
import type { Tables } from './tables.ts';
import { frozenJson, sortedBy } from './values.ts';

export function insertCustomer({ customers }: Tables, state: CustomerState): boolean {
  if (customers.get(state.customer_id) !== undefined) return false;
  customers.put({ state: frozenJson(state), isDeleted: false });
  return true;
}

export function readCustomer({ customers }: Tables, id: string): CustomerState | undefined {
  const row = customers.get(id);
  return row?.isDeleted === false ? row.state : undefined;
}

/** Transactions run one at a time: nothing needs a lock. */
export function lockCustomer(tables: Tables, id: string): CustomerState | undefined {
  return readCustomer(tables, id);
}

export function lockCustomerShared(tables: Tables, id: string): CustomerState | undefined {
  return readCustomer(tables, id);
}

export function updateCustomer(
  { customers }: Tables,
  state: CustomerState,
  deletedAt?: string,
): void {
  customers.put({ state: frozenJson(state), isDeleted: deletedAt !== undefined });
}

export function listCustomers(
  tables: Tables,
  { customerId, limit, offset }: CustomerPage,
): readonly CustomerState[] {
  const sorted = sortedBy(select(tables, customerId), ({ created, customer_id: id }) => [
    created,
    id,
  ]);
  return sorted.toReversed().slice(offset, offset + limit);
}

export function countCustomers(tables: Tables, customerId: string | undefined): number {
  return select(tables, customerId).length;
}

function select({ customers }: Tables, wanted: string | undefined): readonly CustomerState[] {
  return [...customers.all()]
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ state }) => state)
    .filter(({ customer_id: id }) => wanted === undefined || id === wanted);
}
