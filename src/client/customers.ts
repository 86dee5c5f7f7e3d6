/** Calls about customers. service-interface.md §4.4. */
import type { Page } from '../contract/lists.ts';
import type {
  CreateCustomerRequest,
  ListCustomersQuery,
  UpdateCustomerRequest,
} from '../contract/requests/customers.ts';
import type { Customer, DeletedCustomer } from '../contract/resources/customer.ts';
import type { Calls, ResultOf } from './calls.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/**
 * Every method throws PaymentServiceError. What changes a customer is never sent twice; with a
 * `customer_id` of the shop's own, retrieving tells after a lost answer whether it was created.
 */
export interface CustomerCalls {
  /**
   * Creates a customer. The answer holds what the interface shows of a new customer: retrieve it
   * for its address.
   */
  create: (
    request?: CreateCustomerRequest,
    options?: CallOptions,
  ) => Promise<ResultOf<'createCustomer'>>;
  /**
   * Changes a customer. What is not sent stays; `address` and `metadata` are each replaced as a
   * whole.
   */
  update: (
    customerId: string,
    request: UpdateCustomerRequest,
    options?: CallOptions,
  ) => Promise<Customer>;
  /** Reads a customer with all its fields. */
  retrieve: (customerId: string, options?: CallOptions) => Promise<Customer>;
  /** Deletes a customer. Payments keep the id, and it is not given out again. */
  delete: (customerId: string, options?: CallOptions) => Promise<DeletedCustomer>;
  /** One page, newest first. */
  list: (filter?: ListCustomersQuery, options?: CallOptions) => Promise<Page<Customer>>;
  /**
   * All pages, each row once. Rows that leave a list while it is walked can hide others; rows that
   * cannot be read make it throw `unreadable_response` after the last.
   */
  iterate: (filter?: ListCustomersQuery, options?: CallOptions) => AsyncIterable<Customer>;
}

export function createCustomerCalls({ one, page }: Calls): CustomerCalls {
  const on = (customer_id: string) => ({ params: { customer_id } });
  const list: CustomerCalls['list'] = (filter = {}, options) =>
    page('listCustomers', { query: filter }, options);
  return {
    create: (body = {}, options) => one('createCustomer', { body }, options),
    update: (id, body, options) => one('updateCustomer', { ...on(id), body }, options),
    retrieve: (id, options) => one('retrieveCustomer', on(id), options),
    delete: (id, options) => one('deleteCustomer', on(id), options),
    list,
    iterate: createIterate('listCustomers', list, ({ customer_id }) => customer_id),
  };
}
