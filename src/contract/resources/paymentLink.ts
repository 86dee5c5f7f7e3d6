/**
 * The payment link. The contract leaves its fields open: these are the fields of its creation, and
 * the family's. service-interface.md §2.9.
 */
import { z } from 'zod';
import { amountMinor, currency, flag, id, lenient, text, timestamp } from './fields.ts';

/** A page where a customer pays an amount that the merchant set. */
export const paymentLinkSchema = z.looseObject({
  payment_link_id: id,
  merchant_id: text,
  /** Where the customer pays. */
  link_to_pay: text,
  /** `active`, `expired`, or `completed` for a one-time link that was paid. */
  status: text,
  amount: amountMinor,
  currency,
  description: text,
  link_type: text,
  expiry: timestamp,
  customer_id: text,
  email: text,
  capture_method: text,
  authentication_type: text,
  require_customer_info: flag,
  payment_link_config: lenient(z.looseObject({})),
  /** Of the last payment made by the link. */
  payment_id: text,
  created: timestamp,
  /** The family's name for `created`. */
  created_at: timestamp,
});
export type PaymentLink = z.infer<typeof paymentLinkSchema>;
