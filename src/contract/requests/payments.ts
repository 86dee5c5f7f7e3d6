/**
 * Requests about payments. service-interface.md §4.3.
 *
 * The contents of the order are sent as `order_details`. The names `items`, `line_items` and
 * `cart_items` are rejected like every unknown name, with a hint (problems.ts).
 */
import { z } from 'zod';
import { STATEMENT_DESCRIPTOR_MAX_LENGTH } from '../limits.ts';
import { billingRequest, browserInfoRequest } from './customerContext.ts';
import {
  amountMinor,
  chosenId,
  currency,
  currencyFilter,
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

/** When an authorized payment is captured. service-interface.md §2.1. */
export const CAPTURE_METHODS = ['automatic', 'manual', 'manual_multiple'] as const;
export type CaptureMethod = (typeof CAPTURE_METHODS)[number];

/** The contract shows `three_ds`; the other is the family's, and its default. */
export const AUTHENTICATION_TYPES = ['three_ds', 'no_three_ds'] as const;

/** One item of the order. service-interface.md §2.2. */
export const orderDetailRequest = z.strictObject({
  name: text,
  quantity: z.int().min(1),
  /** Minor units; an item may be free. */
  amount: z.int().min(0),
  currency: currency.optional(),
});

/** Fields of both creating and confirming. */
const methodFields = {
  /** An open set; the contract shows `card`, `wallet` and `crypto`. */
  payment_method: openSet(PAYMENT_METHODS).optional(),
  /** An open set; the contract shows `credit`, `debit` and `crypto_currency`. */
  payment_method_type: text.optional(),
  payment_method_data: paymentMethodDataRequest.optional(),
  billing: billingRequest.optional(),
  return_url: returnUrl.optional(),
  browser_info: browserInfoRequest.optional(),
  /** The contract names none of its fields. */
  customer_acceptance: openObject.optional(),
};

const MISFIT = {
  error: 'payment_method_data belongs to another payment_method',
  path: ['payment_method_data'],
};

/** The body of creating a payment. service-interface.md §4.3.1. */
export const createPaymentRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    profile_id: text,
    /** Chosen by the merchant, so that a retry cannot charge twice. */
    payment_id: chosenId.optional(),
    /** An existing customer. */
    customer_id: customerId.optional(),
    /** True authorizes in this request. */
    confirm: z.boolean().optional(),
    /** `automatic` by default. */
    capture_method: z.enum(CAPTURE_METHODS).optional(),
    /** An open set; the contract shows `three_ds`. */
    authentication_type: openSet(AUTHENTICATION_TYPES).optional(),
    description: text.optional(),
    email: email.optional(),
    name: text.optional(),
    /** Without the country code. */
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

/** The body of updating a payment. service-interface.md §4.3.2. */
export const updatePaymentRequest = z.strictObject({
  amount: amountMinor.optional(),
  currency: currency.optional(),
  description: text.optional(),
  metadata: metadata.optional(),
  customer_id: customerId.optional(),
});
export type UpdatePaymentRequest = z.input<typeof updatePaymentRequest>;

/**
 * The body of confirming a payment. Other required fields, including billing, may have come with
 * the payment or its customer: check them with missingToConfirm. service-interface.md §4.3.3.
 */
export const confirmPaymentRequest = z.strictObject(methodFields).refine(methodFitsData, MISFIT);
export type ConfirmPaymentRequest = z.input<typeof confirmPaymentRequest>;

/** The values of the `status` filter. service-interface.md §4.3.5. */
export const PAYMENT_LIST_STATUSES = [
  'succeeded',
  'failed',
  'processing',
  'requires_capture',
  'cancelled',
] as const;

/**
 * The filter of listing payments: the body of POST and the query of GET. service-interface.md
 * §4.3.5.
 */
export const listPaymentsRequest = z.strictObject({
  ...pageFields,
  status: z.enum(PAYMENT_LIST_STATUSES).optional(),
  customer_id: customerId.optional(),
  /** Inclusive. */
  created_gte: timestamp.optional(),
  /** Inclusive. */
  created_lte: timestamp.optional(),
  currency: currencyFilter.optional(),
});
export type ListPaymentsRequest = z.input<typeof listPaymentsRequest>;

/** The body of capturing a payment. service-interface.md §4.3.6 and §8.1. */
export const capturePaymentRequest = z
  .strictObject({
    /** Minor units; everything that is authorized by default. */
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

/** The body of canceling a payment. service-interface.md §4.3.7. */
export const cancelPaymentRequest = z.strictObject({ cancellation_reason: text.optional() });
export type CancelPaymentRequest = z.input<typeof cancelPaymentRequest>;

/** The query of a retrieve: whether the service queries the processor first. The family's. */
export const retrieveQuery = z.strictObject({ force_sync: z.boolean().optional() });
export type RetrieveQuery = z.input<typeof retrieveQuery>;
