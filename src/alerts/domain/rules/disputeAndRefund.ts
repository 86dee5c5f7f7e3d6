/**
 * A dispute on an order that has an open refund: the customer may get the money twice. Stands while
 * both are undecided; which one was first does not matter. It is about the dispute, so that it goes on
 * when a payment turns out to belong to another order.
 */
import { FINAL_STATUSES } from '../../../contract/statuses.ts';
import type { Alert, Settled } from '../alert.ts';
import type { OrderFacts, OrderPartFacts } from '../facts.ts';
import { belonging, history, money, subjectOf } from '../words.ts';

/** Nothing where there cannot be, nor have been, both. */
export function disputeAndRefundAlerts(order: OrderFacts): readonly Settled[] {
  const disputes = order.parts.filter(({ kind }) => kind === 'dispute');
  const refunds = order.parts.filter(({ kind }) => kind === 'refund');
  if (refunds.length === 0 && !order.hasLostParts) return [];
  const open = refunds.filter(isUndecided);
  return disputes.map((dispute) => ({
    subject: subjectOf(dispute),
    rules: ['dispute_and_refund'],
    standing:
      open.length > 0 && isUndecided(dispute) ? [alertOf(order.orderId, dispute, open)] : [],
  }));
}

function isUndecided({ kind, status }: OrderPartFacts): boolean {
  return status !== undefined && !FINAL_STATUSES[kind].has(status);
}

function alertOf(
  orderId: string | undefined,
  dispute: OrderPartFacts,
  refunds: readonly OrderPartFacts[],
): Alert {
  const paymentId = dispute.paymentId ?? undefined;
  const { id, amountMinor, currency } = dispute;
  const names = { ...dispute, orderId, paymentId };
  return {
    rule: 'dispute_and_refund',
    subject: subjectOf(dispute),
    variant: '',
    severity: 'critical',
    sentence:
      `Dispute ${id} about ${money(amountMinor, currency)}${belonging(names)} is undecided while a ` +
      `refund is on its way (${listed(refunds)}): the customer may get the money twice.`,
    nextStep:
      'Stop the refund if the service still can, or answer the dispute with it as evidence. ' +
      `History: ${history(names)}`,
    detail: {
      id,
      status: dispute.status,
      amountMinor,
      currency,
      refunds: refunds.map((refund) => refund.id).toSorted(),
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
