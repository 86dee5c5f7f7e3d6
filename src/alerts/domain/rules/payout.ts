/**
 * Rules of payouts.
 *
 * 1. A payout that came to nothing, or came back, stands until it is under way again. It opens when it
 *    happens and is left alone afterwards, so that nobody hears of what is past.
 * 2. Louder when the payee was said to be paid before: somebody may have relied on it.
 * 3. While a body without a version reports more than the state, a failure is not over: the answer
 *    that took it back may lag behind that body.
 */
import type { Alert, Settled } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { belonging, history, money, reasonSentence, resourceDetail, subjectOf } from '../words.ts';

/** Statuses that need somebody, and how each is put. */
const FAILED: ReadonlyMap<string, string> = new Map([
  ['failed', 'failed'],
  ['cancelled', 'was cancelled'],
  ['expired', 'expired'],
  ['reversed', 'was reversed: the money came back'],
  ['ineligible', 'is not eligible'],
]);

export function payoutAlerts(facts: ResourceFacts): Settled | undefined {
  const { before, status } = facts;
  if (status === undefined || before?.status === status) return undefined;
  const what = FAILED.get(status);
  if (what === undefined && !FAILED.has(before?.status ?? '')) return undefined;
  if (what === undefined && facts.isUncertain) return undefined;
  const isSaid = what !== undefined && !facts.isHistory;
  return {
    subject: subjectOf(facts),
    rules: ['payout_failed'],
    standing: isSaid ? [failedAlert(facts, status, what)] : [],
  };
}

function failedAlert(facts: ResourceFacts, status: string, what: string): Alert {
  const wasPaid = facts.before?.status === 'success' || status === 'reversed';
  const after = wasPaid ? ' after it had been reported as paid' : '';
  const name = `Payout ${facts.id} of ${money(facts.amountMinor, facts.currency)}`;
  return {
    rule: 'payout_failed',
    subject: subjectOf(facts),
    variant: status,
    severity: wasPaid ? 'critical' : 'warning',
    sentence: `${name}${belonging(facts)} ${what}${after}.${reasonSentence(facts)} The payee does not have the money.`,
    nextStep: `Pay again if it is still owed; its history: ${history(facts)}`,
    detail: { ...resourceDetail(facts), wasPaid },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}
