/** The payout, in events and responses. service-interface.md §2.7. */
import { z } from 'zod';
import {
  amountMinor,
  billingSchema,
  currency,
  customerDetailsSchema,
  flag,
  id,
  lenient,
  metadata,
  text,
  timestamp,
} from './fields.ts';

/** How the money is sent; account numbers are masked. service-interface.md §2.7. */
const payoutMethodDataSchema = z.looseObject({
  bank: lenient(
    z.looseObject({
      bank_account_number: text,
      bank_routing_number: text,
      account_holder_name: text,
    }),
  ),
});
/** Fields that services of this family add. Some are deprecated request fields of the contract. */
export const PAYOUT_FAMILY_FIELDS = {
  modified_at: timestamp,
  updated: timestamp,
  updated_at: timestamp,
  connector: text,
  merchant_connector_id: text,
  business_label: text,
  /** Deprecated copies of the fields of `customer`. service-interface.md §9.2. */
  email: text,
  name: text,
  phone: text,
  phone_country_code: text,
};

/** A payout. service-interface.md §2.7. */
export const payoutSchema = z.looseObject({
  payout_id: id,
  merchant_id: text,
  merchant_order_reference_id: text,
  amount: amountMinor,
  currency,
  payout_type: text,
  payout_method_data: lenient(payoutMethodDataSchema),
  billing: lenient(billingSchema),
  auto_fulfill: flag,
  customer_id: text,
  customer: lenient(customerDetailsSchema),
  client_secret: text,
  return_url: text,
  business_country: text,
  description: text,
  entity_type: text,
  recurring: flag,
  metadata,
  /** One of PAYOUT_STATUSES, or a newer value; see statuses.ts. */
  status: text,
  error_message: text,
  error_code: text,
  profile_id: text,
  created: timestamp,
  connector_transaction_id: text,
  priority: text,
  /** The contract leaves its form open; the family sends an array of attempts. */
  attempts: z.unknown().optional(),
  /** The contract leaves its form open; the family sends `payout_link_id` and `link`. */
  payout_link: z.unknown().optional(),
  unified_code: text,
  unified_message: text,
  payout_method_id: text,
  ...PAYOUT_FAMILY_FIELDS,
});
export type Payout = z.infer<typeof payoutSchema>;
