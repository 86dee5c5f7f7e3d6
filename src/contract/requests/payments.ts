/**
 * Requests about payments. service-interface.md §4.3.
 *
 * The order's contents are sent as `order_details`. The names `items`, `line_items` and `cart_items`
 * must not be used: like every unknown name they are refused, with a hint (problems.ts).
 */
import { z } from 'zod';
import { STATEMENT_DESCRIPTOR_MAX_LENGTH } from '../limits.ts';
import { billingRequest, browserInfoRequest } from './customerContext.ts';
import {
  amountMinor,
  chosenId,
  currency,
  customerId,
  email,
  metadata,
  openObject,
  openSet,
  pageFields,
  reportMissing,
  returnUrl,
  text,
  timestamp,
} from './fields.ts';
import {
  methodFitsData,
  missingBilling,
  missingToConfirm,
  PAYMENT_METHODS,
  paymentMethodDataRequest,
} from './paymentMethod.ts';

/** service-interface.md §2.1, `capture_method`. */
export const CAPTURE_METHODS = ['automatic', 'manual', 'manual_multiple'] as const;
export type CaptureMethod = (typeof CAPTURE_METHODS)[number];

/** The contract shows `three_ds`; the other is the family's, and its default. */
export const AUTHENTICATION_TYPES = ['three_ds', 'no_three_ds'] as const;

/** service-interface.md §2.2, `order_details`. */
export const orderDetailRequest = z.strictObject({
  name: text,
  quantity: z.int().min(1),
  /** Minor units; an item may be free. */
  amount: z.int().min(0),
  currency: currency.optional(),
});

/** What both creating and confirming may send. */
const methodFields = {
  /** An open set: `card`, `wallet` and `crypto` are shown. */
  payment_method: openSet(PAYMENT_METHODS).optional(),
  /** An open set: `credit`, `debit` and `crypto_currency` are shown. */
  payment_method_type: text.optional(),
  payment_method_data: paymentMethodDataRequest.optional(),
  billing: billingRequest.optional(),
  return_url: returnUrl.optional(),
  browser_info: browserInfoRequest.optional(),
  /** The contract names it and none of its fields. */
  customer_acceptance: openObject.optional(),
};

const MISFIT = {
  error: 'payment_method_data holds details of another payment_method',
  path: ['payment_method_data'],
};

/** service-interface.md §4.3.1. */
export const createPaymentRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    profile_id: text,
    /** Chosen by the merchant, so that the request can be repeated without a second charge. */
    payment_id: chosenId.optional(),
    /** Of an existing customer only. */
    customer_id: customerId.optional(),
    /** True authorizes in this request. */
    confirm: z.boolean().optional(),
    /** `automatic` when it is left out. */
    capture_method: z.enum(CAPTURE_METHODS).optional(),
    /** An open set: `three_ds` is shown. */
    authentication_type: openSet(AUTHENTICATION_TYPES).optional(),
    description: text.optional(),
    email: email.optional(),
    name: text.optional(),
    /** Without the country's code. */
    phone: text.optional(),
    phone_country_code: text.optional(),
    ...methodFields,
    order_details: z.array(orderDetailRequest).optional(),
    /** References to the order; no secrets, no card data. */
    metadata: metadata.optional(),
  })
  .refine(methodFitsData, MISFIT)
  .check((context) => {
    const { value } = context;
    reportMissing(context, value.confirm ? missingToConfirm(value) : missingBilling(value));
  });
export type CreatePaymentRequest = z.input<typeof createPaymentRequest>;

/** service-interface.md §4.3.2. */
export const updatePaymentRequest = z.strictObject({
  amount: amountMinor.optional(),
  currency: currency.optional(),
  description: text.optional(),
  metadata: metadata.optional(),
  customer_id: customerId.optional(),
});
export type UpdatePaymentRequest = z.input<typeof updatePaymentRequest>;

/**
 * service-interface.md §4.3.3. What else confirming needs, billing
 * included, may have come with the payment or its customer: who holds both asks missingToConfirm.
 */
export const confirmPaymentRequest = z.strictObject(methodFields).refine(methodFitsData, MISFIT);
export type ConfirmPaymentRequest = z.input<typeof confirmPaymentRequest>;

/** service-interface.md §4.3.5, `status`. */
export const PAYMENT_LIST_STATUSES = [
  'succeeded',
  'failed',
  'processing',
  'requires_capture',
  'cancelled',
] as const;

/** The body of POST and the query of GET. service-interface.md §4.3.5. */
export const listPaymentsRequest = z.strictObject({
  ...pageFields,
  status: z.enum(PAYMENT_LIST_STATUSES).optional(),
  customer_id: customerId.optional(),
  /** Created then or later. */
  created_gte: timestamp.optional(),
  /** Created then or earlier. */
  created_lte: timestamp.optional(),
  currency: currency.optional(),
});
export type ListPaymentsRequest = z.input<typeof listPaymentsRequest>;

/** service-interface.md §4.3.6 and §8.1. */
export const capturePaymentRequest = z
  .strictObject({
    /** Minor units; everything that is authorized when it is left out. */
    amount_to_capture: amountMinor.optional(),
    statement_descriptor_prefix: text.max(STATEMENT_DESCRIPTOR_MAX_LENGTH).optional(),
    statement_descriptor_suffix: text.max(STATEMENT_DESCRIPTOR_MAX_LENGTH).optional(),
  })
  .refine(
    ({ statement_descriptor_prefix: prefix = '', statement_descriptor_suffix: suffix = '' }) =>
      prefix.length + suffix.length <= STATEMENT_DESCRIPTOR_MAX_LENGTH,
    {
      error: `prefix and suffix together exceed ${STATEMENT_DESCRIPTOR_MAX_LENGTH} characters`,
      path: ['statement_descriptor_suffix'],
    },
  );
export type CapturePaymentRequest = z.input<typeof capturePaymentRequest>;

/** service-interface.md §4.3.7. */
export const cancelPaymentRequest = z.strictObject({ cancellation_reason: text.optional() });
export type CancelPaymentRequest = z.input<typeof cancelPaymentRequest>;

/** Whether the service should ask the processor again. Not in the contract; the family's. */
export const retrieveQuery = z.strictObject({ force_sync: z.boolean().optional() });
export type RetrieveQuery = z.input<typeof retrieveQuery>;
