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

interface TimedState {
  readonly status?: string | null | undefined;
  readonly stage?: string | null | undefined;
}

/** What a state runs by; undefined where it has no term. */
export function termOf(kind: ResourceKind, { status, stage }: TimedState): Term | undefined {
  if (stage === 'pre_dispute') return undefined;
  return TERMS.find((term) => term.kind === kind && term.statuses.includes(status ?? ''));
}

/**
 * Whether a resource that was found overdue still is. While the same term runs nothing else can end
 * it: what was past it once stays past it. Under another term it would show something else.
 */
export function staysOverdue(
  before: TimedState & { readonly kind: ResourceKind; readonly openFindings: readonly string[] },
  now: TimedState & { readonly posts: boolean },
): boolean {
  const term = termOf(before.kind, now);
  return (
    before.openFindings.includes('overdue') &&
    now.posts &&
    term !== undefined &&
    term === termOf(before.kind, before)
  );
}
