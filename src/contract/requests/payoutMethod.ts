/** Payout methods, with the required fields of each. service-interface.md §4.8.1. */
import { z } from 'zod';
import { country, email, exactlyOne, sentFields, text } from './fields.ts';

/** The networks of a card. service-interface.md §4.8.1. */
export const CARD_NETWORKS = [
  'Visa',
  'Mastercard',
  'AmericanExpress',
  'JCB',
  'DinersClub',
  'Discover',
  'CartesBancaires',
  'UnionPay',
  'Interac',
  'RuPay',
  'Maestro',
  'Star',
  'Pulse',
  'Accel',
  'Nyce',
] as const;

const cardNetwork = z.enum(CARD_NETWORKS).optional();
const expiryAndHolder = { expiry_month: text, expiry_year: text, card_holder_name: text };

const card = z.strictObject({ card_number: text, ...expiryAndHolder, card_network: cardNetwork });

const bankDetails = {
  bank_name: text.optional(),
  bank_country_code: country.optional(),
  bank_city: text.optional(),
  account_holder_name: text.optional(),
};

/** A bank transfer; `source_bank_data` has the same form. service-interface.md §4.8.1. */
export const bankTransferRequest = z.discriminatedUnion('payout_method_type', [
  z.strictObject({
    payout_method_type: z.literal('ach'),
    bank_account_number: text,
    bank_routing_number: text,
    ...bankDetails,
  }),
  z.strictObject({
    payout_method_type: z.literal('bacs'),
    bank_account_number: text,
    bank_sort_code: text,
    ...bankDetails,
  }),
  z.strictObject({
    payout_method_type: z.literal('sepa'),
    iban: text,
    bic: text,
    ...bankDetails,
  }),
  z.strictObject({
    payout_method_type: z.literal('pix'),
    bank_account_number: text,
    bank_name: text.optional(),
    bank_branch: text.optional(),
    tax_id: text.optional(),
    ispb: text.optional(),
  }),
  z.strictObject({ payout_method_type: z.literal('pix_key'), pix_key: text }),
  /** `emv` is the text of a QR code. */
  z.strictObject({ payout_method_type: z.literal('pix_emv'), emv: text }),
  z.strictObject({
    payout_method_type: z.literal('trustly'),
    iban: text,
    bank_country_code: country,
    bank_account_number: text,
    bank_number: text,
  }),
  z.strictObject({
    payout_method_type: z.literal('open_banking'),
    account_holder_name: text,
    iban: text,
  }),
]);
const paypal = z.strictObject({ email, telephone_number: text, paypal_id: text });
const venmo = z.strictObject({ telephone_number: text });

const wallet = exactlyOne(
  z.strictObject({
    apple_pay_decrypt: z
      .strictObject({ dpan: text, ...expiryAndHolder, card_network: cardNetwork })
      .optional(),
    google_pay_decrypt: z
      .strictObject({
        application_primary_account_number: text,
        ...expiryAndHolder,
        card_network: cardNetwork,
      })
      .optional(),
    paypal: paypal.optional(),
    venmo: venmo.optional(),
  }),
);

const bankRedirect = exactlyOne(
  z.strictObject({
    interac: z.strictObject({ email }).optional(),
    open_banking_uk: z.strictObject({ account_holder_name: text, iban: text }).optional(),
  }),
);

/** `token_type` is the type of a payment method: an open set. */
const passthrough = z.strictObject({ psp_token: text, psp_customer_id: text, token_type: text });

/** Exactly one key. service-interface.md §4.8.1. */
export const payoutMethodDataRequest = exactlyOne(
  z.strictObject({
    card: card.optional(),
    bank_transfer: bankTransferRequest.optional(),
    wallet: wallet.optional(),
    bank_redirect: bankRedirect.optional(),
    passthrough: passthrough.optional(),
  }),
);
export type PayoutMethodDataRequest = z.input<typeof payoutMethodDataRequest>;

/** Those methods that have no card number. */
export const accountDetailsRequest = exactlyOne(
  z.strictObject({
    bank_transfer: bankTransferRequest.optional(),
    wallet: exactlyOne(
      z.strictObject({ paypal: paypal.optional(), venmo: venmo.optional() }),
    ).optional(),
    bank_redirect: bankRedirect.optional(),
  }),
);
export type AccountDetailsRequest = z.input<typeof accountDetailsRequest>;

/** The types of payouts. service-interface.md §4.8. */
export const PAYOUT_TYPES = ['card', 'bank', 'wallet', 'bank_redirect'] as const;
export type PayoutType = (typeof PAYOUT_TYPES)[number];

/** The payout type of each kind of details; `passthrough` fits any. */
export const TYPE_OF_DATA: Readonly<Record<string, PayoutType>> = {
  card: 'card',
  bank_transfer: 'bank',
  wallet: 'wallet',
  bank_redirect: 'bank_redirect',
};

/** Whether the details belong to the payout type; true if either is missing. */
export function payoutTypeFitsData(fields: {
  readonly payout_type?: PayoutType | undefined;
  readonly payout_method_data?: PayoutMethodDataRequest | undefined;
}): boolean {
  const { payout_type: type, payout_method_data: data } = fields;
  if (type === undefined || data === undefined) return true;
  return sentFields(data).every((kind) => (TYPE_OF_DATA[kind] ?? type) === type);
}
