/**
 * Ranks order the statuses of one kind by progress. They decide only between snapshots with equal or
 * missing versions: which of two undated observations is later. transitions.ts has the transitions that
 * are possible.
 *
 * 1. Every status of the contract and of the family has a rank.
 * 2. A status that is not final never ranks above a final one.
 * 3. An unknown or missing status ranks below all others.
 * 4. Of two final statuses the one that corrects the other ranks higher: a late refund failure
 *    corrects a success, a reversal corrects a payout, a capture corrects a failed attempt.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import {
  DISPUTE_STAGES,
  type DisputeStage,
  type DisputeStatus,
  type PaymentStatus,
  type PayoutStatus,
  type RefundStatus,
} from '../../contract/statuses.ts';

const PAYMENT_RANKS: Record<PaymentStatus, number> = {
  requires_payment_method: 0,
  requires_confirmation: 1,
  requires_action: 2,
  requires_customer_action: 2,
  requires_redirection: 2,
  requires_merchant_action: 3,
  processing: 4,
  requires_capture: 5,
  partially_authorized_and_requires_capture: 5,
  partially_captured_and_processing: 6,
  partially_captured_and_capturable: 7,
  conflicted: 8,
  review: 9,
  failed: 20,
  cancelled: 21,
  expired: 21,
  partially_captured: 22,
  succeeded: 23,
  cancelled_post_capture: 24,
};

const REFUND_RANKS: Record<RefundStatus, number> = {
  pending: 0,
  review: 1,
  succeeded: 20,
  failed: 21,
};

const DISPUTE_RANKS: Record<DisputeStatus, number> = {
  opened: 0,
  challenged: 1,
  expired: 20,
  cancelled: 21,
  accepted: 22,
  lost: 23,
  won: 24,
};

const PAYOUT_RANKS: Record<PayoutStatus, number> = {
  requires_creation: 0,
  requires_payout_method_data: 1,
  requires_confirmation: 2,
  requires_vendor_account_creation: 3,
  requires_fulfillment: 4,
  initiated: 5,
  pending: 6,
  ineligible: 20,
  success: 21,
  cancelled: 22,
  expired: 22,
  failed: 23,
  reversed: 24,
};

const RANKS: Record<ResourceKind, Readonly<Record<string, number>>> = {
  payment: PAYMENT_RANKS,
  refund: REFUND_RANKS,
  dispute: DISPUTE_RANKS,
  payout: PAYOUT_RANKS,
};

const UNKNOWN_RANK = -1;

/** Rank of a normalized status within its kind. */
export function statusRank(kind: ResourceKind, status: string | undefined): number {
  const ranks = RANKS[kind];
  return status !== undefined && Object.hasOwn(ranks, status)
    ? (ranks[status] ?? UNKNOWN_RANK)
    : UNKNOWN_RANK;
}

/** A dispute without a stage, or with an unknown one, is at this stage. */
export const DEFAULT_DISPUTE_STAGE: DisputeStage = 'dispute';

export function stageRank(kind: ResourceKind, stage: string | undefined): number {
  if (kind !== 'dispute') return 0;
  const rank = (DISPUTE_STAGES as readonly string[]).indexOf(stage ?? DEFAULT_DISPUTE_STAGE);
  return rank === -1 ? DISPUTE_STAGES.indexOf(DEFAULT_DISPUTE_STAGE) : rank;
}
