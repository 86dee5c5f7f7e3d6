/** The customer. service-interface.md §2.4. */
import { z } from 'zod';
import { address, flag, id, metadata, text, timestamp } from './fields.ts';

/** Fields that services of this family add. */
export const CUSTOMER_FAMILY_FIELDS = {
  /** The family's name for `created`. */
  created_at: timestamp,
  default_payment_method_id: text,
  tax_registration_id: text,
};

/** A customer. service-interface.md §2.4. */
export const customerSchema = z.looseObject({
  customer_id: id,
  email: text,
  name: text,
  phone: text,
  phone_country_code: text,
  description: text,
  address,
  metadata,
  created: timestamp,
  ...CUSTOMER_FAMILY_FIELDS,
});
export type Customer = z.infer<typeof customerSchema>;

/** The result of deleting a customer. The contract leaves it open; this is the family's. */
export const deletedCustomerSchema = z.looseObject({
  customer_id: text,
  customer_deleted: flag,
  address_deleted: flag,
  payment_methods_deleted: flag,
});
export type DeletedCustomer = z.infer<typeof deletedCustomerSchema>;
