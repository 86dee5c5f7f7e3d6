/**
 * Captures or cancels an authorization for a person.
 *
 * 1. The person decides about a hold that the service has just confirmed: `inspectHold` comes first,
 *    then `captureOrCancelAs` with what it returned.
 * 2. The audit log has an entry before the request is sent, which is also the claim: while an attempt to
 *    capture or cancel the hold has no result, there is no second one of either. The policy claims its attempts
 *    elsewhere: it makes none meanwhile, and a person sends nothing while an attempt of the policy may be in
 *    progress.
 * 3. The payment is retrieved again after the claim. The request is sent only if the amount that can be
 *    captured is still the one that the person saw, so that a second submission moves nothing.
 * 4. A lost request may still arrive. For UNKNOWN_WAIT_MS after a capture with an unknown outcome, no capture of a
 *    part follows while as much can be captured as before it, unless the payment can be captured only once: both
 *    might be carried out. A capture of all that is left takes no more than the person decided about.
 */
import type { Actor } from '../audit/domain/actor.ts';
import {
  type Attempted,
  type ClaimedAttempt,
  lockUncertainAttempt,
  recordExclusiveAttempt,
} from '../audit/recordAudit.ts';
import { readLastUnknown } from '../audit/store/audit.ts';
import type { AuthorizationRequest } from '../authorizations/authorizationService.ts';
import {
  type ActionParts,
  captureOrCancel,
  type Hold,
  refreshHold,
} from '../authorizations/captureOrCancel.ts';
import type { PolicyInProgress } from '../authorizations/checkAuthorizations.ts';
import { UNKNOWN_WAIT_MS } from '../authorizations/domain/attempts.ts';
import type { ActionOutcome } from '../outcomes/action.ts';
import type { Database, Queryable } from '../platform/db/database.ts';

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

/** The status of the payment at the service afterwards; null if it could not be retrieved. */
type Sent = ActionOutcome & { readonly status: string | null };

type HoldNow = Exclude<Inspected, { readonly outcome: 'not_retrieved' }>;

/** Nothing happened: another amount can be captured now, or nothing. */
interface Changed {
  readonly outcome: 'changed';
  readonly now: HoldNow;
}

/** Nothing happened: the policy acts on the hold. */
interface Busy {
  readonly outcome: 'busy';
  readonly policy: PolicyInProgress;
}

/** Nothing happened (rule 4). */
interface Uncertain {
  readonly outcome: 'uncertain';
  readonly until: Date;
}

type Done = Sent | Changed | Busy | Uncertain;

/** What became of it, with its number in the audit log. */
export type CapturedOrCanceled = (Done & { readonly attempt: number }) | ClaimedAttempt;

/** Rule 2: a cancellation releases what a capture would take. */
const EXCLUSIVE = ['authorization.cancel', 'authorization.capture'] as const;

/** The attempt of a person that the policy waits for (checkAuthorizations.ts, rule 3). */
export function lockPersonsAttempt(
  tx: Queryable,
  paymentId: string,
  withinMs: number,
): Promise<number | undefined> {
  const subject = { kind: 'payment', id: paymentId };
  return lockUncertainAttempt(tx, { actions: EXCLUSIVE, subject }, withinMs);
}

export function captureOrCancelAs(
  parts: AuthorizationParts,
  actor: Actor,
  input: AuthorizationInput,
): Promise<CapturedOrCanceled> {
  const { action, paymentId, hold, amountMinor, reason } = input;
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
  return recordExclusiveAttempt(
    parts.db,
    intent,
    async (attempt) => recordOf(attempt, await sendIfSeen(parts, input)),
    EXCLUSIVE,
  );
}

function recordOf(attempt: number, sent: Done): Attempted<Done & { readonly attempt: number }> {
  const value = { ...sent, attempt };
  if (sent.outcome === 'busy') {
    return { value, result: 'refused', detail: { error: 'the policy acts on the hold' } };
  }
  if (sent.outcome === 'uncertain') {
    return { value, result: 'refused', detail: { error: 'an earlier capture may still arrive' } };
  }
  if (sent.outcome === 'changed') {
    return { value, result: 'refused', detail: { error: 'another amount can be captured now' } };
  }
  const { outcome: result, status } = sent;
  const error = sent.outcome === 'done' ? {} : { error: sent.reason };
  return { value, result, detail: { ...error, ...(status !== null && { status }) } };
}

/** Rules 3 and 4. */
async function sendIfSeen(parts: AuthorizationParts, input: AuthorizationInput): Promise<Done> {
  const { action, paymentId, hold, amountMinor, reason } = input;
  const policy = await parts.check.readInProgress(paymentId);
  if (policy) return { outcome: 'busy', policy };
  const now = await inspectHold(parts, paymentId);
  if (now.outcome === 'not_retrieved') {
    return { outcome: 'failed', reason: `it cannot be retrieved: ${now.reason}`, status: null };
  }
  if (!isSameHold(now, hold)) return { outcome: 'changed', now };
  const until = await uncertainUntil(parts, input, now.hold);
  if (until) return { outcome: 'uncertain', until };
  const {
    result,
    refreshed,
    hold: after,
  } = await captureOrCancel(parts, {
    action,
    paymentId,
    amountMinor,
    reason: action === 'cancel' ? reason : undefined,
  });
  return { ...result, status: refreshed.outcome === 'applied' ? (after?.status ?? null) : null };
}

/** Rule 4. */
async function uncertainUntil(
  { db }: AuthorizationParts,
  { action, paymentId, amountMinor }: AuthorizationInput,
  { capturableMinor, captureMethod, currency }: Hold,
): Promise<Date | undefined> {
  const isPart = action === 'capture' && (amountMinor ?? capturableMinor) < capturableMinor;
  if (!isPart || captureMethod === 'manual') return undefined;
  const last = await readLastUnknown(db, {
    action: 'authorization.capture',
    subject: { kind: 'payment', id: paymentId },
    withinMs: UNKNOWN_WAIT_MS,
    seen: { amount_capturable: capturableMinor, currency },
  });
  return last && new Date(last.getTime() + UNKNOWN_WAIT_MS);
}

/** Whether a payment holds what the person saw. */
export function isSameHold(
  now: HoldNow,
  seen: Pick<Hold, 'capturableMinor' | 'currency'>,
): now is Extract<HoldNow, { readonly outcome: 'held' }> {
  return (
    now.outcome === 'held' &&
    now.hold.capturableMinor === seen.capturableMinor &&
    now.hold.currency === seen.currency
  );
}
