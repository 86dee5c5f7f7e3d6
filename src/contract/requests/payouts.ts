/**
 * Requests about payouts. service-interface.md §4.8.
 *
 * Only `amount` and `currency` are mandatory to create one; what confirming needs besides may come
 * with the creation, an update or the confirmation itself.
 */
import { z } from 'zod';
import { MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH } from '../limits.ts';
import { PAYOUT_STATUSES } from '../statuses.ts';
import { browserInfoRequest, payoutBillingRequest } from './customerContext.ts';
import {
  amountMinor,
  country,
  currency,
  customerId,
  email,
  limitedMetadata,
  openObject,
  pageFields,
  reportMissing,
  returnUrl,
  text,
  timestamp,
} from './fields.ts';
import type { MissingField } from './paymentMethod.ts';
import {
  bankTransferRequest,
  PAYOUT_TYPES,
  payoutMethodDataRequest,
  payoutTypeFitsData,
} from './payoutMethod.ts';

const ENTITY_WORDS = [
  'Individual',
  'Company',
  'NonProfit',
  'PublicSector',
  'NaturalPerson',
  'Personal',
] as const;

/**
 * service-interface.md §4.8: six words, "or lowercase". That is read both
 * ways, as their spelling in lower case and as the word that the family sends.
 */
export const ENTITY_TYPES = [
  ...ENTITY_WORDS,
  'individual',
  'company',
  'nonprofit',
  'publicsector',
  'naturalperson',
  'personal',
  'lowercase',
] as const;

/** service-interface.md §4.8, `priority`. */
export const PAYOUT_PRIORITIES = [
  'instant',
  'fast',
  'regular',
  'wire',
  'cross_border',
  'internal',
] as const;

/** Seconds; the upper bound is the family's. */
const SESSION_EXPIRY_SECONDS = { min: 1, max: 7_890_000 } as const;

const customer = z.strictObject({
  id: customerId.optional(),
  name: text.optional(),
  email: email.optional(),
  phone: text.optional(),
  phone_country_code: text.optional(),
  tax_registration_id: text.optional(),
  /** Its inner form is left open. */
  document_details: openObject.optional(),
});

const methodFields = {
  payout_type: z.enum(PAYOUT_TYPES).optional(),
  payout_method_data: payoutMethodDataRequest.optional(),
  source_bank_data: bankTransferRequest.optional(),
  /** A stored method, instead of payout_method_data. */
  payout_token: text.optional(),
  payout_method_id: text.optional(),
  billing: payoutBillingRequest.optional(),
  return_url: returnUrl.optional(),
  /** Marked as required on a page that says only amount and currency are: read as optional. */
  browser_info: browserInfoRequest.optional(),
};

/** What an update may change as well. */
const changeableFields = {
  merchant_order_reference_id: text.max(MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH).optional(),
  ...methodFields,
  customer: customer.optional(),
  // Deprecated, each for the field of `customer` that is named like it.
  customer_id: customerId.optional(),
  email: email.optional(),
  name: text.optional(),
  phone: text.optional(),
  phone_country_code: text.optional(),
  auto_fulfill: z.boolean().optional(),
  recurring: z.boolean().optional(),
  entity_type: z.enum(ENTITY_TYPES).optional(),
  priority: z.enum(PAYOUT_PRIORITIES).optional(),
  business_country: country.optional(),
  profile_id: text.optional(),
  description: text.optional(),
  metadata: limitedMetadata.optional(),
  /** Seconds until the client secret expires. */
  session_expiry: z
    .int()
    .min(SESSION_EXPIRY_SECONDS.min)
    .max(SESSION_EXPIRY_SECONDS.max)
    .optional(),
};

/** What decides whether a payout can be confirmed: of one request, or of all so far together. */
export interface PayoutConfirmationFields {
  readonly payout_type?: unknown;
  readonly payout_method_data?: unknown;
  readonly payout_token?: unknown;
  readonly payout_method_id?: unknown;
}

/**
 * What is missing to confirm a payout: its type, and details or a stored method.
 * service-interface.md §4.8, `payout_type`.
 */
function missingToConfirmPayout(fields: PayoutConfirmationFields): readonly MissingField[] {
  const missing: MissingField[] = [];
  if (fields.payout_type === undefined) {
    missing.push({ field: 'payout_type', why: 'required before confirmation' });
  }
  const { payout_method_data: data, payout_token: token, payout_method_id: saved } = fields;
  if (data === undefined && token === undefined && saved === undefined) {
    missing.push({
      field: 'payout_method_data',
      why: 'required before confirmation, unless a stored method is named',
    });
  }
  return missing;
}

interface PayoutFields {
  readonly payout_type?: (typeof PAYOUT_TYPES)[number] | undefined;
  readonly payout_method_data?: z.output<typeof payoutMethodDataRequest> | undefined;
  readonly payout_token?: string | undefined;
  readonly payout_method_id?: string | undefined;
  readonly customer?: z.output<typeof customer> | undefined;
  readonly customer_id?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
}

/** What contradicts itself, by field. */
function contradictions(fields: PayoutFields): readonly MissingField[] {
  const found: MissingField[] = [];
  if (!payoutTypeFitsData(fields)) {
    found.push({ field: 'payout_method_data', why: 'holds details of another payout_type' });
  }
  if (fields.payout_method_data !== undefined && fields.payout_token !== undefined) {
    found.push({
      field: 'payout_token',
      why: 'is sent instead of payout_method_data, not beside it',
    });
  }
  const pairs = [
    ['customer_id', fields.customer_id, fields.customer?.id],
    ['email', fields.email, fields.customer?.email],
    ['name', fields.name, fields.customer?.name],
    ['phone', fields.phone, fields.customer?.phone],
    ['phone_country_code', fields.phone_country_code, fields.customer?.phone_country_code],
  ] as const;
  for (const [field, deprecated, current] of pairs) {
    if (deprecated !== undefined && current !== undefined && deprecated !== current) {
      found.push({ field, why: 'is deprecated and contradicts the field of customer' });
    }
  }
  return found;
}

function reportContradictions(context: z.core.ParsePayload<PayoutFields>): void {
  for (const { field, why } of contradictions(context.value)) {
    context.issues.push({ code: 'custom', input: context.value, path: [field], message: why });
  }
}

/** service-interface.md §4.8. */
export const createPayoutRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    ...changeableFields,
    confirm: z.boolean().optional(),
    payout_link: z.boolean().optional(),
    /** Customizes the link; its fields are left open. */
    payout_link_config: openObject.optional(),
  })
  .check(reportContradictions)
  .check((context) => {
    if (context.value.confirm) reportMissing(context, missingToConfirmPayout(context.value));
  });
export type CreatePayoutRequest = z.input<typeof createPayoutRequest>;

/**
 * `PUT /payouts/:payout_id`, whose body is left open: what creating takes, without the link, which
 * is settable only there, and without `confirm`, which has a route of its own. PUT replaces, so what
 * creating requires is required here. service-interface.md §1.5.
 */
export const updatePayoutRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    ...changeableFields,
  })
  .check(reportContradictions);
export type UpdatePayoutRequest = z.input<typeof updatePayoutRequest>;

/** service-interface.md §3.4: Create, then Update, then Confirm. */
export const confirmPayoutRequest = z.strictObject(methodFields).check(reportContradictions);
export type ConfirmPayoutRequest = z.input<typeof confirmPayoutRequest>;

/** The contract says "filter body"; the names are the family's. */
export const listPayoutsRequest = z.strictObject({
  ...pageFields,
  payout_id: text.optional(),
  merchant_order_reference_id: text.optional(),
  profile_id: text.optional(),
  customer_id: text.optional(),
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
  currency: z.array(currency).optional(),
  status: z.array(z.enum(PAYOUT_STATUSES)).optional(),
  payout_method: z.array(z.enum(PAYOUT_TYPES)).optional(),
  entity_type: z.enum(ENTITY_TYPES).optional(),
});
export type ListPayoutsRequest = z.input<typeof listPayoutsRequest>;
