/** Requests about customers. service-interface.md §4.4 and §4.10. */
import { z } from 'zod';
import { country, customerId, email, limitedMetadata, pageFields, text } from './fields.ts';

/** The default address. service-interface.md §2.4, `address`. */
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

/** service-interface.md §4.4: every field is optional. */
export const createCustomerRequest = z.strictObject({
  /** Generated when it is left out. */
  customer_id: customerId.optional(),
  ...changeableFields,
});
export type CreateCustomerRequest = z.input<typeof createCustomerRequest>;

/** The contract gives method and path: what creating takes, without the id. What is not sent stays. */
export const updateCustomerRequest = z.strictObject(changeableFields);
export type UpdateCustomerRequest = z.input<typeof updateCustomerRequest>;

/** The contract says "query parameters"; the names are the family's. */
export const listCustomersQuery = z.strictObject({
  ...pageFields,
  customer_id: customerId.optional(),
});
export type ListCustomersQuery = z.input<typeof listCustomersQuery>;
