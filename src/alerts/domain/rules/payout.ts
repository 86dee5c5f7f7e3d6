/**
 * Rules of payouts.
 *
 * 1. A payout that failed or was returned has an alert until it is in progress again. The alert is evaluated
 *    only when this happens, so that nobody is notified of the past.
 * 2. Critical if it was reported as paid before: someone may have relied on it.
 * 3. A failure that has fallen back (fallenBack.ts) keeps its alert.
 */
import type { Alert, SubjectAlerts } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { belonging, history, money, reasonSentence, resourceDetail, subjectOf } from '../format.ts';
import { shellWord } from '../shellWord.ts';
import { hasFallenBack } from './fallenBack.ts';

/** Statuses that need action, with their text. */
const FAILED: ReadonlyMap<string, string> = new Map([
  ['failed', 'failed'],
  ['cancelled', 'was canceled'],
  ['expired', 'expired'],
  ['reversed', 'was reversed and the money returned'],
  ['ineligible', 'is not eligible'],
]);

const progressOf = (status: string | undefined) => Number(FAILED.has(status ?? ''));

export function payoutAlerts(facts: ResourceFacts): SubjectAlerts | undefined {
  const { before, status } = facts;
  if (status === undefined || before?.status === status) return undefined;
  const what = FAILED.get(status);
  if (what === undefined && !FAILED.has(before?.status ?? '')) return undefined;
  if (hasFallenBack(facts, progressOf)) return undefined;
  const isRaised = what !== undefined && !facts.isHistory;
  return {
    subject: subjectOf(facts),
    rules: ['payout_failed'],
    active: isRaised ? [failedAlert(facts, status, what)] : [],
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
    nextStep:
      'If the amount is still owed, pay it again by a new payout: on its page in the console, or by ' +
      `npx tallyhook payouts retry ${shellWord(facts.id)}. History: ${history(facts)}`,
    detail: { ...resourceDetail(facts), wasPaid },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}
