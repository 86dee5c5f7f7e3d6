/**
 * Which statuses can follow which. They are used to check a history, never to reject an observation.
 *
 * Webhooks are lost, and some services send at most one for each object and type, so there may have been
 * further statuses between two adjacent ones: a step is legal if the second is *reachable* from the
 * first. The table lists direct transitions; reachability is their closure. The sandbox has a table of
 * its own on purpose: the tests could not detect a shared mistake.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import type {
  DisputeStatus,
  PaymentStatus,
  PayoutStatus,
  RefundStatus,
} from '../../contract/statuses.ts';

const PAYMENT_MOVES: Record<PaymentStatus, readonly PaymentStatus[]> = {
  requires_payment_method: ['requires_confirmation', 'cancelled', 'failed', 'expired'],
  requires_confirmation: [
    'requires_payment_method',
    'requires_action',
    'requires_customer_action',
    'requires_redirection',
    'requires_merchant_action',
    'processing',
    'cancelled',
    'failed',
  ],
  requires_action: ['processing', 'requires_confirmation', 'cancelled', 'failed', 'expired'],
  requires_customer_action: [
    'processing',
    'requires_confirmation',
    'cancelled',
    'failed',
    'expired',
  ],
  requires_redirection: ['processing', 'requires_confirmation', 'cancelled', 'failed', 'expired'],
  requires_merchant_action: ['processing', 'requires_capture', 'cancelled', 'failed', 'succeeded'],
  processing: [
    'requires_action',
    'requires_customer_action',
    'requires_redirection',
    'requires_merchant_action',
    'requires_capture',
    'partially_authorized_and_requires_capture',
    'conflicted',
    'review',
    'succeeded',
    'failed',
    'cancelled',
    'expired',
  ],
  requires_capture: [
    'processing',
    'partially_captured_and_processing',
    'partially_captured_and_capturable',
    'partially_captured',
    'succeeded',
    'failed',
    'cancelled',
    'expired',
  ],
  partially_authorized_and_requires_capture: ['requires_capture'],
  partially_captured_and_processing: ['partially_captured_and_capturable', 'review', 'failed'],
  partially_captured_and_capturable: [
    'partially_captured_and_processing',
    'partially_captured',
    'succeeded',
    'cancelled',
    'expired',
  ],
  conflicted: ['succeeded', 'failed', 'cancelled', 'partially_captured'],
  review: ['succeeded', 'failed', 'cancelled', 'partially_captured'],
  // The service lets a failed payment be confirmed again under the same id.
  failed: ['requires_payment_method', 'requires_confirmation', 'processing'],
  cancelled: [],
  expired: [],
  partially_captured: ['cancelled_post_capture'],
  succeeded: ['cancelled_post_capture'],
  cancelled_post_capture: [],
};

const REFUND_MOVES: Record<RefundStatus, readonly RefundStatus[]> = {
  pending: ['review', 'succeeded', 'failed'],
  review: ['pending', 'succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
};

const DISPUTE_MOVES: Record<DisputeStatus, readonly DisputeStatus[]> = {
  opened: ['challenged', 'expired', 'accepted', 'cancelled', 'lost', 'won'],
  challenged: ['expired', 'accepted', 'cancelled', 'lost', 'won'],
  expired: [],
  accepted: [],
  cancelled: [],
  lost: [],
  won: [],
};

const PAYOUT_MOVES: Record<PayoutStatus, readonly PayoutStatus[]> = {
  requires_creation: [
    'requires_payout_method_data',
    'requires_confirmation',
    'cancelled',
    'failed',
  ],
  requires_payout_method_data: [
    'requires_confirmation',
    'requires_creation',
    'cancelled',
    'expired',
  ],
  requires_confirmation: [
    'requires_creation',
    'requires_payout_method_data',
    'requires_vendor_account_creation',
    'requires_fulfillment',
    'ineligible',
    'cancelled',
    'failed',
    'expired',
  ],
  requires_vendor_account_creation: ['requires_fulfillment', 'ineligible', 'cancelled', 'failed'],
  requires_fulfillment: ['initiated', 'pending', 'success', 'failed', 'cancelled', 'expired'],
  initiated: ['pending', 'success', 'failed', 'cancelled', 'expired'],
  pending: ['initiated', 'success', 'failed', 'cancelled', 'expired'],
  ineligible: [],
  // Banks return payouts that were reported as paid.
  success: ['reversed', 'failed'],
  cancelled: [],
  expired: [],
  failed: [],
  reversed: [],
};

const REACHABLE: Record<ResourceKind, ReadonlyMap<string, ReadonlySet<string>>> = {
  payment: closure(PAYMENT_MOVES),
  refund: closure(REFUND_MOVES),
  dispute: closure(DISPUTE_MOVES),
  payout: closure(PAYOUT_MOVES),
};

/**
 * Whether a resource in `from` can be in `to` later. Unknown statuses are never illegal; they have a
 * finding of their own.
 */
export function isReachable(kind: ResourceKind, from: string, to: string): boolean {
  const reachable = REACHABLE[kind];
  if (from === to || !reachable.has(from) || !reachable.has(to)) return true;
  return reachable.get(from)?.has(to) ?? false;
}

function closure(moves: Readonly<Record<string, readonly string[]>>): Map<string, Set<string>> {
  return new Map(
    Object.keys(moves).map((start) => {
      const reached = new Set<string>();
      const open = [start];
      for (let status = open.pop(); status !== undefined; status = open.pop()) {
        for (const next of moves[status] ?? []) {
          if (reached.has(next)) continue;
          reached.add(next);
          open.push(next);
        }
      }
      return [start, reached];
    }),
  );
}
