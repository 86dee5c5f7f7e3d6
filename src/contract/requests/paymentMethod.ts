/**
 * How a payment is made, and what confirming it needs.
 * service-interface.md §2.2, §4.3.1 and §4.3.3.
 */
import { z } from 'zod';
import { exactlyOne, sentFields, text } from './fields.ts';

/** service-interface.md §2.2, `payment_method_data.card`. */
const cardRequest = z.strictObject({
  card_number: z.string().regex(/^\d{12,19}$/, 'expected 12 to 19 digits'),
  card_exp_month: z.string().regex(/^(0?[1-9]|1[0-2])$/, 'expected a month from 01 to 12'),
  card_exp_year: z.string().regex(/^(\d{2}|\d{4})$/, 'expected a year of two or four digits'),
  card_cvc: z.string().regex(/^\d{3,4}$/, 'expected three or four digits'),
  card_holder_name: text.optional(),
});

/** service-interface.md §2.2, `payment_method_data.crypto`. */
const cryptoRequest = z.strictObject({
  /** An asset such as `BTC`. */
  pay_currency: text,
  wallet_address: text,
  /** Where the asset lives on several networks. */
  network: text.optional(),
  /** Memo or tag. */
  wallet_address_tag: text.optional(),
  /** The option's id in a quote flow upstream. */
  payment_method_id: text.optional(),
  external_customer_id: text.optional(),
});

/** Exactly one of both. service-interface.md §4.3.1. */
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

/** Methods whose customer always leaves the shop. */
const REDIRECTING_METHODS: ReadonlySet<string> = new Set<PaymentMethod>([
  'wallet',
  'bank_redirect',
  'card_redirect',
]);

/** What decides whether a payment can be confirmed: of one request, or of all so far together. */
export interface ConfirmationFields {
  /** Whose default address serves as billing where none is sent. */
  readonly customer_id?: unknown;
  readonly payment_method?: unknown;
  readonly payment_method_data?: unknown;
  readonly billing?: unknown;
  readonly authentication_type?: unknown;
  readonly return_url?: unknown;
}

/** A field that has to be sent, with the reason. */
export interface MissingField {
  readonly field: string;
  readonly why: string;
}

/**
 * What is missing to confirm a payment: a method; a way back for the customer where he may leave
 * the shop. Without details of the method he is sent to a hosted page, which is leaving too.
 * service-interface.md §4.3.1.
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
 * Billing belongs on the very request that sends the details of the method, unless a customer is
 * named: whether that one has an address, the service knows. Same section, and section Resources,
 * "Customer", `address`.
 */
export function missingBilling(fields: ConfirmationFields): readonly MissingField[] {
  const { payment_method_data: data, billing, customer_id: customerId } = fields;
  return data !== undefined && billing === undefined && customerId === undefined
    ? [{ field: 'billing', why: 'required on the request that sends payment_method_data' }]
    : [];
}

/** Whether the details sent are those of the method named; true where either is missing. */
export function methodFitsData(fields: {
  readonly payment_method?: string | undefined;
  readonly payment_method_data?: PaymentMethodDataRequest | undefined;
}): boolean {
  const { payment_method: method, payment_method_data: data } = fields;
  if (method === undefined || data === undefined) return true;
  return sentFields(data).includes(method);
}
