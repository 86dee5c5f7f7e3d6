/**
 * The lifecycle of a payout. service-interface.md §3.4 and §4.8; the contract
 * has the statuses and the usual steps (create, update, confirm), services of this family the rest.
 *
 *   requires_payout_method_data ─▶ requires_confirmation ─▶ requires_fulfillment
 *   requires_confirmation ─▶ ineligible, too
 *   requires_fulfillment ─▶ success | initiated | pending | failed
 *   initiated, pending ─▶ success | failed | expired        success ─▶ reversed | failed (late)
 *   requires_*, initiated, pending ─▶ cancelled
 *
 * 1. Confirmation requires `payout_type` and a payout method.
 * 2. With `auto_fulfill` the service confirms and fulfills by itself; the creation response still
 *    shows requires_fulfillment, as in the contract.
 * 3. Account numbers are masked before they are stored, so they cannot leak.
 * 4. The last method that was sent counts: details or a stored one. Details must match `payout_type`,
 *    even if the two came in different requests.
 * 5. A confirmed payout keeps its amount, destination and source.
 * 6. The session and the link end `session_expiry` seconds after the creation.
 */
import type { PayoutStatus } from '../../contract/index.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/time.ts';
import { accept, type Decision, rejectMissing, rejectState, rejectValue } from './decision.ts';
import { isoTime, nextModified } from './time.ts';

export interface PayoutState {
  readonly payout_id: string;
  readonly merchant_id: string;
  readonly profile_id: string;
  readonly status: PayoutStatus;
  readonly amount: number;
  readonly currency: string;
  readonly merchant_order_reference_id?: string | undefined;
  readonly payout_type?: string | undefined;
  readonly payout_method_data?: object | undefined;
  readonly source_bank_data?: object | undefined;
  readonly payout_method_id?: string | undefined;
  readonly billing?: object | undefined;
  readonly auto_fulfill: boolean;
  readonly recurring: boolean;
  readonly customer_id: string;
  readonly customer: object;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
  readonly return_url?: string | undefined;
  readonly business_country?: string | undefined;
  readonly description?: string | undefined;
  readonly entity_type?: string | undefined;
  readonly priority?: string | undefined;
  readonly metadata?: object | undefined;
  readonly error_code?: string | undefined;
  readonly error_message?: string | undefined;
  readonly unified_code?: string | undefined;
  readonly unified_message?: string | undefined;
  readonly connector_transaction_id?: string | undefined;
  readonly session_expiry?: number | undefined;
  readonly payout_link?: { readonly payout_link_id: string; readonly link: string } | undefined;
  readonly created: string;
  readonly modified_at: string;
  readonly hidden: HiddenPayout;
}

export interface HiddenPayout {
  readonly client_secret: string;
  readonly due?: { readonly at: string; readonly what: PayoutDue } | undefined;
}

export type PayoutDue = 'fulfill' | 'settle' | 'reverse';

interface CustomerInput {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
}

/** The fields of Create Payout that can still change. service-interface.md §4.8. */
export interface PayoutFields {
  readonly amount?: number | undefined;
  readonly currency?: string | undefined;
  readonly merchant_order_reference_id?: string | undefined;
  readonly payout_type?: string | undefined;
  readonly payout_method_data?: object | undefined;
  readonly source_bank_data?: object | undefined;
  readonly payout_token?: string | undefined;
  readonly payout_method_id?: string | undefined;
  readonly customer?: CustomerInput | undefined;
  readonly customer_id?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
  readonly billing?: object | undefined;
  readonly confirm?: boolean | undefined;
  readonly auto_fulfill?: boolean | undefined;
  readonly recurring?: boolean | undefined;
  readonly entity_type?: string | undefined;
  readonly priority?: string | undefined;
  readonly business_country?: string | undefined;
  readonly description?: string | undefined;
  readonly return_url?: string | undefined;
  readonly metadata?: object | undefined;
  /** Seconds. */
  readonly session_expiry?: number | undefined;
}

export interface PayoutInput extends PayoutFields {
  readonly amount: number;
  readonly currency: string;
  readonly payout_link?: boolean | undefined;
}

export interface NewPayout {
  readonly payoutId: string;
  readonly merchantId: string;
  readonly profileId: string;
  readonly clientSecret: string;
  /** Generated, for payouts without a customer. */
  readonly customerId: string;
  readonly linkUrl: string;
  readonly nowMs: number;
}

/** Amounts, in minor units, that choose the outcome of a fulfillment; docs/reference/sandbox.md. */
export const PAYOUT_AMOUNTS = {
  7710: 'failed',
  7720: 'initiated',
  7730: 'pending',
  7750: 'reversed',
} as const;
type FulfillmentOutcome = (typeof PAYOUT_AMOUNTS)[keyof typeof PAYOUT_AMOUNTS];

/** The amount, in minor units, at which the confirmed payout becomes `ineligible`. */
export const INELIGIBLE_AMOUNT = 7740;

const AUTO_FULFILL_MS = SECOND_MS;
const SETTLE_MS = HOUR_MS;
const REVERSE_MS = DAY_MS;

/** Create Payout. service-interface.md §4.8. */
export function createPayout(input: PayoutInput, created: NewPayout): Decision<PayoutState> {
  const at = isoTime(created.nowMs);
  const blank: PayoutState = {
    ...NOTHING_SENT,
    payout_id: created.payoutId,
    merchant_id: created.merchantId,
    profile_id: created.profileId,
    amount: input.amount,
    currency: input.currency,
    customer_id: created.customerId,
    ...(input.payout_link === true && {
      payout_link: { payout_link_id: `payout_link_${created.payoutId}`, link: created.linkUrl },
    }),
    created: at,
    modified_at: at,
    hidden: { client_secret: created.clientSecret },
  };
  return applyFields(blank, input, created.nowMs);
}

/** The defaults of a payout before the fields of a request are applied. */
const NOTHING_SENT = {
  status: 'requires_payout_method_data',
  auto_fulfill: false,
  recurring: false,
  customer: {},
} as const satisfies Partial<PayoutState>;

/** The fields of Update Payout. */
export interface PayoutReplacement extends PayoutFields {
  readonly amount: number;
  readonly currency: string;
}

/**
 * Update Payout. PUT replaces all fields, and keeps only the identity of the payout with its customer
 * and link. service-interface.md §1.5.
 */
export function replacePayout(
  state: PayoutState,
  fields: PayoutReplacement,
  nowMs: number,
): Decision<PayoutState> {
  if (!UPDATABLE.has(state.status)) return rejectAction('update', state);
  const { payout_id, merchant_id, profile_id, customer_id, payout_link, created, hidden } = state;
  const blank: PayoutState = {
    ...NOTHING_SENT,
    payout_id,
    merchant_id,
    profile_id,
    amount: fields.amount,
    currency: fields.currency,
    customer_id,
    payout_link,
    created,
    modified_at: nextModified(state.modified_at, nowMs),
    hidden,
  };
  return applyFields(blank, fields, nowMs);
}

/** A confirmed payout cannot be changed. */
const UPDATABLE = new Set<string>(['requires_confirmation', 'requires_payout_method_data']);

const CONFIRMABLE = new Set<string>(['requires_confirmation', 'requires_payout_method_data']);

/** Confirm Payout: the third of the usual steps; it can add missing fields. */
export function confirmPayout(
  state: PayoutState,
  fields: PayoutFields,
  nowMs: number,
): Decision<PayoutState> {
  if (!CONFIRMABLE.has(state.status)) return rejectAction('confirm', state);
  const confirmed = applyFields(state, { ...fields, confirm: true }, nowMs);
  return confirmed.rejection
    ? confirmed
    : accept({ ...confirmed.value, modified_at: nextModified(state.modified_at, nowMs) });
}

/** Fulfill Payout. */
export function fulfillPayout(state: PayoutState, nowMs: number): Decision<PayoutState> {
  if (state.status !== 'requires_fulfillment') return rejectAction('fulfill', state);
  const table: Readonly<Record<number, FulfillmentOutcome>> = PAYOUT_AMOUNTS;
  const outcome = table[state.amount] ?? 'success';
  const sent = { ...state, connector_transaction_id: `sbx_${state.payout_id}` };
  const later = (what: PayoutDue, afterMs: number): HiddenPayout => ({
    client_secret: state.hidden.client_secret,
    due: { at: isoTime(nowMs + afterMs), what },
  });
  switch (outcome) {
    case 'failed':
    case 'success':
      return accept(moved(sent, outcome, nowMs));
    case 'initiated':
    case 'pending':
      return accept({ ...moved(sent, outcome, nowMs), hidden: later('settle', SETTLE_MS) });
    case 'reversed':
      return accept({ ...moved(sent, 'success', nowMs), hidden: later('reverse', REVERSE_MS) });
  }
}

/** Cancel Payout, in any status that is not final. */
export function cancelPayout(state: PayoutState, nowMs: number): Decision<PayoutState> {
  const isOpen = state.status.startsWith('requires_') || IN_TRANSIT.has(state.status);
  if (!isOpen) return rejectAction('cancel', state);
  return accept({ ...moved(state, 'cancelled', nowMs), error_message: 'Cancelled by user' });
}

/** Whether the payout's session is over; without `session_expiry` it does not end. service-interface.md §4.8. */
export function isSessionOver(state: PayoutState, nowMs: number): boolean {
  const { session_expiry: seconds, created } = state;
  return seconds !== undefined && nowMs >= Date.parse(created) + seconds * SECOND_MS;
}

const IN_TRANSIT = new Set<string>(['initiated', 'pending']);

/** The statuses to which the processor can move a payout, late changes included. */
export const PAYOUT_MOVES = ['success', 'failed', 'expired', 'reversed', 'ineligible'] as const;
export type PayoutMove = (typeof PAYOUT_MOVES)[number];

/** The processor reports. After success the money can still come back: `reversed` or `failed`. */
export function movePayout(
  state: PayoutState,
  to: PayoutMove,
  nowMs: number,
): Decision<PayoutState> {
  const may =
    state.status === 'success'
      ? to === 'reversed' || to === 'failed'
      : to !== 'reversed' &&
        (IN_TRANSIT.has(state.status) || state.status === 'requires_fulfillment');
  if (!may) return rejectState(409, 'IR_16', `A payout cannot move from ${state.status} to ${to}`);
  return accept(moved(state, to, nowMs));
}

/** Runs the timer. */
export function runPayoutDue(state: PayoutState, nowMs: number): PayoutState {
  switch (state.hidden.due?.what) {
    case undefined:
      return state;
    case 'fulfill':
      return fulfillPayout(state, nowMs).value ?? state;
    case 'settle':
      return moved(state, 'success', nowMs);
    case 'reverse':
      return moved(state, 'reversed', nowMs);
  }
}

/** Fields that are stored as they are sent. */
const KEPT = [
  'amount',
  'currency',
  'merchant_order_reference_id',
  'payout_type',
  'billing',
  'auto_fulfill',
  'recurring',
  'return_url',
  'business_country',
  'description',
  'entity_type',
  'priority',
  'metadata',
  'session_expiry',
] as const satisfies readonly (keyof PayoutFields & keyof PayoutState)[];

/** Applies fields, then advances the status as far as they allow. */
function applyFields(
  state: PayoutState,
  fields: PayoutFields,
  nowMs: number,
): Decision<PayoutState> {
  const methodId = fields.payout_method_id ?? fields.payout_token;
  const { payout_method_data: method, source_bank_data: source } = fields;
  const hasMethod = method !== undefined || methodId !== undefined;
  const next: PayoutState = {
    ...state,
    ...pickGiven(fields, KEPT),
    ...customerOf(state, fields),
    ...(hasMethod && {
      payout_method_data: method && maskMethod(method),
      payout_method_id: methodId,
    }),
    ...(source !== undefined && { source_bank_data: maskFields(source) }),
  };
  const mismatch = mismatchOf(next.payout_method_data, next.payout_type);
  if (mismatch !== undefined) return rejectValue(mismatch);
  return advance(next, fields.confirm === true, nowMs);
}

const CONTACT = ['email', 'name', 'phone', 'phone_country_code'] as const;

/**
 * The `customer` object takes precedence over the deprecated fields, which responses still contain.
 * service-interface.md §9.2.
 */
function customerOf(state: PayoutState, fields: PayoutFields): Partial<PayoutState> {
  const contact = {
    ...pickGiven(state, CONTACT),
    ...pickGiven(fields, CONTACT),
    ...(fields.customer && pickGiven(fields.customer, CONTACT)),
  };
  const id = fields.customer?.id ?? fields.customer_id ?? state.customer_id;
  return { ...contact, customer_id: id, customer: { id, ...contact } };
}

type Given<T, K extends keyof T> = { readonly [Key in K]?: Exclude<T[Key], undefined> };

/** The named fields that are defined. */
function pickGiven<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Given<T, K> {
  const given = keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]]));
  return Object.fromEntries(given) as Given<T, K>;
}

/** @param isConfirmed the request confirms the payout; `auto_fulfill` does so once there is a method */
function advance(state: PayoutState, isConfirmed: boolean, nowMs: number): Decision<PayoutState> {
  const hasMethod = state.payout_method_data !== undefined || state.payout_method_id !== undefined;
  if (!hasMethod) {
    // With a link the customer enters the method, so confirming without one is valid.
    if (isConfirmed && state.payout_link === undefined) {
      return rejectMissing('payout_method_data is required to confirm a payout');
    }
    return accept({ ...state, status: 'requires_payout_method_data' });
  }
  if (!isConfirmed && !state.auto_fulfill) {
    return accept({ ...state, status: 'requires_confirmation' });
  }
  if (state.payout_type === undefined) {
    return rejectMissing('payout_type is required to confirm a payout');
  }
  if (state.amount === INELIGIBLE_AMOUNT) return accept(moved(state, 'ineligible', nowMs));
  const { client_secret } = state.hidden;
  return accept({
    ...state,
    status: 'requires_fulfillment',
    hidden: state.auto_fulfill
      ? { client_secret, due: { at: isoTime(nowMs + AUTO_FULFILL_MS), what: 'fulfill' } }
      : { client_secret },
  });
}

/** The `payout_type` of a method, by its key in the state; `passthrough` matches any. */
const TYPE_OF_METHOD: Readonly<Record<string, string>> = {
  card: 'card',
  bank: 'bank',
  wallet: 'wallet',
  bank_redirect: 'bank_redirect',
};

function mismatchOf(data: object | undefined, type: string | undefined): string | undefined {
  const [method] = data === undefined ? [] : Object.keys(data);
  const expected = method === undefined ? undefined : TYPE_OF_METHOD[method];
  if (expected === undefined || type === undefined || expected === type) return undefined;
  return `payout_type ${type} does not match payout_method_data.${method}`;
}

function moved(state: PayoutState, to: PayoutStatus, nowMs: number): PayoutState {
  const error = ERRORS[to];
  return {
    ...state,
    status: to,
    ...(error !== undefined && { error_code: `sandbox_${to}`, error_message: error }),
    modified_at: nextModified(state.modified_at, nowMs),
    hidden: { client_secret: state.hidden.client_secret },
  };
}

const ERRORS: Readonly<Partial<Record<PayoutStatus, string>>> = {
  failed: 'The bank rejected the payout',
  ineligible: 'The receiver cannot be paid this way',
  expired: 'The payout was not finished in time',
  reversed: 'The receiving bank sent the money back',
};

/** The key of a method in responses: bank data under `bank`, the rest under its own. */
const RESPONSE_KEYS: Readonly<Record<string, string>> = { bank_transfer: 'bank' };

function maskMethod(data: object): object {
  return Object.fromEntries(
    Object.entries(data).map(([method, fields]: [string, unknown]) => [
      RESPONSE_KEYS[method] ?? method,
      maskDeep(fields),
    ]),
  );
}

/** Wallets nest one level deeper than the others. */
function maskDeep(fields: unknown): unknown {
  return typeof fields === 'object' && fields !== null ? maskFields(fields) : fields;
}

function maskFields(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      SENSITIVE.test(name) && typeof value === 'string' ? mask(value) : maskDeep(value),
    ]),
  );
}

const SENSITIVE =
  /number|iban|bic|sort_code|pix_key|emv|dpan|psp_token|tax_id|expiry|psp_customer_id|paypal_id/;

/** Masks all but the last four characters, and short values completely. */
function mask(value: string): string {
  // Characters, not code units: half of a surrogate pair cannot be stored.
  const characters = [...value];
  const shown = characters.length > 8 ? characters.slice(-4) : [];
  return '*'.repeat(Math.min(characters.length - shown.length, 16)) + shown.join('');
}

type Action = 'update' | 'confirm' | 'fulfill' | 'cancel';

function rejectAction(action: Action, { payout_id: id, status }: PayoutState): Decision<never> {
  const message = `You cannot ${action} payout ${id} because it has status ${status}`;
  return action === 'confirm'
    ? rejectState(400, 'IR_16', message)
    : rejectState(422, 'IR_06', message);
}
