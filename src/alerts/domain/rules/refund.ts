/**
 * Rules of refunds.
 *
 * 1. A refund that failed stands until it is under way again. It opens when it happens and is left
 *    alone afterwards, so that nobody hears of what is past.
 * 2. Louder when it had succeeded before: the customer was told that the money is coming.
 * 3. While a body without a version reports more than the state, a failure is not over: the answer
 *    that took it back may lag behind that body.
 */
import type { Alert, Settled } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { belonging, history, money, reasonSentence, resourceDetail, subjectOf } from '../words.ts';

export function refundAlerts(facts: ResourceFacts): Settled | undefined {
  const { before, status } = facts;
  if (status === undefined || before?.status === status) return undefined;
  if (status !== 'failed' && before?.status !== 'failed') return undefined;
  if (status !== 'failed' && facts.isUncertain) return undefined;
  const isSaid = status === 'failed' && !facts.isHistory;
  return {
    subject: subjectOf(facts),
    rules: ['refund_failed'],
    standing: isSaid ? [failedAlert(facts)] : [],
  };
}

function failedAlert(facts: ResourceFacts): Alert {
  const wasDone = facts.before?.status === 'succeeded';
  const after = wasDone ? ' after it had been reported as done' : '';
  const name = `Refund ${facts.id} of ${money(facts.amountMinor, facts.currency)}`;
  return {
    rule: 'refund_failed',
    subject: subjectOf(facts),
    variant: '',
    severity: wasDone ? 'critical' : 'warning',
    sentence: `${name}${belonging(facts)} failed${after}.${reasonSentence(facts)} The customer does not have the money.`,
    nextStep: `Refund again or another way; its history: ${history(facts)}`,
    detail: { ...resourceDetail(facts), wasDone },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}
