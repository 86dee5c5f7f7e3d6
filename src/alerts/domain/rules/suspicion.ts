/**
 * Suspicions: findings that say that more money of an order went out than came in.
 *
 * Terms. *Part*: a payment, refund or dispute of the order. *Answered*: the service was asked about a
 * part, and said what it is or that it does not know it.
 *
 * 1. Events arrive in any order and some are lost: a refund that is heard of before its capture looks
 *    like an excess. So a suspicion alerts nobody until it is confirmed, or until its grace is over.
 * 2. It is confirmed when it still shows the same after the service answered for every part of the
 *    order. Only requests that were sent SETTLING_MS or more after the finding came to show what it
 *    shows count: a service may answer from a replica that lags.
 * 3. Where the service is not asked at all, the grace is UNASKED_GRACE_MS. Where it is, but does not
 *    answer, the grace is UNANSWERED_GRACE_MS: by then an outage has alerts of its own.
 * 4. What alerts already is kept up to date while a change of it is not confirmed.
 */

export const SUSPICION_CLASSES = ['over_refund', 'double_loss'] as const;

const MINUTE_MS = 60_000;

/** How far an answer of the service may lag behind its events (rule 2). */
export const SETTLING_MS = MINUTE_MS;
const UNASKED_GRACE_MS = 20 * MINUTE_MS;
const UNANSWERED_GRACE_MS = 24 * 60 * MINUTE_MS;

export function isSuspicion(findingClass: string): boolean {
  return (SUSPICION_CLASSES as readonly string[]).includes(findingClass);
}

/** Rule 3. @param isServiceAsked whether a key is set, so that the service can be asked */
export function suspicionGraceMs(isServiceAsked: boolean): number {
  return isServiceAsked ? UNANSWERED_GRACE_MS : UNASKED_GRACE_MS;
}
