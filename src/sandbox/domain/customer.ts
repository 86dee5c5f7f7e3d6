/**
 * Customers, and what a payment copies from its customer. service-interface.md §2.4.
 *
 * 1. An update changes what it sends; `address` and `metadata` are each replaced as a whole.
 * 2. A deleted customer is not found. Only its id is kept, which cannot be used again.
 */
import { isoTime } from './time.ts';

export interface CustomerState {
  readonly customer_id: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
  readonly description?: string | undefined;
  readonly address?: object | undefined;
  readonly metadata?: object | undefined;
  readonly created: string;
}

export type CustomerFields = Partial<Omit<CustomerState, 'customer_id' | 'created'>>;

export function createCustomer(
  customerId: string,
  fields: CustomerFields,
  nowMs: number,
): CustomerState {
  return { ...fields, customer_id: customerId, created: isoTime(nowMs) };
}

export function updateCustomer(state: CustomerState, fields: CustomerFields): CustomerState {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { ...state, ...Object.fromEntries(sent) };
}

/** What stays of a customer that was deleted. */
export function redactCustomer({ customer_id, created }: CustomerState): CustomerState {
  return { customer_id, created };
}

/**
 * The default billing of this customer's payments; undefined for a customer without an address.
 * service-interface.md §2.4, `address`.
 */
export function defaultBilling(customer: CustomerState): object | undefined {
  const { address, phone, phone_country_code: country } = customer;
  if (address === undefined) return undefined;
  return phone === undefined
    ? { address }
    : { address, phone: { number: phone, country_code: country } };
}
