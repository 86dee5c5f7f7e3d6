/**
 * The lifecycle of a payment. service-interface.md §3; where it is silent,
 * docs/decisions/0042-sandbox-where-silent.md decides.
 *
 *   requires_payment_method ─▶ requires_confirmation ─▶ (attempt)
 *   (attempt) ─▶ succeeded | requires_capture | failed | requires_action | processing
 *                | requires_merchant_action
 *   requires_capture ─▶ succeeded | partially_captured | partially_captured_and_capturable | expired
 *   failed ─▶ (attempt), unless it was rejected
 *   any status that is not final ─▶ cancelled
 *
 * 1. Functions are pure: (state, command, now) → new state or rejection. Random values are parameters.
 * 2. amount_received + amount_capturable never exceeds net_amount, which is amount where there is no
 *    surcharge.
 * 3. A change makes `modified_at` later; a rejection changes nothing.
 * 4. `amount_received` never falls: refunds and disputes are resources of their own.
 *
 * Written from the contract alone and independent of the ledger's rules, so that one mistake cannot
 * hide in both.
 */
import {
  type CaptureMethod,
  DECLINE_CODES,
  isCapturable,
  LEGACY_DECLINE_CODES,
  MANUAL_AUTHORIZATION_VALIDITY_MS,
  missingToConfirm,
  type PaymentStatus,
  STATEMENT_DESCRIPTOR_MAX_LENGTH,
} from '../../contract/index.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { accept, type Decision, rejectMissing, rejectState, rejectValue } from './decision.ts';
import {
  amountOutcome,
  cardBrand,
  cardOutcome,
  type FinalOutcome,
  type Outcome,
  type UnifiedCode,
} from './outcomes.ts';
import { isoTime, nextModified } from './time.ts';

/** A payment as stored. Everything but `hidden` may be shown; undefined fields are left out. */
export interface PaymentState {
  readonly payment_id: string;
  readonly merchant_id: string;
  readonly profile_id: string;
  readonly status: PaymentStatus;
  readonly amount: number;
  /** What the customer pays: `amount` and a surcharge. Only of payments that have a surcharge. */
  readonly net_amount?: number | undefined;
  readonly amount_received: number;
  readonly amount_capturable: number;
  readonly currency: string;
  readonly capture_method: CaptureMethod;
  readonly authentication_type?: string | undefined;
  readonly payment_method?: string | undefined;
  readonly payment_method_type?: string | undefined;
  readonly payment_method_data?: { readonly card: ShownCard } | undefined;
  readonly billing?: object | undefined;
  readonly customer_id?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
  readonly description?: string | undefined;
  readonly statement_descriptor?: string | undefined;
  readonly metadata?: object | undefined;
  readonly order_details?: readonly object[] | undefined;
  readonly return_url?: string | undefined;
  readonly created: string;
  readonly modified_at: string;
  readonly captured_at?: string | undefined;
  readonly cancelled_at?: string | undefined;
  readonly cancellation_reason?: string | undefined;
  readonly capture_before?: string | undefined;
  readonly next_action?: { readonly type: string; readonly redirect_to_url: string } | undefined;
  readonly unified_code?: string | undefined;
  readonly unified_message?: string | undefined;
  readonly error_code?: string | undefined;
  readonly error_message?: string | undefined;
  readonly error_details?: object | undefined;
  readonly merchant_decision?: 'approved' | 'rejected' | undefined;
  readonly manual_retry_allowed?: boolean | undefined;
  readonly attempt_count: number;
  readonly hidden: HiddenPayment;
}

interface ShownCard {
  readonly last4: string;
  readonly brand: string;
  readonly exp_month: string;
  readonly exp_year: string;
}

/** Internal state that no response shows. */
export interface HiddenPayment {
  readonly client_secret: string;
  /** The next timer. */
  readonly due?: { readonly at: string; readonly what: PaymentDue } | undefined;
  /** The outcome after the customer, the processor or a reviewer has acted. */
  readonly afterwards?: FinalOutcome | undefined;
  /** `billing` is the customer's default, not one that was sent, so it changes with the customer. */
  readonly billing_is_default?: boolean | undefined;
  /** How the processor treats an authorization of this payment. */
  readonly processor?: Processor | undefined;
  /** Details for the next attempt: a card's outcome, never its number. */
  readonly details?: { readonly outcome: Outcome | undefined } | undefined;
}

/** Habits of a processor; without them, it authorizes everything, and what it authorized ends `expired`. */
export interface Processor {
  /** The percentage of a manual payment that it authorizes. */
  readonly authorizedPercent?: number | undefined;
  /** It reports an authorization that was not captured in time as `cancelled`. */
  readonly cancelsLapsed?: boolean | undefined;
}

export type PaymentDue = 'expire_authorization' | 'finish_processing' | 'abandon_action';

/** `payment_method_data` of a request. */
export interface MethodData {
  readonly card?:
    | {
        readonly card_number: string;
        readonly card_exp_month: string;
        readonly card_exp_year: string;
        readonly card_cvc: string;
      }
    | undefined;
  readonly crypto?: object | undefined;
}

/** The fields of Create Payment that the rules read or store. */
export interface PaymentInput {
  readonly amount: number;
  readonly currency: string;
  readonly profile_id: string;
  readonly confirm?: boolean | undefined;
  readonly capture_method?: CaptureMethod | undefined;
  readonly authentication_type?: string | undefined;
  readonly payment_method?: string | undefined;
  readonly payment_method_type?: string | undefined;
  readonly payment_method_data?: MethodData | undefined;
  readonly billing?: object | undefined;
  readonly customer_id?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly phone_country_code?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: object | undefined;
  readonly order_details?: readonly object[] | undefined;
  readonly return_url?: string | undefined;
}

/** What a rule needs besides state and request. */
export interface PaymentContext {
  readonly nowMs: number;
  /** Where the customer goes for 3-D Secure, a wallet or a bank. */
  readonly hostedPageUrl: string;
  /** The processor responds `processing` first and decides after this time. */
  readonly decidesAfterMs?: number | undefined;
}

export interface NewPayment extends PaymentContext {
  /** The default billing of the payment's customer, if there is one. */
  readonly defaultBilling?: object | undefined;
  readonly paymentId: string;
  readonly merchantId: string;
  readonly clientSecret: string;
  /** Percent of the amount that the customer pays on top of it. */
  readonly surchargePercent?: number | undefined;
  readonly processor?: Processor | undefined;
}

/** A payment that is `processing` is decided after this time. */
const PROCESSING_MS = 5 * MINUTE_MS;
/** Length of a session at services of this family; after it the customer can no longer act. */
const SESSION_MS = 15 * MINUTE_MS;

/** Create Payment. service-interface.md §4.3.1. */
export function createPayment(input: PaymentInput, created: NewPayment): Decision<PaymentState> {
  const at = isoTime(created.nowMs);
  const { defaultBilling } = created;
  const blank: PaymentState = {
    payment_id: created.paymentId,
    merchant_id: created.merchantId,
    profile_id: input.profile_id,
    status: 'requires_payment_method',
    amount: input.amount,
    net_amount: netAmount(input.amount, created.surchargePercent),
    amount_received: 0,
    amount_capturable: 0,
    currency: input.currency,
    capture_method: input.capture_method ?? 'automatic',
    authentication_type: input.authentication_type,
    customer_id: input.customer_id,
    email: input.email,
    name: input.name,
    phone: input.phone,
    phone_country_code: input.phone_country_code,
    description: input.description,
    metadata: input.metadata,
    order_details: input.order_details,
    return_url: input.return_url,
    billing: defaultBilling,
    created: at,
    modified_at: at,
    attempt_count: 0,
    hidden: {
      client_secret: created.clientSecret,
      processor: created.processor,
      billing_is_default: defaultBilling === undefined ? undefined : true,
    },
  };
  const attached = attachMethod(blank, input, created.nowMs);
  if (attached.rejection || input.confirm !== true) return attached;
  return attempt(attached.value, created);
}

/** Undefined without a surcharge; a surcharge is one minor unit at least. */
function netAmount(amount: number, surchargePercent: number | undefined): number | undefined {
  if (surchargePercent === undefined) return undefined;
  return amount + Math.max(1, Math.round((amount * surchargePercent) / 100));
}

/** What the customer pays, and what is authorized and captured. */
function dueAmount({ amount, net_amount: net = amount }: PaymentState): number {
  return net;
}

/** The fields of Confirm Payment that the rules read or store. */
export type ConfirmInput = Pick<
  PaymentInput,
  'payment_method' | 'payment_method_type' | 'payment_method_data' | 'billing' | 'return_url'
>;

/**
 * Confirm Payment. A failed payment may be confirmed again under its id, as services of this family
 * allow: the next attempt. service-interface.md §4.3.3.
 */
export function confirmPayment(
  state: PaymentState,
  input: ConfirmInput,
  context: PaymentContext,
): Decision<PaymentState> {
  const isRetry = state.status === 'failed' && state.manual_retry_allowed === true;
  if (!isRetry && !UNCONFIRMED.has(state.status)) return rejectAction('confirm', state);
  const attached = attachMethod(state, input, context.nowMs);
  return attached.rejection ? attached : attempt(attached.value, context);
}

const UNCONFIRMED = new Set<string>(['requires_payment_method', 'requires_confirmation']);

/** The fields of Update Payment. service-interface.md §4.3.2. */
export interface PaymentUpdate {
  readonly amount?: number | undefined;
  readonly currency?: string | undefined;
  readonly description?: string | undefined;
  readonly metadata?: object | undefined;
  readonly customer_id?: string | undefined;
}

/**
 * Update Payment, before it is confirmed.
 * @param defaultBilling of the customer that the update names, if it names one with an address
 */
export function updatePayment(
  state: PaymentState,
  update: PaymentUpdate,
  nowMs: number,
  defaultBilling?: object,
): Decision<PaymentState> {
  if (!UNCONFIRMED.has(state.status)) return rejectAction('update', state);
  const mayDefault = state.billing === undefined || state.hidden.billing_is_default === true;
  const takesOver = update.customer_id !== undefined && mayDefault;
  return accept(
    changed(state, nowMs, {
      billing: takesOver ? defaultBilling : state.billing,
      hidden: { ...state.hidden, billing_is_default: takesOver || state.hidden.billing_is_default },
      amount: update.amount ?? state.amount,
      net_amount:
        state.net_amount && state.net_amount - state.amount + (update.amount ?? state.amount),
      currency: update.currency ?? state.currency,
      description: update.description ?? state.description,
      metadata: update.metadata ?? state.metadata,
      customer_id: update.customer_id ?? state.customer_id,
    }),
  );
}

/** The fields of Capture Payment. service-interface.md §4.3.6. */
export interface CaptureInput {
  readonly amount_to_capture?: number | undefined;
  readonly statement_descriptor_prefix?: string | undefined;
  readonly statement_descriptor_suffix?: string | undefined;
}

export interface CaptureContext {
  readonly nowMs: number;
  /** A payment of which more can be captured stays `requires_capture`. */
  readonly staysRequired?: boolean | undefined;
}

/**
 * Capture Payment. `manual` captures once and releases the rest. `manual_multiple` captures until
 * nothing is left.
 */
export function capturePayment(
  state: PaymentState,
  input: CaptureInput,
  { nowMs, staysRequired = false }: CaptureContext,
): Decision<PaymentState> {
  if (!isCapturable(state.status)) return rejectCapture(state);
  const amountMinor = input.amount_to_capture ?? state.amount_capturable;
  if (amountMinor > state.amount_capturable) {
    return rejectValue(
      `amount_to_capture ${amountMinor} is greater than amount_capturable ${state.amount_capturable}`,
    );
  }
  const descriptor = descriptorOf(input);
  if (descriptor.length > STATEMENT_DESCRIPTOR_MAX_LENGTH) {
    return rejectValue(
      `statement_descriptor_prefix and statement_descriptor_suffix have ${descriptor.length} ` +
        `characters together; ${STATEMENT_DESCRIPTOR_MAX_LENGTH} are allowed`,
    );
  }
  const received = state.amount_received + amountMinor;
  const isFull = received === dueAmount(state);
  const leftMinor = state.amount_capturable - amountMinor;
  const goesOn = leftMinor > 0 && state.capture_method === 'manual_multiple';
  const ongoing = staysRequired ? 'requires_capture' : 'partially_captured_and_capturable';
  const ended = isFull ? 'succeeded' : 'partially_captured';
  return accept(
    changed(state, nowMs, {
      status: goesOn ? ongoing : ended,
      amount_received: received,
      amount_capturable: goesOn ? leftMinor : 0,
      captured_at: isoTime(nowMs),
      statement_descriptor: descriptor === '' ? state.statement_descriptor : descriptor,
      hidden: goesOn ? state.hidden : withoutDue(state),
    }),
  );
}

/** Fully captured or cancelled: the contract has 409 rather than 400. */
const CAPTURE_CONFLICTS = new Set<string>(['succeeded', 'partially_captured', 'cancelled']);

function rejectCapture(state: PaymentState): Decision<never> {
  return rejectState(
    CAPTURE_CONFLICTS.has(state.status) ? 409 : 400,
    'IR_14',
    `This payment cannot be captured because it has status ${state.status}`,
  );
}

function descriptorOf(input: CaptureInput): string {
  return (input.statement_descriptor_prefix ?? '') + (input.statement_descriptor_suffix ?? '');
}

/**
 * Cancel Payment: from any state that is not yet fully captured. What was captured before stays
 * received; the rest is released. service-interface.md §3.2.
 */
export function cancelPayment(
  state: PaymentState,
  reason: string | undefined,
  nowMs: number,
): Decision<PaymentState> {
  if (NOT_CANCELLABLE.has(state.status)) return rejectAction('cancel', state);
  return accept(
    changed(state, nowMs, {
      status: 'cancelled',
      amount_capturable: 0,
      cancelled_at: isoTime(nowMs),
      cancellation_reason: reason,
      next_action: undefined,
      hidden: withoutDue(state),
    }),
  );
}

/** The statuses of the contract, and final ones that hold nothing to release. */
const NOT_CANCELLABLE = new Set<string>([
  'succeeded',
  'cancelled',
  'failed',
  'expired',
  'partially_captured',
]);

/** Approve Payment. service-interface.md §4.3.8. */
export function approvePayment(state: PaymentState, nowMs: number): Decision<PaymentState> {
  if (state.status !== 'requires_merchant_action') return rejectAction('approve', state);
  return accept(finish({ ...state, merchant_decision: 'approved' }, afterwardsOf(state), nowMs));
}

/**
 * Reject Payment. The contract leaves the outcome open; at services of this family it is `failed`.
 */
export function rejectPayment(state: PaymentState, nowMs: number): Decision<PaymentState> {
  if (state.status !== 'requires_merchant_action') return rejectAction('reject', state);
  const rejected = { ...state, merchant_decision: 'rejected' } as const;
  // Another attempt under this id would bypass the merchant's decision.
  return accept({ ...decline(rejected, 'UE_2003', nowMs), manual_retry_allowed: false });
}

/** What the customer can do on the hosted page. */
export const CUSTOMER_ACTIONS = ['complete', 'fail', 'abandon'] as const;
export type CustomerAction = (typeof CUSTOMER_ACTIONS)[number];

/** The customer ends the action that the payment waits for. */
export function endAction(
  state: PaymentState,
  action: CustomerAction,
  nowMs: number,
): Decision<PaymentState> {
  if (state.status !== 'requires_action') return rejectAction('end the action of', state);
  const ready = { ...state, next_action: undefined };
  if (action === 'fail') return accept(decline(ready, 'UE_5001', nowMs));
  if (action === 'abandon') return accept(decline(ready, 'UE_5003', nowMs));
  // The blockchain must still confirm a crypto payment.
  if (state.payment_method === 'crypto')
    return accept(beginProcessing(ready, afterwardsOf(state), { nowMs }));
  return accept(finish(ready, afterwardsOf(state), nowMs));
}

/** The authorization expires before its time, as when the issuer withdraws it. */
export function lapseAuthorization(state: PaymentState, nowMs: number): Decision<PaymentState> {
  if (state.hidden.due?.what !== 'expire_authorization') return rejectAction('lapse', state);
  return accept(runPaymentDue(state, nowMs));
}

/** Runs the timer in `hidden.due`, at or after its time. */
export function runPaymentDue(state: PaymentState, nowMs: number): PaymentState {
  switch (state.hidden.due?.what) {
    case undefined:
      return state;
    case 'expire_authorization':
      // What was captured before stays received.
      return changed(state, nowMs, {
        status: state.hidden.processor?.cancelsLapsed ? 'cancelled' : 'expired',
        amount_capturable: 0,
        hidden: withoutDue(state),
      });
    case 'finish_processing':
      return finish(state, afterwardsOf(state), nowMs);
    case 'abandon_action':
      return decline({ ...state, next_action: undefined }, 'UE_5003', nowMs);
  }
}

/**
 * Stores the payment method of a request, if it has one. Details require billing, unless the customer
 * has a default address; only here is it known whether there is one.
 */
function attachMethod(
  state: PaymentState,
  input: ConfirmInput,
  nowMs: number,
): Decision<PaymentState> {
  const { payment_method_data: data } = input;
  const kind = kindOf(data);
  const method = input.payment_method ?? kind ?? state.payment_method;
  if (kind !== undefined && kind !== method) {
    return rejectValue(`payment_method ${method} does not match payment_method_data.${kind}`);
  }
  if (kind !== undefined && isBillingMissing(state, input))
    return rejectMissing(BILLING_IS_MISSING);
  const details = kind && { outcome: data?.card && outcomeOfCard(data.card, nowMs) };
  const kept = method === state.payment_method ? state : withoutDetails(state);
  return accept({
    ...kept,
    status: method === undefined ? state.status : 'requires_confirmation',
    payment_method: method,
    payment_method_type: input.payment_method_type ?? kept.payment_method_type,
    payment_method_data: data?.card ? { card: shownCard(data.card) } : kept.payment_method_data,
    billing: input.billing ?? state.billing,
    return_url: input.return_url ?? state.return_url,
    hidden: {
      ...state.hidden,
      details: details ?? kept.hidden.details,
      billing_is_default: input.billing ? undefined : state.hidden.billing_is_default,
    },
  });
}

/** Another method is not decided by the card that was sent before, and does not show it. */
function withoutDetails(state: PaymentState): PaymentState {
  return {
    ...state,
    payment_method_type: undefined,
    payment_method_data: undefined,
    hidden: { ...state.hidden, details: undefined },
  };
}

function kindOf(data: MethodData | undefined): 'card' | 'crypto' | undefined {
  if (data?.card) return 'card';
  return data?.crypto && 'crypto';
}

function isBillingMissing({ hidden }: PaymentState, { billing }: ConfirmInput): boolean {
  return billing === undefined && hidden.billing_is_default !== true;
}

const BILLING_IS_MISSING =
  'billing: required on the request that sends payment_method_data, unless the customer has an address';

type Card = NonNullable<MethodData['card']>;

function shownCard(card: Card): ShownCard {
  const digits = card.card_number.replace(/\D/g, '');
  return {
    last4: digits.slice(-4),
    brand: cardBrand(digits),
    exp_month: card.card_exp_month,
    exp_year: card.card_exp_year,
  };
}

function outcomeOfCard(card: Card, nowMs: number): Outcome | undefined {
  return cardOutcome(
    {
      number: card.card_number,
      expMonth: card.card_exp_month,
      expYear: card.card_exp_year,
      cvc: card.card_cvc,
    },
    nowMs,
  );
}

/**
 * The processor's decision about the attempt. The current amount counts, after any update. Without
 * card details the customer is redirected first: to a wallet, a bank, or a hosted page.
 */
function outcomeOf(state: PaymentState): Outcome {
  const { details } = state.hidden;
  const outcome = details?.outcome ?? amountOutcome(state.amount);
  const isCard = details !== undefined && state.payment_method === 'card';
  if (isCard && state.authentication_type !== 'three_ds') return outcome;
  if (isCard && outcome.kind === 'customer_action') return outcome;
  const afterwards = 'afterwards' in outcome ? outcome.afterwards : outcome;
  return { kind: 'customer_action', afterwards };
}

/** Sends a payment with its method to the processor. */
function attempt(state: PaymentState, context: PaymentContext): Decision<PaymentState> {
  const { details } = state.hidden;
  const [missing] = missingToConfirm({
    ...state,
    customer_id: undefined,
    payment_method_data: details,
  });
  if (missing) return rejectMissing(`${missing.field}: ${missing.why}`);
  const outcome = outcomeOf(state);
  const isAuthentication = state.payment_method === 'card' && outcome.kind === 'customer_action';
  if (isAuthentication && state.return_url === undefined) {
    return rejectMissing('return_url: required because this card requires 3-D Secure');
  }
  const { nowMs } = context;
  const tried: PaymentState = {
    ...state,
    attempt_count: state.attempt_count + 1,
    unified_code: undefined,
    unified_message: undefined,
    error_code: undefined,
    error_message: undefined,
    error_details: undefined,
    manual_retry_allowed: undefined,
    hidden: withoutDue(state),
  };
  switch (outcome.kind) {
    case 'approved':
    case 'declined':
      return accept(
        context.decidesAfterMs === undefined
          ? finish(tried, outcome, nowMs)
          : beginProcessing(tried, outcome, { nowMs, afterMs: context.decidesAfterMs }),
      );
    case 'processing':
      return accept(beginProcessing(tried, outcome.afterwards, { nowMs }));
    case 'customer_action':
      return accept(
        changed(tried, nowMs, {
          status: 'requires_action',
          next_action: { type: 'redirect_to_url', redirect_to_url: context.hostedPageUrl },
          hidden: waiting(tried, outcome.afterwards, 'abandon_action', nowMs + SESSION_MS),
        }),
      );
    case 'review':
      return accept(
        changed(tried, nowMs, {
          status: 'requires_merchant_action',
          hidden: { ...withoutDue(tried), afterwards: outcome.afterwards },
        }),
      );
  }
}

function beginProcessing(
  state: PaymentState,
  afterwards: FinalOutcome,
  { nowMs, afterMs = PROCESSING_MS }: { readonly nowMs: number; readonly afterMs?: number },
): PaymentState {
  return changed(state, nowMs, {
    status: 'processing',
    hidden: waiting(state, afterwards, 'finish_processing', nowMs + afterMs),
  });
}

/** Applies the processor's final decision. */
function finish(state: PaymentState, outcome: FinalOutcome, nowMs: number): PaymentState {
  if (outcome.kind === 'declined') return decline(state, outcome.code, nowMs);
  if (state.capture_method === 'automatic') {
    return changed(state, nowMs, {
      status: 'succeeded',
      amount_received: dueAmount(state),
      amount_capturable: 0,
      captured_at: isoTime(nowMs),
      hidden: withoutDue(state),
    });
  }
  const expiresAtMs = nowMs + MANUAL_AUTHORIZATION_VALIDITY_MS;
  const authorizedMinor = authorizedAmount(state);
  const isPart = authorizedMinor < dueAmount(state);
  return changed(state, nowMs, {
    status: isPart ? 'partially_authorized_and_requires_capture' : 'requires_capture',
    amount_capturable: authorizedMinor,
    capture_before: isoTime(expiresAtMs),
    hidden: {
      ...withoutDue(state),
      due: { at: isoTime(expiresAtMs), what: 'expire_authorization' },
    },
  });
}

/** At least one minor unit. */
function authorizedAmount(state: PaymentState): number {
  const { authorizedPercent = 100 } = state.hidden.processor ?? {};
  return Math.ceil((dueAmount(state) * authorizedPercent) / 100);
}

function decline(state: PaymentState, code: UnifiedCode, nowMs: number): PaymentState {
  const { family, message } = declineTextOf(code);
  const acquirerCode = `sandbox_${code.slice(3)}`;
  return changed(state, nowMs, {
    status: 'failed',
    unified_code: code,
    unified_message: message,
    error_code: acquirerCode,
    error_message: `Test decline ${code.slice(3)}`,
    error_details: {
      unified_details: { category: family, message },
      issuer_details: {
        code: code.slice(4),
        message,
        network_details: { name: state.payment_method_data?.card.brand ?? 'Unknown' },
      },
      connector_details: { code: acquirerCode, message, reason: 'chosen by test card or amount' },
    },
    manual_retry_allowed: true,
    hidden: withoutDue(state),
  });
}

function declineTextOf(code: UnifiedCode): { readonly family: string; readonly message: string } {
  if (code in DECLINE_CODES) return DECLINE_CODES[code as keyof typeof DECLINE_CODES];
  const { family, meaning } = LEGACY_DECLINE_CODES[code as keyof typeof LEGACY_DECLINE_CODES];
  return { family, message: meaning };
}

function afterwardsOf(state: PaymentState): FinalOutcome {
  return state.hidden.afterwards ?? { kind: 'approved' };
}

function waiting(
  state: PaymentState,
  afterwards: FinalOutcome,
  what: PaymentDue,
  atMs: number,
): HiddenPayment {
  return { ...state.hidden, afterwards, due: { at: isoTime(atMs), what } };
}

/** What stays of the hidden state once an attempt begins or ends. The next one may need the address. */
function withoutDue({ hidden }: PaymentState): HiddenPayment {
  const { client_secret, billing_is_default, processor } = hidden;
  return { client_secret, billing_is_default, processor };
}

function changed(state: PaymentState, nowMs: number, changes: Partial<PaymentState>): PaymentState {
  return { ...state, ...changes, modified_at: nextModified(state.modified_at, nowMs) };
}

function rejectAction(action: string, state: PaymentState): Decision<never> {
  const message = `You cannot ${action} this payment because it has status ${state.status}`;
  return rejectState(400, 'IR_16', message);
}
