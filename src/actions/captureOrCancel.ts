/**
 * Captures or cancels an authorization for a person.
 *
 * 1. The person decides about a hold that the service has just confirmed: `inspectHold` comes first,
 *    then `captureOrCancelAs` with what it returned.
 * 2. The audit log has an entry before the request is sent and one with its outcome, so that a process
 *    that ends in between leaves an open attempt.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import type { AuthorizationRequest } from '../authorizations/authorizationService.ts';
import {
  type ActionParts,
  captureOrCancel,
  type Hold,
  type RefreshedHold,
  refreshHold,
} from '../authorizations/captureOrCancel.ts';
import type { ActionOutcome } from '../outcomes/action.ts';
import type { Database } from '../platform/db/database.ts';

export type AuthorizationParts = ActionParts & { readonly db: Database };

export type Inspected =
  /** Something can be captured. */
  | { readonly outcome: 'held'; readonly hold: Hold }
  /** The payment was not retrieved, so what the ledger knows may be out of date. */
  | { readonly outcome: 'not_retrieved'; readonly reason: string; readonly isUnavailable: boolean }
  /** Nothing can be captured or released. */
  | { readonly outcome: 'not_held'; readonly status: string | null };

/** Retrieves a payment, and returns what it holds. */
export async function inspectHold(
  parts: AuthorizationParts,
  paymentId: string,
): Promise<Inspected> {
  const { refreshed, hold } = await refreshHold(parts, paymentId);
  switch (refreshed.outcome) {
    case 'stopped':
      return { outcome: 'not_retrieved', reason: 'stopped', isUnavailable: true };
    case 'failed': {
      const { reason, isUnavailable } = refreshed;
      return { outcome: 'not_retrieved', reason, isUnavailable };
    }
    case 'applied':
      return hold && hold.capturableMinor > 0
        ? { outcome: 'held', hold }
        : { outcome: 'not_held', status: hold?.status ?? null };
  }
}

export interface AuthorizationInput {
  readonly action: AuthorizationRequest['action'];
  readonly paymentId: string;
  /** What the person decided about. */
  readonly hold: Hold;
  /** Capture only, in minor units; at most the hold, and the whole hold when it is left out. */
  readonly amountMinor?: number | undefined;
  /** Recorded; the service receives the reason of a cancellation, too. */
  readonly reason?: string | undefined;
}

/** What became of it, and the payment afterwards. */
export interface CapturedOrCanceled extends RefreshedHold {
  readonly result: ActionOutcome;
  /** Number of the attempt in the audit log. */
  readonly attempt: number;
}

export function captureOrCancelAs(
  parts: AuthorizationParts,
  actor: Actor,
  { action, paymentId, hold, amountMinor, reason }: AuthorizationInput,
): Promise<CapturedOrCanceled> {
  const intent = {
    actor,
    action: `authorization.${action}`,
    subject: { kind: 'payment', id: paymentId },
    orderKey: hold.orderKey,
    reason,
    detail: {
      amount: amountMinor ?? hold.capturableMinor,
      amount_capturable: hold.capturableMinor,
      currency: hold.currency,
    },
  } as const;
  const request = {
    action,
    paymentId,
    amountMinor,
    reason: action === 'cancel' ? reason : undefined,
  };
  return recordAttempt(parts.db, intent, async (attempt) => {
    const acted = await captureOrCancel(parts, request);
    const { result, refreshed, hold: after } = acted;
    return {
      value: { ...acted, attempt },
      result: result.outcome,
      detail: {
        ...(result.outcome !== 'done' && { error: result.reason }),
        ...(refreshed.outcome === 'applied' && { status: after?.status ?? null }),
      },
    };
  });
}
