/**
 * Excesses: findings that claim that more money of an order moved, or may move, than should.
 *
 * Terms. *Part*: a payment, refund or dispute of the order. *Awaiting confirmation*: the finding is
 * open, and no alert is raised about it yet.
 *
 * 1. Events arrive in any order and some are lost: a refund before its capture is known looks like
 *    an excess. So no alert is raised about an excess until it is confirmed, or until its wait is over.
 * 2. It is confirmed if it still shows the same after every part of the order was retrieved. Only
 *    requests that were sent SETTLING_MS or more after the finding came to show what it shows count: a
 *    service may respond from a replica that lags. "Not found" is a response.
 *    A part that joins the order before that is retrieved, too.
 * 3. Without an API key nothing can be retrieved, and the wait is WITHOUT_KEY_MS. With one, but without
 *    responses, it is WITHOUT_RESPONSE_MS: by then an outage has alerts of its own. The alert then
 *    states that the excess is not confirmed.
 * 4. An alert that is open is kept up to date while a change of the excess awaits confirmation.
 */
import { DAY_MS, MINUTE_MS } from '../../../platform/time.ts';

export const EXCESS_CLASSES = [
  'over_refund',
  'double_loss',
  'double_paid',
  'dispute_and_refund',
] as const;

/** How far a response of the service may lag behind its events (rule 2). */
export const SETTLING_MS = MINUTE_MS;
const WITHOUT_KEY_MS = 20 * MINUTE_MS;
const WITHOUT_RESPONSE_MS = DAY_MS;

export function isExcess(findingClass: string): boolean {
  return (EXCESS_CLASSES as readonly string[]).includes(findingClass);
}

/** Rule 3. @param hasApiKey whether parts can be retrieved */
export function confirmationWaitMs(hasApiKey: boolean): number {
  return hasApiKey ? WITHOUT_RESPONSE_MS : WITHOUT_KEY_MS;
}
