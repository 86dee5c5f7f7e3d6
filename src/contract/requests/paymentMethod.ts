/**
 * Payment methods, and the fields that confirming a payment requires. service-interface.md §2.2,
 * §4.3.1 and §4.3.3.
 */
import { z } from 'zod';
import { exactlyOne, sentFields, text } from './fields.ts';

/** Card details. service-interface.md §2.2. */
const cardRequest = z.strictObject({
  card_number: z.string().regex(/^\d{12,19}$/, 'expected 12 to 19 digits'),
  card_exp_month: z.string().regex(/^(0?[1-9]|1[0-2])$/, 'expected a month from 01 to 12'),
  card_exp_year: z.string().regex(/^(\d{2}|\d{4})$/, 'expected a year of two or four digits'),
  card_cvc: z.string().regex(/^\d{3,4}$/, 'expected three or four digits'),
  card_holder_name: text.optional(),
});

/** Crypto details. service-interface.md §2.2. */
const cryptoRequest = z.strictObject({
  /** An asset such as `BTC`. */
  pay_currency: text,
  wallet_address: text,
  /** Required for an asset that exists on several networks. */
  network: text.optional(),
  /** Memo or tag. */
  wallet_address_tag: text.optional(),
  /** The id of the option in an upstream quote. */
  payment_method_id: text.optional(),
  external_customer_id: text.optional(),
});

/** Exactly one of the two. service-interface.md §2.2. */
export const paymentMethodDataRequest = exactlyOne(
  z.strictObject({ card: cardRequest.optional(), crypto: cryptoRequest.optional() }),
);
export type PaymentMethodDataRequest = z.input<typeof paymentMethodDataRequest>;

/** The contract shows three and leaves the set open; these are the family's. */
export const PAYMENT_METHODS = [
  'card',
  'card_redirect',
  'pay_later',
  'wallet',
  'bank_redirect',
  'bank_transfer',
  'crypto',
  'bank_debit',
  'reward',
  'real_time_payment',
  'upi',
  'voucher',
  'gift_card',
  'open_banking',
  'mobile_payment',
  'network_token',
] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

/** Methods that always redirect the customer. */
const REDIRECTING_METHODS: ReadonlySet<string> = new Set<PaymentMethod>([
  'wallet',
  'bank_redirect',
  'card_redirect',
]);

/** The fields that decide whether a payment can be confirmed, of one request or of all so far. */
export interface ConfirmationFields {
  /** The customer's default address is used if no billing address is sent. */
  readonly customer_id?: unknown;
  readonly payment_method?: unknown;
  readonly payment_method_data?: unknown;
  readonly billing?: unknown;
  readonly authentication_type?: unknown;
  readonly return_url?: unknown;
}

/** A missing field, with the reason why it is required. */
export interface MissingField {
  readonly field: string;
  readonly why: string;
}

/**
 * The fields that are missing to confirm a payment: a method, and a return URL if the customer may
 * leave the shop. Without details of the method the customer pays on a hosted page, which also
 * leaves the shop. service-interface.md §4.3.1.
 */
export function missingToConfirm(fields: ConfirmationFields): readonly MissingField[] {
  const missing: MissingField[] = [...missingBilling(fields)];
  if (fields.payment_method === undefined) {
    missing.push({ field: 'payment_method', why: 'required when confirming' });
  }
  const leaves =
    fields.payment_method_data === undefined ||
    fields.authentication_type === 'three_ds' ||
    REDIRECTING_METHODS.has(String(fields.payment_method));
  if (leaves && fields.return_url === undefined) {
    missing.push({
      field: 'return_url',
      why: 'required for redirect, wallet, bank redirect, hosted and 3-D Secure flows',
    });
  }
  return missing;
}

/**
 * The request that sends the details of the method must have a billing address, unless it names a
 * customer: only the service knows whether that customer has an address. service-interface.md §2.4
 * and §4.3.1.
 */
export function missingBilling(fields: ConfirmationFields): readonly MissingField[] {
  const { payment_method_data: data, billing, customer_id: customerId } = fields;
  return data !== undefined && billing === undefined && customerId === undefined
    ? [{ field: 'billing', why: 'required on the request that sends payment_method_data' }]
    : [];
}

/** Whether the details belong to the payment method; true if either is missing. */
export function methodFitsData(fields: {
  readonly payment_method?: string | undefined;
  readonly payment_method_data?: PaymentMethodDataRequest | undefined;
}): boolean {
  const { payment_method: method, payment_method_data: data } = fields;
  if (method === undefined || data === undefined) return true;
  return sentFields(data).includes(method);
}
