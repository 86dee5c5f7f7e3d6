/** The payment, in events and responses. service-interface.md §2.1. */
import { z } from 'zod';
import { disputeSchema } from './dispute.ts';
import {
  amountMinor,
  billingSchema,
  currency,
  customerDetailsSchema,
  flag,
  id,
  integer,
  lenient,
  metadata,
  text,
  timestamp,
} from './fields.ts';
import { refundSchema } from './refund.ts';

/** A card in a response, never with its full number. service-interface.md §2.1. */
const cardDetailsSchema = z.looseObject({
  last4: text,
  brand: text,
  exp_month: text,
  exp_year: text,
});
/**
 * Why a payment failed: the unified reason, the issuer's and the acquirer's. service-interface.md
 * §2.1.
 */
const errorDetailsSchema = z.looseObject({
  unified_details: lenient(z.looseObject({ category: text, message: text })),
  issuer_details: lenient(
    z.looseObject({
      code: text,
      message: text,
      network_details: lenient(z.looseObject({ name: text })),
    }),
  ),
  /** The acquirer's own text, which changes without notice. */
  connector_details: lenient(z.looseObject({ code: text, message: text, reason: text })),
});
/**
 * The customer's next action. The contract leaves its name and form open; the family calls it
 * `next_action` and distinguishes its forms by `type`, usually a redirect. service-interface.md
 * §2.1.
 */
const nextActionSchema = z.looseObject({ type: text, redirect_to_url: text });
/** One item of the order. service-interface.md §2.2. */
const orderDetailSchema = z.looseObject({
  name: text,
  /** The family's name for `name`. */
  product_name: text,
  quantity: integer,
  amount: amountMinor,
  currency,
});
/** One of several captures of a payment. The family returns it on request. */
const captureSchema = z.looseObject({
  capture_id: text,
  status: text,
  amount: amountMinor,
  currency,
  capture_sequence: integer,
  connector_capture_id: text,
});
/** Fields that services of this family add. The contract names the first six in requests only. */
export const PAYMENT_FAMILY_FIELDS = {
  profile_id: text,
  payment_method_type: text,
  authentication_type: text,
  billing: lenient(billingSchema),
  return_url: text,
  order_details: lenient(z.array(orderDetailSchema)),
  next_action: lenient(nextActionSchema),
  /** The family's names for `modified_at`. */
  updated: timestamp,
  updated_at: timestamp,
  /** After this time the authorization cannot be captured. */
  capture_before: timestamp,
  /** The end of the session in which the customer can pay. */
  expires_on: timestamp,
  /** A failed payment may be retried under the same id. */
  attempt_count: integer,
  manual_retry_allowed: flag,
  merchant_order_reference_id: text,
  /** `approved`, `rejected` or `auto_refunded`, after a manual review. */
  merchant_decision: text,
  net_amount: amountMinor,
  captures: lenient(z.array(captureSchema)),
  refunds: lenient(z.array(refundSchema)),
  disputes: lenient(z.array(disputeSchema)),
  customer: lenient(customerDetailsSchema),
  connector: text,
  connector_transaction_id: text,
  test_mode: flag,
};

/** A payment. service-interface.md §2.1. */
export const paymentSchema = z.looseObject({
  payment_id: id,
  merchant_id: text,
  /** One of PAYMENT_STATUSES, or a newer value; see statuses.ts. */
  status: text,
  amount: amountMinor,
  amount_received: amountMinor,
  amount_capturable: amountMinor,
  currency,
  /** `automatic`, `manual` or `manual_multiple`. */
  capture_method: text,
  payment_method: text,
  payment_method_data: lenient(z.looseObject({ card: lenient(cardDetailsSchema) })),
  customer_id: text,
  email: text,
  description: text,
  statement_descriptor: text,
  metadata,
  /** A secret of this payment: never logged, never stored in a snapshot. */
  client_secret: text,
  created: timestamp,
  modified_at: timestamp,
  captured_at: timestamp,
  cancelled_at: timestamp,
  cancellation_reason: text,
  /** See declines.ts. */
  unified_code: text,
  unified_message: text,
  error_code: text,
  error_message: text,
  error_details: lenient(errorDetailsSchema),
  ...PAYMENT_FAMILY_FIELDS,
});
export type Payment = z.infer<typeof paymentSchema>;
