/**
 * How long money may stand on its way. What stands longer is found and said; nothing is given up.
 * Each line names the account that the money stands in (a payment that took nothing yet stands in
 * none), the statuses that keep it there, and a term longer than the service and the banks behind it
 * usually take.
 *
 * Payments that wait for the customer have no term: a checkout that was abandoned is no fault, and
 * one that waits for the merchant, the service or a bank is.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';

export interface Term {
  readonly kind: ResourceKind;
  readonly account: string | null;
  readonly statuses: readonly string[];
  readonly days: number;
}

export const TERMS: readonly Term[] = [
  { kind: 'refund', account: 'refund.in_flight', statuses: ['pending', 'review'], days: 14 },
  { kind: 'dispute', account: 'dispute.held', statuses: ['opened', 'challenged'], days: 120 },
  { kind: 'payout', account: 'payout.in_transit', statuses: ['initiated', 'pending'], days: 7 },
  // Money that is held and may be captured has a deadline of its own, which is watched.
  {
    kind: 'payment',
    account: 'memo.auth_open',
    statuses: ['partially_captured_and_processing'],
    days: 7,
  },
  { kind: 'payment', account: null, statuses: ['processing'], days: 7 },
  {
    kind: 'payment',
    account: null,
    statuses: ['requires_merchant_action', 'review', 'conflicted'],
    days: 3,
  },
];

/** How many days a state may last; undefined where it has no term. */
export function termDaysOf(
  kind: ResourceKind,
  { status, stage }: { readonly status: string | undefined; readonly stage: string | undefined },
): number | undefined {
  if (status === undefined || stage === 'pre_dispute') return undefined;
  return TERMS.find((term) => term.kind === kind && term.statuses.includes(status))?.days;
}
