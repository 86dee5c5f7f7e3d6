/** An order as JSON: the same in the admin API and in order webhooks. */
import { toSafeInteger } from '../contract/money.ts';
import { describeReason } from '../contract/reasons.ts';
import type { TimeBasis } from '../ledger/domain/effectiveTimes.ts';
import { orderIdOf } from '../ledger/domain/orderKey.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { OrderListTotals } from '../ledger/read/orderList.ts';
import type { OrderName, OrderParts, ReadOrder, ReadOrderDetail } from '../ledger/read/orders.ts';
import type { OrderTotalsRow, PartSummary } from '../ledger/read/store/parts.ts';
import { declineJson } from './decline.ts';
import { isoOrNull } from './time.ts';
import { timelineJson } from './timeline.ts';

/** An order with its parts and its timeline. */
export function orderDetailJson(order: ReadOrderDetail, basis: TimeBasis) {
  return {
    ...orderWithPartsJson(order),
    ...timelineJson(order, basis),
  };
}

/** An order with its parts, without its timeline. */
export function orderWithPartsJson(order: ReadOrder & OrderParts) {
  return {
    ...orderJson(order),
    parts: order.parts.map(partJson),
    parts_complete: order.arePartsComplete,
  };
}

export function orderJson(order: ReadOrder) {
  const { expected } = order;
  return {
    order_id: order.orderId,
    order_key: order.orderKey,
    named_by: orderNamedBy(order.orderKey),
    status: order.status,
    moved_to: [...order.movedTo],
    totals: order.totals.map(totalsJson),
    expected: expected
      ? {
          currency: expected.currency,
          amount: expected.amountMinor,
          comparison: expected.comparison,
          difference: expected.differenceMinor,
          registered_at: expected.registeredAt.toISOString(),
          registered_by: expected.registeredBy,
        }
      : null,
    first_seen_at: formatInstant(order.firstSeenMicros),
    updated_at: formatInstant(order.updatedMicros),
  };
}

/** The order that something belongs to; all null where it belongs to none. */
export function orderReferenceJson(orderKey: string | null) {
  return orderKey === null
    ? { order_id: null, order_key: null, named_by: null }
    : { order_id: orderIdOf(orderKey), order_key: orderKey, named_by: orderNamedBy(orderKey) };
}

/** Whether an order id or, where there is none, a payment id names the order of a key. */
export function orderNamedBy(orderKey: string): OrderName {
  return orderKey.startsWith('order:') ? 'order' : 'payment';
}

function totalsJson(totals: OrderTotalsRow) {
  return { currency: totals.currency, status: totals.status, ...amountsJson(totals) };
}

/** The amounts of one order, or of many, in one currency. */
export function amountsJson(totals: Omit<OrderTotalsRow, 'orderKey' | 'currency' | 'status'>) {
  return {
    amount_authorized: totals.authorizedMinor,
    amount_captured: totals.capturedMinor,
    amount_refunded: totals.refundedMinor,
    amount_refund_pending: totals.refundPendingMinor,
    amount_disputed: totals.disputedMinor,
    amount_charged_back: totals.chargedBackMinor,
  };
}

export function orderListTotalsJson({ count, isComplete, currencies }: OrderListTotals) {
  return {
    count,
    complete: isComplete,
    currencies: currencies.map((sum) => ({
      currency: sum.currency,
      count: sum.count,
      amount_authorized: toSafeInteger(sum.authorizedMinor),
      amount_captured: toSafeInteger(sum.capturedMinor),
      amount_refunded: toSafeInteger(sum.refundedMinor),
      amount_disputed: toSafeInteger(sum.disputedMinor),
      amount_charged_back: toSafeInteger(sum.chargedBackMinor),
    })),
  };
}

export function partJson(part: PartSummary) {
  const isPayment = part.kind === 'payment';
  return {
    kind: part.kind,
    id: part.id,
    status: part.status,
    stage: part.stage,
    currency: part.currency,
    amount: part.amountMinor,
    amount_authorized: isPayment ? part.authorizedMinor : null,
    amount_captured: isPayment ? part.capturedMinor : null,
    decline: declineJson(part),
    reason: describeReason(part.kind, part.status, part) ?? null,
    uncertainties: [...part.uncertainties],
    open_findings: [...part.openFindings],
    created_at: isoOrNull(part.createdAt),
    deadline_at: isoOrNull(part.deadlineAt),
  };
}
