/**
 * Cancels a payout, or sends its money, for a person.
 *
 * 1. The payout is retrieved after the claim, and nothing is sent unless its amount and status are those
 *    that the person saw and the status allows the action.
 * 2. The audit log has an entry before the request, which is also the claim: while an attempt has no
 *    result, there is no second one.
 * 3. A lost response is resolved by a retrieve: a payout is cancelled by its status, and its money was sent if the
 *    status is one that follows that. Where the retrieve does not show it, the outcome is unknown: somebody else
 *    may have cancelled what was to be sent.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { type ClaimedAttempt, recordExclusiveAttempt } from '../audit/recordAudit.ts';
import type { Payout } from '../contract/resources/payout.ts';
import { readListedResource } from '../ledger/read/store/resourceList.ts';
import type { ActionOutcome } from '../outcomes/action.ts';
import { isCancellable, isFulfillable, isSent } from '../payouts/domain/payAgain.ts';
import type { PayoutParts } from './retryPayout.ts';

export type PayoutAction = 'cancel' | 'fulfill';

/** What the person saw. */
export interface SeenPayout {
  readonly payoutId: string;
  /** Minor units. */
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: string;
  readonly reason: string;
}

type Sent =
  | Exclude<ActionOutcome, { readonly outcome: 'done' }>
  | { readonly outcome: 'done'; readonly status: string | null }
  /** Nothing happened: the payout is not what the person saw, or its status does not allow it. */
  | { readonly outcome: 'changed'; readonly status: string | null };

export type ActedOnPayout = (Sent & { readonly attempt: number }) | ClaimedAttempt;

export function isPossible(action: PayoutAction, status: string | null): boolean {
  return action === 'cancel' ? isCancellable(status) : isFulfillable(status);
}

export async function actOnPayoutAs(
  parts: PayoutParts,
  actor: Actor,
  { action, ...seen }: SeenPayout & { readonly action: PayoutAction },
): Promise<ActedOnPayout> {
  const { payoutId, reason, amountMinor, currency } = seen;
  const known = await readListedResource(parts.db, { kind: 'payout', id: payoutId });
  const intent = {
    actor,
    action: `payout.${action}`,
    subject: { kind: 'payout', id: payoutId },
    orderKey: known?.orderKey ?? null,
    reason,
    detail: { amount: amountMinor, currency },
  } as const;
  return recordExclusiveAttempt(parts.db, intent, async (attempt) => {
    const sent = await act(parts, action, seen);
    const result = sent.outcome === 'changed' ? 'refused' : sent.outcome;
    const error =
      'reason' in sent ? sent.reason : 'it is not what the person saw, or its status forbids it';
    const detail = sent.outcome === 'done' ? { status: sent.status } : { error };
    return { value: { ...sent, attempt }, result, detail };
  });
}

/** Rules 1 and 3. */
async function act(
  { service }: PayoutParts,
  action: PayoutAction,
  seen: SeenPayout,
): Promise<Sent> {
  const { payoutId } = seen;
  const before = await service.refresh(payoutId);
  if (before.outcome === 'failed') {
    return { outcome: 'failed', reason: `it cannot be retrieved: ${before.reason}` };
  }
  if (!isSeen(before.payout, seen) || !isPossible(action, seen.status)) {
    return { outcome: 'changed', status: before.payout.status ?? null };
  }
  const sent = await service.act(action, payoutId);
  if (sent.outcome !== 'done' && sent.outcome !== 'unknown') return sent;
  const after = await service.refresh(payoutId);
  const status = after.outcome === 'read' ? (after.payout.status ?? null) : null;
  if (sent.outcome === 'done') return { outcome: 'done', status };
  const isDone = status !== null && (action === 'cancel' ? status === 'cancelled' : isSent(status));
  return isDone ? { outcome: 'done', status } : sent;
}

function isSeen(payout: Payout, { amountMinor, currency, status }: SeenPayout): boolean {
  return payout.amount === amountMinor && payout.currency === currency && payout.status === status;
}
