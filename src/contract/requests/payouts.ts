/**
 * Requests about payouts. service-interface.md §4.8.
 *
 * Only `amount` and `currency` are required to create one. What confirming requires may come with
 * the creation, an update or the confirmation itself.
 */
import { z } from 'zod';
import { MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH } from '../limits.ts';
import { PAYOUT_STATUSES } from '../statuses.ts';
import { browserInfoRequest, payoutBillingRequest } from './customerContext.ts';
import {
  amountMinor,
  country,
  currency,
  currencyFilter,
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
 * Six words, or lower case. Both readings are accepted: their lower-case spelling, and the value
 * `lowercase`, which the family sends. service-interface.md §4.8.
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

/** The values of `priority`. service-interface.md §4.8. */
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
  /** The contract names none of its fields. */
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
  /** Optional: the contract contradicts itself about it. */
  browser_info: browserInfoRequest.optional(),
};

/** Fields that an update may change. */
const changeableFields = {
  merchant_order_reference_id: text.max(MERCHANT_ORDER_REFERENCE_ID_MAX_LENGTH).optional(),
  ...methodFields,
  customer: customer.optional(),
  // Deprecated in favor of the fields of `customer` with the same names.
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

/** The fields that decide whether a payout can be confirmed, of one request or of all so far. */
export interface PayoutConfirmationFields {
  readonly payout_type?: unknown;
  readonly payout_method_data?: unknown;
  readonly payout_token?: unknown;
  readonly payout_method_id?: unknown;
}

/**
 * The fields that are missing to confirm a payout: its type, and details or a stored method.
 * service-interface.md §4.8.
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
      why: 'required before confirmation, unless a stored method is given',
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

/** Contradictory fields. */
function contradictions(fields: PayoutFields): readonly MissingField[] {
  const found: MissingField[] = [];
  if (!payoutTypeFitsData(fields)) {
    found.push({ field: 'payout_method_data', why: 'belongs to another payout_type' });
  }
  if (fields.payout_method_data !== undefined && fields.payout_token !== undefined) {
    found.push({
      field: 'payout_token',
      why: 'must not be sent together with payout_method_data',
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
      found.push({ field, why: 'is deprecated and differs from the field of customer' });
    }
  }
  return found;
}

function reportContradictions(context: z.core.ParsePayload<PayoutFields>): void {
  for (const { field, why } of contradictions(context.value)) {
    context.issues.push({ code: 'custom', input: context.value, path: [field], message: why });
  }
}

/** The body of creating a payout. service-interface.md §4.8. */
export const createPayoutRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    ...changeableFields,
    confirm: z.boolean().optional(),
    payout_link: z.boolean().optional(),
    /** Customizes the link; the contract names none of its fields. */
    payout_link_config: openObject.optional(),
  })
  .check(reportContradictions)
  .check((context) => {
    if (context.value.confirm) reportMissing(context, missingToConfirmPayout(context.value));
  });
export type CreatePayoutRequest = z.input<typeof createPayoutRequest>;

/**
 * The body of `PUT /payouts/:payout_id`, which the contract leaves open: the fields of creation,
 * without the link, which can be set on creation only, and without `confirm`, which has a route of
 * its own. PUT replaces, so the required fields of creation are required here. service-interface.md
 * §1.5.
 */
export const updatePayoutRequest = z
  .strictObject({
    amount: amountMinor,
    currency,
    ...changeableFields,
  })
  .check(reportContradictions);
export type UpdatePayoutRequest = z.input<typeof updatePayoutRequest>;

/** The body of confirming a payout. service-interface.md §3.4. */
export const confirmPayoutRequest = z.strictObject(methodFields).check(reportContradictions);
export type ConfirmPayoutRequest = z.input<typeof confirmPayoutRequest>;

/**
 * The body of listing payouts. The contract leaves the filter open; these names are the family's.
 * service-interface.md §4.10.
 */
export const listPayoutsRequest = z.strictObject({
  ...pageFields,
  payout_id: text.optional(),
  merchant_order_reference_id: text.optional(),
  profile_id: text.optional(),
  customer_id: text.optional(),
  start_time: timestamp.optional(),
  end_time: timestamp.optional(),
  currency: z.array(currencyFilter).optional(),
  status: z.array(z.enum(PAYOUT_STATUSES)).optional(),
  payout_method: z.array(z.enum(PAYOUT_TYPES)).optional(),
  entity_type: z.enum(ENTITY_TYPES).optional(),
});
export type ListPayoutsRequest = z.input<typeof listPayoutsRequest>;
