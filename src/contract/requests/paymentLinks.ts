/** Requests about payment links. service-interface.md §4.7. */
import { z } from 'zod';
import {
  amountMinor,
  currency,
  customerId,
  email,
  openSet,
  pageFields,
  reportMissing,
  text,
  timestamp,
} from './fields.ts';
import { AUTHENTICATION_TYPES, CAPTURE_METHODS } from './payments.ts';

/** The appearance of a payment link. service-interface.md §4.7. */
const paymentLinkConfigRequest = z.strictObject({
  seller_name: text.optional(),
  /** An open set; the contract shows `tabs`. */
  sdk_layout: text.optional(),
  allowed_payment_method_types: z.array(text).optional(),
});

/** The body of creating a payment link. service-interface.md §4.7. */
export const createPaymentLinkRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    description: text.optional(),
    /**
     * `one_time` by default, the only value that the contract shows; any other link can be paid
     * repeatedly.
     */
    link_type: text.optional(),
    /** The link cannot be paid after this time; 15 minutes from now by default. */
    expiry: timestamp.optional(),
    /** An existing customer. */
    customer_id: customerId.optional(),
    send_email: z.boolean().optional(),
    email: email.optional(),
    capture_method: z.enum(CAPTURE_METHODS).optional(),
    authentication_type: openSet(AUTHENTICATION_TYPES).optional(),
    /** The page requires name and email before it takes a payment. */
    require_customer_info: z.boolean().optional(),
    payment_link_config: paymentLinkConfigRequest.optional(),
  })
  .check((context) => {
    const { send_email: sends, email: to } = context.value;
    if (sends && to === undefined) {
      reportMissing(context, [{ field: 'email', why: 'required where send_email is true' }]);
    }
  });
export type CreatePaymentLinkRequest = z.input<typeof createPaymentLinkRequest>;

/**
 * The body of listing payment links. The contract leaves the filter open; it has the names of List
 * Payments. service-interface.md §4.10.
 */
export const listPaymentLinksRequest = z.strictObject({
  ...pageFields,
  /** Inclusive. */
  created_gte: timestamp.optional(),
  /** Inclusive. */
  created_lte: timestamp.optional(),
});
export type ListPaymentLinksRequest = z.input<typeof listPaymentLinksRequest>;
