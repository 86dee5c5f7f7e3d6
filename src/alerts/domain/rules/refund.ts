/**
 * Rules of refunds.
 *
 * 1. A failed refund has an alert until it is in progress again. The alert is evaluated
 *    only when this happens, so that nobody is notified of the past.
 * 2. Critical if it was reported as succeeded before: the customer may have been informed.
 * 3. A failure that has fallen back (fallenBack.ts) keeps its alert.
 * 4. The alert is about this refund alone: services refuse refunds of disputed payments, and a lost dispute returns
 *    the money, as another refund may.
 */
import type { Alert, SubjectAlerts } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { belonging, history, money, reasonSentence, resourceDetail, subjectOf } from '../format.ts';
import { shellWord } from '../shellWord.ts';
import { hasFallenBack } from './fallenBack.ts';

const progressOf = (status: string | undefined) => Number(status === 'failed');

export function refundAlerts(facts: ResourceFacts): SubjectAlerts | undefined {
  const { before, status } = facts;
  if (status === undefined || before?.status === status) return undefined;
  if (status !== 'failed' && before?.status !== 'failed') return undefined;
  if (hasFallenBack(facts, progressOf)) return undefined;
  const isRaised = status === 'failed' && !facts.isHistory;
  return {
    subject: subjectOf(facts),
    rules: ['refund_failed'],
    active: isRaised ? [failedAlert(facts)] : [],
  };
}

function failedAlert(facts: ResourceFacts): Alert {
  const wasDone = facts.before?.status === 'succeeded';
  const after = wasDone ? ' after it had been reported as succeeded' : '';
  const name = `Refund ${facts.id} of ${money(facts.amountMinor, facts.currency)}`;
  return {
    rule: 'refund_failed',
    subject: subjectOf(facts),
    variant: '',
    severity: wasDone ? 'critical' : 'warning',
    sentence: `${name}${belonging(facts)} failed${after}.${reasonSentence(facts)} The customer did not receive this refund.`,
    nextStep: `If the amount is still owed, and no lost dispute or other refund returned it, refund again: ${refundCommand(facts)}; or pay the customer another way. History: ${history(facts)}`,
    detail: { ...resourceDetail(facts), wasDone },
    orderId: facts.orderId,
    paymentId: facts.paymentId,
  };
}

function refundCommand({ amountMinor, paymentId }: ResourceFacts): string {
  const payment = paymentId === undefined ? 'PAYMENT' : shellWord(paymentId);
  return `npx tallyhook payments refund --amount ${amountMinor ?? 'MINOR'} --reason "…" ${payment}`;
}
