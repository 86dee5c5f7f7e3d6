/**
 * A dispute on an order that has an open refund: the customer may get the money twice. Stands while
 * both are undecided; which one was first does not matter.
 */
import { FINAL_STATUSES } from '../../../contract/statuses.ts';
import type { Alert, Settled } from '../alert.ts';
import type { OrderFacts, OrderPartFacts } from '../facts.ts';
import { money, shellWord } from '../words.ts';

/** Undefined where there cannot be, nor have been, both. */
export function disputeAndRefundAlerts(order: OrderFacts): Settled | undefined {
  const has = (kind: string) => order.parts.some((part) => part.kind === kind);
  if (!order.hasLostParts && !(has('dispute') && has('refund'))) return undefined;
  const disputes = order.parts.filter((part) => part.kind === 'dispute' && isUndecided(part));
  const refunds = order.parts.filter((part) => part.kind === 'refund' && isUndecided(part));
  const stands = disputes.length > 0 && refunds.length > 0;
  return {
    subject: order.subject,
    rules: ['dispute_and_refund'],
    standing: stands ? [alertOf(order, disputes, refunds)] : [],
  };
}

function isUndecided({ kind, status }: OrderPartFacts): boolean {
  return status !== undefined && !FINAL_STATUSES[kind].has(status);
}

function alertOf(
  { subject, orderId, parts }: OrderFacts,
  disputes: readonly OrderPartFacts[],
  refunds: readonly OrderPartFacts[],
): Alert {
  const paymentId = disputes.find((dispute) => dispute.paymentId !== null)?.paymentId ?? undefined;
  const name =
    orderId === undefined ? `Payment ${paymentId ?? 'of an unknown id'}` : `Order ${orderId}`;
  const paymentIds = parts.flatMap(({ kind, id }) => (kind === 'payment' ? [id] : []));
  return {
    rule: 'dispute_and_refund',
    subject,
    variant: '',
    severity: 'critical',
    sentence:
      `${name} is disputed (${listed(disputes)}) while a refund is on its way (${listed(refunds)}): ` +
      'the customer may get the money twice.',
    nextStep:
      'Stop the refund if the service still can, or answer the dispute with it as evidence: ' +
      `npx tallyhook orders explain ${shellWord(orderId ?? paymentId ?? '')}`,
    detail: {
      disputes: disputes.map(({ id }) => id),
      refunds: refunds.map(({ id }) => id),
      payments: paymentIds,
    },
    orderId,
    paymentId,
  };
}

function listed(parts: readonly OrderPartFacts[]): string {
  return parts
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(
      ({ id, status, amountMinor, currency }) =>
        `${id}, ${money(amountMinor, currency)}, ${status}`,
    )
    .join('; ');
}
