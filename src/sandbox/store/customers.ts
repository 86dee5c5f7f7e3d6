/** What is stored of customers. */
import type { CustomerState } from '../domain/customer.ts';
import type { Page } from './page.ts';

export interface CustomerStatements {
  /** @returns false when the id exists, even if its customer was deleted */
  insertCustomer(state: CustomerState): Promise<boolean>;
  readCustomer(customerId: string): Promise<CustomerState | undefined>;
  /** Reads a customer and locks it until the transaction ends; undefined for a deleted one. */
  lockCustomer(customerId: string): Promise<CustomerState | undefined>;
  /** Reads a customer and prevents its deletion until the transaction ends. */
  lockCustomerShared(customerId: string): Promise<CustomerState | undefined>;
  /** Writes a changed customer, which is locked by the caller. @param deletedAt ISO 8601 */
  updateCustomer(state: CustomerState, deletedAt?: string): Promise<void>;
  /** One page, newest first. */
  listCustomers(page: CustomerPage): Promise<readonly CustomerState[]>;
  /** How many there are in all, or with this id. */
  countCustomers(customerId: string | undefined): Promise<number>;
}

export interface CustomerPage extends Page {
  /** Only this one; undefined for all. */
  readonly customerId: string | undefined;
}
