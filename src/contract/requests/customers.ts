/** Requests about customers. Interface document, section Endpoints, "Customers" and "Other routes". */
import { z } from 'zod';
import { country, customerId, email, limitedMetadata, pageFields, text } from './fields.ts';

/** The default address. Interface document, section Resources, "Customer", `address`. */
export const customerAddressRequest = z.strictObject({
  line1: text.optional(),
  line2: text.optional(),
  city: text.optional(),
  state: text.optional(),
  zip: text.optional(),
  country: country.optional(),
  first_name: text.optional(),
  last_name: text.optional(),
});
export type CustomerAddressRequest = z.input<typeof customerAddressRequest>;

const changeableFields = {
  email: email.optional(),
  name: text.optional(),
  /** Without the country's code. */
  phone: text.optional(),
  phone_country_code: text.optional(),
  /** For the merchant's own use. */
  description: text.optional(),
  address: customerAddressRequest.optional(),
  metadata: limitedMetadata.optional(),
};

/** Interface document, section Endpoints, "Customers": every field is optional. */
export const createCustomerRequest = z.strictObject({
  /** Generated when it is left out. */
  customer_id: customerId.optional(),
  ...changeableFields,
});
export type CreateCustomerRequest = z.input<typeof createCustomerRequest>;

/** The document gives method and path: what creating takes, without the id. What is not sent stays. */
export const updateCustomerRequest = z.strictObject(changeableFields);
export type UpdateCustomerRequest = z.input<typeof updateCustomerRequest>;

/** The document says "query parameters"; the names are the family's. */
export const listCustomersQuery = z.strictObject({
  ...pageFields,
  customer_id: customerId.optional(),
});
export type ListCustomersQuery = z.input<typeof listCustomersQuery>;
