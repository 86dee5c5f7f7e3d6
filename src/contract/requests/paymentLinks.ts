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

/** service-interface.md §4.7. */
const paymentLinkConfigRequest = z.strictObject({
  seller_name: text.optional(),
  /** `tabs` is shown; an open set. */
  sdk_layout: text.optional(),
  allowed_payment_method_types: z.array(text).optional(),
});

/** service-interface.md §4.7. */
export const createPaymentLinkRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    description: text.optional(),
    /** `one_time` is shown, and the default; with any other word a link can be paid again. */
    link_type: text.optional(),
    /** After it the link cannot be paid; a quarter of an hour from now when it is left out. */
    expiry: timestamp.optional(),
    /** Of an existing customer only. */
    customer_id: customerId.optional(),
    send_email: z.boolean().optional(),
    email: email.optional(),
    capture_method: z.enum(CAPTURE_METHODS).optional(),
    authentication_type: openSet(AUTHENTICATION_TYPES).optional(),
    /** The page asks for name and email before it takes a payment. */
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

/** The contract says "filter body"; the names are those of List Payments. */
export const listPaymentLinksRequest = z.strictObject({
  ...pageFields,
  /** Created then or later. */
  created_gte: timestamp.optional(),
  /** Created then or earlier. */
  created_lte: timestamp.optional(),
});
export type ListPaymentLinksRequest = z.input<typeof listPaymentLinksRequest>;
