/**
 * How long money may stand on its way. What stands longer is found and said; nothing is given up.
 * Each line names the account that the money stands in, the statuses that keep it there, and a term
 * longer than the service and the banks behind it usually take.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';

export interface Term {
  readonly kind: ResourceKind;
  readonly account: string;
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
];
