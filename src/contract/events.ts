/**
 * Webhook events: their types and the types of their content. The receiver parses the envelope,
 * because it starts from arbitrary bytes.
 *
 * The contract names one event type and one content type and leaves the others open; the rest are
 * the family's. Both sets grow, so these tables only help to interpret an event: an unlisted event
 * is just as valid. service-interface.md §6.
 */
import type { ResourceKind } from './resources/index.ts';
import type { DisputeStatus, PaymentStatus, PayoutStatus, RefundStatus } from './statuses.ts';

/**
 * The kind of resource of each `content.type`; undefined for resources that move no money.
 * service-interface.md §6.4.
 */
export const CONTENT_TYPES = {
  payment_details: 'payment',
  refund_details: 'refund',
  dispute_details: 'dispute',
  payout_details: 'payout',
  mandate_details: undefined,
  subscription_details: undefined,
} as const satisfies Record<string, ResourceKind | undefined>;
/** Known event types. service-interface.md §6.4. */
export const EVENT_TYPES = [
  'payment_succeeded',
  'payment_failed',
  'payment_processing',
  'payment_cancelled',
  'payment_cancelled_post_capture',
  'payment_authorized',
  'payment_partially_authorized',
  'payment_captured',
  'payment_expired',
  'action_required',
  'refund_succeeded',
  'refund_failed',
  'dispute_opened',
  'dispute_expired',
  'dispute_accepted',
  'dispute_cancelled',
  'dispute_challenged',
  'dispute_won',
  'dispute_lost',
  'mandate_active',
  'mandate_revoked',
  'payout_success',
  'payout_failed',
  'payout_initiated',
  'payout_processing',
  'payout_cancelled',
  'payout_expired',
  'payout_reversed',
  'invoice_paid',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The kind of resource that an event type reports, and the statuses that send it. */
export type EventReport =
  | { readonly kind: 'payment'; readonly statuses: readonly PaymentStatus[] }
  | { readonly kind: 'refund'; readonly statuses: readonly RefundStatus[] }
  | { readonly kind: 'dispute'; readonly statuses: readonly DisputeStatus[] }
  | { readonly kind: 'payout'; readonly statuses: readonly PayoutStatus[] }
  | { readonly kind: undefined; readonly statuses: readonly [] };

/**
 * What each event type reports, in the statuses of statuses.ts. Several statuses share some types,
 * so the status of a resource comes from the snapshot; this table explains or checks it. The list
 * is empty where no status is known to send the type. service-interface.md §6.4.
 */
export const EVENT_REPORTS = {
  payment_succeeded: { kind: 'payment', statuses: ['succeeded'] },
  payment_failed: { kind: 'payment', statuses: ['failed'] },
  payment_processing: {
    kind: 'payment',
    statuses: ['processing', 'partially_captured_and_processing'],
  },
  payment_cancelled: { kind: 'payment', statuses: ['cancelled'] },
  payment_cancelled_post_capture: { kind: 'payment', statuses: ['cancelled_post_capture'] },
  payment_authorized: { kind: 'payment', statuses: ['requires_capture'] },
  payment_partially_authorized: {
    kind: 'payment',
    statuses: ['partially_authorized_and_requires_capture'],
  },
  // A full capture ends in `succeeded`, so this type reports partial captures only.
  payment_captured: {
    kind: 'payment',
    statuses: ['partially_captured', 'partially_captured_and_capturable'],
  },
  payment_expired: { kind: 'payment', statuses: ['expired'] },
  action_required: {
    kind: 'payment',
    statuses: [
      'requires_action',
      'requires_customer_action',
      'requires_redirection',
      'requires_merchant_action',
      'conflicted',
      'review',
    ],
  },
  refund_succeeded: { kind: 'refund', statuses: ['succeeded'] },
  refund_failed: { kind: 'refund', statuses: ['failed'] },
  dispute_opened: { kind: 'dispute', statuses: ['opened'] },
  dispute_expired: { kind: 'dispute', statuses: ['expired'] },
  dispute_accepted: { kind: 'dispute', statuses: ['accepted'] },
  dispute_cancelled: { kind: 'dispute', statuses: ['cancelled'] },
  dispute_challenged: { kind: 'dispute', statuses: ['challenged'] },
  dispute_won: { kind: 'dispute', statuses: ['won'] },
  dispute_lost: { kind: 'dispute', statuses: ['lost'] },
  mandate_active: { kind: undefined, statuses: [] },
  mandate_revoked: { kind: undefined, statuses: [] },
  payout_success: { kind: 'payout', statuses: ['success'] },
  // The family sends no event for `ineligible`; by the contract every change of a payout does.
  payout_failed: { kind: 'payout', statuses: ['failed', 'ineligible'] },
  payout_initiated: { kind: 'payout', statuses: ['initiated'] },
  payout_processing: { kind: 'payout', statuses: [] },
  payout_cancelled: { kind: 'payout', statuses: ['cancelled'] },
  payout_expired: { kind: 'payout', statuses: ['expired'] },
  payout_reversed: { kind: 'payout', statuses: ['reversed'] },
  invoice_paid: { kind: undefined, statuses: [] },
} as const satisfies Record<EventType, EventReport>;

/**
 * Families of events about resources that move no money themselves: the payments of a subscription
 * or an invoice have events of their own. These sets of types grow too.
 */
const MONEYLESS_FAMILY = /^(mandate|subscription|invoice)(_|$)/;

/**
 * The kind of resource that a label (`content.type` or `event_type`) names, or `none` for a
 * resource that moves no money. Undefined for an unknown label.
 */
export function labeledKind(label: string): ResourceKind | 'none' | undefined {
  if (MONEYLESS_FAMILY.test(label)) return 'none';
  if (isIn(CONTENT_TYPES, label)) return CONTENT_TYPES[label] ?? 'none';
  return isIn(EVENT_REPORTS, label) ? EVENT_REPORTS[label].kind : undefined;
}

function isIn<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}
