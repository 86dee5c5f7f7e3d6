/**
 * The findings about an order, derived from all of its parts. The ledger records facts, so it reports
 * problems and does not reject them.
 */
import { FINAL_STATUSES, type PaymentStatus } from '../../contract/statuses.ts';
import { groupBy } from '../../platform/collections.ts';
import type { Finding, FindingClass } from './findings.ts';
import { type OrderPart, type OrderState, type OrderTotals, PART_AMOUNTS } from './order.ts';

/** A part with its id and its payment. */
export interface NamedPart extends OrderPart {
  readonly id: string;
  readonly paymentId: string | null;
}

/** All that `orderFindings` can show. */
export const ORDER_FINDING_CLASSES = [
  'over_refund',
  'double_loss',
  'double_paid',
  'dispute_and_refund',
  'currency',
] as const satisfies readonly FindingClass[];
type OrderFindingClass = (typeof ORDER_FINDING_CLASSES)[number];

/** The subject of findings about an order. */
export function orderSubject(orderKey: string): string {
  return `order:${orderKey}`;
}

/**
 * The findings that the parts of an order show; at most one of each class.
 * @param order as it is derived from the parts
 */
export function orderFindings(
  orderKey: string,
  parts: readonly NamedPart[],
  order: OrderState,
): Finding<OrderFindingClass>[] {
  // Captured amounts are compared only once every capture is known: events arrive in any order, and a
  // refund that arrives before its capture is no loss.
  const totals = areCapturesKnown(parts) ? order.totals : [];
  const found: [OrderFindingClass, object][] = [
    ...perCurrency(totals, 'over_refund', overRefund),
    ...perCurrency(totals, 'double_loss', doubleLoss),
    ...doublePaid(parts),
    ...disputeAndRefund(parts),
    ...strangeCurrencies(parts),
  ];
  const byClass = new Map<OrderFindingClass, object>();
  for (const [name, detail] of found) if (!byClass.has(name)) byClass.set(name, detail);
  return [...byClass].map(([name, detail]) => ({
    class: name,
    subject: orderSubject(orderKey),
    detail: { ...detail },
  }));
}

/** Statuses in which a payment waits for the customer: nothing is captured, and an abandoned one stays so for good. */
const AWAITING_CUSTOMER: ReadonlySet<string> = new Set<PaymentStatus>([
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
  'requires_customer_action',
  'requires_redirection',
]);

/** What is refunded or disputed was captured, also of a payment that seems to wait for the customer. */
function areCapturesKnown(parts: readonly NamedPart[]): boolean {
  const open = parts.filter(
    ({ kind, status }) => kind === 'payment' && !FINAL_STATUSES.payment.has(status ?? ''),
  );
  if (open.length === 0) return true;
  const named = new Set(parts.map(({ paymentId }) => paymentId));
  return open.every(({ id, status }) => AWAITING_CUSTOMER.has(status ?? '') && !named.has(id));
}

function perCurrency(
  totals: readonly OrderTotals[],
  name: OrderFindingClass,
  excessOf: (totals: OrderTotals) => number,
): readonly [OrderFindingClass, object][] {
  return totals
    .filter((total) => excessOf(total) > 0)
    .map((total) => [name, { currency: total.currency, excessMinor: excessOf(total) }]);
}

function overRefund({ refundedMinor, refundPendingMinor, capturedMinor }: OrderTotals): number {
  return refundedMinor + refundPendingMinor - capturedMinor;
}

/** Only if there are both refunds and disputes: a dispute alone may exceed the capture. */
function doubleLoss(totals: OrderTotals): number {
  const refundMinor = totals.refundedMinor + totals.refundPendingMinor;
  const disputeMinor = totals.disputedMinor + totals.chargedBackMinor;
  return refundMinor > 0 && disputeMinor > 0
    ? refundMinor + disputeMinor - totals.capturedMinor
    : 0;
}

/** A payment that was returned is paid no longer: the customer may pay again, and is owed nothing for it. */
function doublePaid(parts: readonly NamedPart[]): readonly [OrderFindingClass, object][] {
  const succeeded = parts.filter(
    ({ kind, status }) => kind === 'payment' && status === 'succeeded',
  );
  // Most orders have one, and are derived with each event about them.
  if (succeeded.length < 2) return [];
  const byPayment = groupBy(parts, ({ paymentId }) => paymentId);
  const paid = succeeded.filter((part) => keptMinor(part, byPayment.get(part.id) ?? []) > 0);
  const payments = paid
    .map(({ id, capturedMinor, currency }) => ({ id, capturedMinor, currency }))
    .sort(byId);
  return payments.length > 1 ? [['double_paid', { payments }]] : [];
}

/**
 * What a payment captured, less its refunds that succeeded and disputes that were lost. What may not have left
 * subtracts nothing: a pending refund, an unknown amount, another currency.
 */
function keptMinor(
  { capturedMinor, currency }: NamedPart,
  refundsAndDisputes: readonly NamedPart[],
): number {
  return refundsAndDisputes
    .filter((part) => currency !== undefined && part.currency === currency)
    .reduce(
      (kept, part) => kept - PART_AMOUNTS.refundedMinor(part) - PART_AMOUNTS.chargedBackMinor(part),
      capturedMinor,
    );
}

/** The customer may receive the money twice; which of the two came first does not matter. */
function disputeAndRefund(parts: readonly NamedPart[]): readonly [OrderFindingClass, object][] {
  const [disputes, refunds] = [undecided(parts, 'dispute'), undecided(parts, 'refund')];
  return disputes.length > 0 && refunds.length > 0
    ? [['dispute_and_refund', { disputes, refunds }]]
    : [];
}

/** Parts of a kind that are not final, by their ids. */
function undecided(parts: readonly NamedPart[], wanted: 'dispute' | 'refund'): readonly object[] {
  return parts
    .filter(
      ({ kind, status }) =>
        kind === wanted && status !== undefined && !FINAL_STATUSES[kind].has(status),
    )
    .map(({ id, amountMinor, currency }) => ({ id, amountMinor, currency }))
    .sort(byId);
}

const byId = (one: Pick<NamedPart, 'id'>, other: Pick<NamedPart, 'id'>): number =>
  one.id < other.id ? -1 : 1;

/** A failed refund moved nothing, in any currency. */
function strangeCurrencies(parts: readonly NamedPart[]): readonly [OrderFindingClass, object][] {
  const payments = new Map(
    parts.flatMap(({ kind, id, currency }) =>
      kind === 'payment' ? [[id, currency] as const] : [],
    ),
  );
  const strange = parts.filter(({ kind, status, currency, paymentId }) => {
    const expected = paymentId === null ? undefined : payments.get(paymentId);
    const isVoid = kind === 'refund' && status === 'failed';
    return !isVoid && expected !== undefined && currency !== undefined && currency !== expected;
  });
  return strange.length > 0 ? [['currency', { parts: strange.map(({ id }) => id).sort() }]] : [];
}
