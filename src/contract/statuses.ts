/**
 * Statuses of the four resources, as the service spells them. service-interface.md §3; the statuses
 * that it leaves open are the family's.
 *
 * Each list follows the usual lifecycle. An unlisted status is legal: readers keep it and retrieve
 * the resource again.
 */
import type { ResourceKind } from './resources/index.ts';

export const PAYMENT_STATUSES = [
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
  'requires_customer_action',
  'requires_redirection',
  'requires_merchant_action',
  'processing',
  'requires_capture',
  'partially_authorized_and_requires_capture',
  'partially_captured_and_processing',
  'partially_captured_and_capturable',
  'conflicted',
  'review',
  'failed',
  'cancelled',
  'expired',
  'partially_captured',
  'succeeded',
  'cancelled_post_capture',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Authorized payments that can be captured. service-interface.md §3.2. */
export const CAPTURABLE_STATUSES = [
  'requires_capture',
  'partially_authorized_and_requires_capture',
  'partially_captured_and_capturable',
] as const satisfies readonly PaymentStatus[];

/** Whether `status` is one of CAPTURABLE_STATUSES; an unknown status is not. */
export function isCapturable(status: string | null | undefined): boolean {
  return CAPTURABLE_STATUSES.some((capturable) => capturable === status);
}

/**
 * What a payment's status implies about captured money.
 * - `none`: nothing is captured in this step, and `amount_received` does not count yet.
 * - `captured`: `amount_received` is the captured amount.
 * - `kept`: the payment ends without another capture and keeps what was captured before.
 * - `failed`: the payment failed and nothing of it is captured, regardless of earlier bodies.
 */
export type CaptureClaim = 'none' | 'captured' | 'kept' | 'failed';

/**
 * Services of this family send `amount_received` before anything is captured, so the status decides
 * whether it counts. service-interface.md §3.1 and §3.2; docs/decisions/0019-captured-money.md.
 */
export const CAPTURE_CLAIMS: Readonly<Record<PaymentStatus, CaptureClaim>> = {
  requires_payment_method: 'none',
  requires_confirmation: 'none',
  requires_action: 'none',
  requires_customer_action: 'none',
  requires_redirection: 'none',
  requires_merchant_action: 'none',
  processing: 'none',
  requires_capture: 'none',
  partially_authorized_and_requires_capture: 'none',
  partially_captured_and_processing: 'captured',
  partially_captured_and_capturable: 'captured',
  // The amounts of the processor and the service differ, or a capture is under review: undecided.
  conflicted: 'none',
  review: 'none',
  failed: 'failed',
  cancelled: 'kept',
  expired: 'kept',
  partially_captured: 'captured',
  succeeded: 'captured',
  // The whole capture is voided.
  cancelled_post_capture: 'captured',
};

/** What `status` implies about captured money; nothing for an unknown status. */
export function captureClaim(status: string | null | undefined): CaptureClaim {
  return status !== null && status !== undefined && isKnownStatus('payment', status)
    ? CAPTURE_CLAIMS[status as PaymentStatus]
    : 'none';
}

/**
 * Whether `amount_received` matches the captured amount that is known. A void reverses the whole
 * capture, and its body may report only what is left of it.
 * @param known the known status and captured amount
 */
export function isSameCapture(
  receivedMinor: number,
  known: { readonly status?: string | null | undefined; readonly capturedMinor: number },
): boolean {
  const { status, capturedMinor } = known;
  if (status === 'cancelled_post_capture') return receivedMinor <= capturedMinor;
  return receivedMinor === capturedMinor;
}

export const REFUND_STATUSES = ['pending', 'review', 'succeeded', 'failed'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const DISPUTE_STATUSES = [
  'opened',
  'challenged',
  'expired',
  'accepted',
  'cancelled',
  'lost',
  'won',
] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** In the only order in which a dispute can advance. */
export const DISPUTE_STAGES = [
  'pre_dispute',
  'dispute',
  'pre_arbitration',
  'arbitration',
  'dispute_reversal',
] as const;
export type DisputeStage = (typeof DISPUTE_STAGES)[number];

/** Whether a dispute begins at this stage: as an inquiry, or as a dispute, which one without a stage is. */
export function isFirstStage(stage: string | undefined): boolean {
  return stage === undefined || stage === 'pre_dispute' || stage === 'dispute';
}

export const PAYOUT_STATUSES = [
  'requires_creation',
  'requires_payout_method_data',
  'requires_confirmation',
  'requires_vendor_account_creation',
  'requires_fulfillment',
  'initiated',
  'pending',
  'ineligible',
  'success',
  'cancelled',
  'expired',
  'failed',
  'reversed',
] as const;
export type PayoutStatus = (typeof PAYOUT_STATUSES)[number];

/** Every known status of each kind. */
export const STATUSES = {
  payment: PAYMENT_STATUSES,
  refund: REFUND_STATUSES,
  dispute: DISPUTE_STATUSES,
  payout: PAYOUT_STATUSES,
} as const satisfies Record<ResourceKind, readonly string[]>;

/** Statuses after which the service itself does nothing more; a late reversal stays possible. */
export const FINAL_STATUSES: Readonly<Record<ResourceKind, ReadonlySet<string>>> = {
  payment: new Set<PaymentStatus>([
    'failed',
    'cancelled',
    'expired',
    'partially_captured',
    'succeeded',
    'cancelled_post_capture',
  ]),
  refund: new Set<RefundStatus>(['succeeded', 'failed']),
  dispute: new Set<DisputeStatus>(['expired', 'accepted', 'cancelled', 'lost', 'won']),
  payout: new Set<PayoutStatus>([
    'ineligible',
    'success',
    'cancelled',
    'expired',
    'failed',
    'reversed',
  ]),
};

/** Other spellings of a status within the family, including older ones. */
const ALIASES: Readonly<Record<ResourceKind, ReadonlyMap<string, string>>> = {
  payment: new Map(),
  refund: new Map([
    ['success', 'succeeded'],
    ['failure', 'failed'],
    ['transaction_failure', 'failed'],
    ['manual_review', 'review'],
  ]),
  // `submitted` is the response to evidence; from then on the dispute is challenged.
  dispute: new Map([['submitted', 'challenged']]),
  payout: new Map(),
};

/**
 * Normalizes a status: resolves aliases and, for disputes, removes the prefix `dispute_`. An
 * unknown status is returned as it is.
 */
export function normalizeStatus(kind: ResourceKind, status: string): string {
  const word = kind === 'dispute' ? status.replace(/^dispute_/, '') : status;
  return ALIASES[kind].get(word) ?? word;
}

/** Whether `status` is a known status of `kind`. */
export function isKnownStatus(kind: ResourceKind, status: string): boolean {
  return (STATUSES[kind] as readonly string[]).includes(status);
}
