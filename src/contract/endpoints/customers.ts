/** Endpoints of customers. service-interface.md §4.4 and §4.10. */
import { listOf } from '../lists.ts';
import * as requests from '../requests/customers.ts';
import { customerSchema, deletedCustomerSchema } from '../resources/customer.ts';
import {
  customerParams,
  type Endpoint,
  noParams,
  notFound,
  ONCE,
  SAFE,
  SECRET_KEYS,
} from './endpoint.ts';

const base = { success: 200, keys: SECRET_KEYS } as const;
const onCustomer = { ...base, params: customerParams };
const missing = notFound('customer');

export const CUSTOMER_ENDPOINTS = {
  createCustomer: {
    ...base,
    method: 'POST',
    path: '/customers',
    summary: 'Create a customer',
    params: noParams,
    body: requests.createCustomerRequest,
    response: customerSchema.pick({
      customer_id: true,
      email: true,
      name: true,
      phone: true,
      phone_country_code: true,
      description: true,
      created: true,
    }),
    errors: [{ status: 409, code: 'HE_01', when: 'A customer with this customer_id exists.' }],
    repetition: { kind: 'findable', key: 'customer_id' },
  },
  updateCustomer: {
    ...onCustomer,
    method: 'POST',
    path: '/customers/:customer_id',
    summary: 'Update a customer; fields that are not sent stay as they are',
    body: requests.updateCustomerRequest,
    response: customerSchema,
    errors: [missing],
    repetition: ONCE,
  },
  retrieveCustomer: {
    ...onCustomer,
    method: 'GET',
    path: '/customers/:customer_id',
    summary: 'Retrieve a customer',
    response: customerSchema,
    errors: [missing],
    repetition: SAFE,
  },
  deleteCustomer: {
    ...onCustomer,
    method: 'DELETE',
    path: '/customers/:customer_id',
    summary: 'Delete a customer; payments keep the id',
    /** The contract leaves it open, so a service may send no body. */
    response: deletedCustomerSchema.optional(),
    errors: [missing],
    repetition: ONCE,
  },
  listCustomers: {
    ...base,
    method: 'GET',
    path: '/customers/list',
    summary: 'List customers, newest first',
    params: noParams,
    query: requests.listCustomersQuery,
    response: listOf(customerSchema),
    item: customerSchema,
    errors: [],
    repetition: SAFE,
  },
} as const satisfies Record<string, Endpoint>;
