/**
 * How long money may be in transit. Money that takes longer opens a finding; nothing is given up. Each
 * term names the account that holds the money (none for a payment without a capture), the statuses that
 * keep it there, and a time longer than the service and the banks usually need. A term begins with the
 * first of the last snapshots that have it, in the order of their keys; if all have it, when the resource
 * was created, or with the first of them if none states that.
 *
 * Payments that wait for the customer have no term: an abandoned checkout is not a problem. A payment
 * that waits for the merchant, the service or a bank is.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import { changedMicros, type Snapshot } from './snapshot.ts';

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
  // Authorizations have deadlines of their own; src/authorizations watches them.
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

/** The term of a state, if it has one. */
export function termOf(kind: ResourceKind, { status, stage }: TimedState): Term | undefined {
  if (stage === 'pre_dispute') return undefined;
  return TERMS.find((term) => term.kind === kind && term.statuses.includes(status ?? ''));
}

/**
 * When the term of a resource's state began, in microseconds since 1970; undefined for a state without a term.
 * @param state the merged fields
 * @param ascending in the order of their keys
 */
export function termSinceMicros(
  kind: ResourceKind,
  state: TimedState & { readonly createdMicros?: number | undefined },
  ascending: readonly Snapshot[],
): number | undefined {
  const term = termOf(kind, state);
  if (!term) return undefined;
  const stated = ascending.filter(({ content }) => content.status !== undefined);
  const before = stated.findLastIndex(({ content }) => termOf(kind, content) !== term);
  // None is above it if a body without a status states the stage.
  const first = stated[before + 1] ?? stated[before];
  if (before < 0 && state.createdMicros !== undefined) return state.createdMicros;
  return first && changedMicros(first);
}

/**
 * Whether a resource that was overdue still is. It is as long as the same term applies: what was past a
 * term stays past it. Under another term the finding would have a different detail.
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
