/** Customer calls. service-interface.md §4.4. */
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
 * Every method throws PaymentServiceError. A change of a customer is never sent twice. If you chose
 * the `customer_id`, a retrieve shows after a lost response whether the customer was created.
 */
export interface CustomerCalls {
  /**
   * Creates a customer. The response has the fields that the contract shows for a new customer:
   * retrieve it for its address.
   */
  create: (
    request?: CreateCustomerRequest,
    options?: CallOptions,
  ) => Promise<ResultOf<'createCustomer'>>;
  /**
   * Updates a customer. Fields that are not sent stay as they are; `address` and `metadata` are
   * each replaced as a whole.
   */
  update: (
    customerId: string,
    request: UpdateCustomerRequest,
    options?: CallOptions,
  ) => Promise<Customer>;
  /** Retrieves a customer with all fields. */
  retrieve: (customerId: string, options?: CallOptions) => Promise<Customer>;
  /**
   * Deletes a customer. Payments keep the id, and it is not reused. Undefined where the service sends no
   * result.
   */
  delete: (customerId: string, options?: CallOptions) => Promise<DeletedCustomer | undefined>;
  /** One page, newest first. */
  list: (filter?: ListCustomersQuery, options?: CallOptions) => Promise<Page<Customer>>;
  /**
   * All pages, each row once. Rows that leave the list meanwhile can hide others. If rows cannot be
   * parsed, it throws `unreadable_response` after the last row.
   */
  iterate: (filter?: ListCustomersQuery, options?: CallOptions) => AsyncIterable<Customer>;
}

export function createCustomerCalls({ call, page }: Calls): CustomerCalls {
  const on = (customer_id: string) => ({ params: { customer_id } });
  const list: CustomerCalls['list'] = (filter = {}, options) =>
    page('listCustomers', { query: filter }, options);
  return {
    create: (body = {}, options) => call('createCustomer', { body }, options),
    update: (id, body, options) => call('updateCustomer', { ...on(id), body }, options),
    retrieve: (id, options) => call('retrieveCustomer', on(id), options),
    delete: (id, options) => call('deleteCustomer', on(id), options),
    list,
    iterate: createIterate('listCustomers', list, ({ customer_id }) => customer_id),
  };
}
