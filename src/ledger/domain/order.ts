/**
 * An order is derived from its parts: the payments, refunds and disputes that carry its key.
 *
 * 1. Amounts add up per currency; nothing is ever converted or added across currencies.
 * 2. Each currency has a status, the first of ORDER_STATUSES that applies. The order's status is
 *    the first over its currencies and its parts of unknown currency.
 * 3. Only an order that keeps no captured money in any currency is refunded: otherwise it is partially refunded.
 * 4. Payouts never enter an order.
 */
import { sumMinor } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import { groupBy } from '../../platform/collections.ts';
import { ORDER_STATUSES, type OrderStatus } from '../../webhooks/orderStatuses.ts';

/** The fields of a part that an order is derived from. */
export interface OrderPart {
  readonly kind: ResourceKind;
  readonly status: string | undefined;
  readonly stage: string | undefined;
  readonly currency: string | undefined;
  readonly amountMinor: number | undefined;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
}

/** Money of one order in one currency, in minor units. */
export interface OrderTotals {
  readonly currency: string;
  readonly status: OrderStatus;
  /** Held and still capturable. */
  readonly authorizedMinor: number;
  /** Captured and not voided later. */
  readonly capturedMinor: number;
  readonly refundedMinor: number;
  readonly refundPendingMinor: number;
  /** Under dispute and undecided. */
  readonly disputedMinor: number;
  /** Lost to disputes. */
  readonly chargedBackMinor: number;
}

export interface OrderState {
  readonly status: OrderStatus;
  readonly totals: readonly OrderTotals[];
}

/**
 * Derives an order from all of its parts.
 * @throws RangeError if a sum exceeds the range of exact integers
 */
export function deriveOrder(parts: readonly OrderPart[]): OrderState {
  const byCurrency = groupBy(parts, ({ currency }) => currency);
  const statuses = (byCurrency.get(undefined) ?? []).map((): OrderStatus => 'pending');
  const totals = [...byCurrency]
    .flatMap(([currency, of]) => (currency === undefined ? [] : [deriveTotals(currency, of)]))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
  return { status: statusOver([...statuses, ...totals.map(({ status }) => status)]), totals };
}

/** Statuses of a currency of which the order keeps captured money. */
const KEEPS_MONEY: ReadonlySet<OrderStatus> = new Set([
  'partially_refunded',
  'paid',
  'partially_captured',
]);

/** The status of the order (invariants 2 and 3). */
function statusOver(statuses: readonly OrderStatus[]): OrderStatus {
  const status = first(statuses);
  const isPart = status === 'refunded' && statuses.some((one) => KEEPS_MONEY.has(one));
  return isPart ? 'partially_refunded' : status;
}

function deriveTotals(currency: string, parts: readonly OrderPart[]): OrderTotals {
  const sum = (name: OrderAmount) => sumMinor(parts.map(PART_AMOUNTS[name]));
  const capturedMinor = sum('capturedMinor');
  const refundedMinor = sum('refundedMinor');
  const disputedMinor = sum('disputedMinor');
  const chargedBackMinor = sum('chargedBackMinor');
  return {
    currency,
    status: statusIn(parts, { capturedMinor, refundedMinor, disputedMinor, chargedBackMinor }),
    authorizedMinor: sum('authorizedMinor'),
    capturedMinor,
    refundedMinor,
    refundPendingMinor: sum('refundPendingMinor'),
    disputedMinor,
    chargedBackMinor,
  };
}

/** Dispute outcomes in which the merchant loses the disputed amount. */
const LOST = new Set(['lost', 'accepted', 'expired']);

export type OrderAmount = Exclude<keyof OrderTotals, 'currency' | 'status'>;

/** What one part adds to each amount of its order. */
export const PART_AMOUNTS: Readonly<Record<OrderAmount, (part: OrderPart) => number>> = {
  authorizedMinor: openHold,
  capturedMinor: keptCapture,
  refundedMinor: amountIf('refund', (status) => status === 'succeeded'),
  refundPendingMinor: amountIf('refund', (status) => !FINAL_STATUSES.refund.has(status)),
  disputedMinor: amountIf('dispute', (status) => !FINAL_STATUSES.dispute.has(status)),
  chargedBackMinor: amountIf('dispute', (status) => LOST.has(status)),
};

function openHold({ kind, status, authorizedMinor, capturedMinor }: OrderPart): number {
  if (kind !== 'payment' || FINAL_STATUSES.payment.has(status ?? '')) return 0;
  return Math.max(0, authorizedMinor - capturedMinor);
}

function keptCapture({ kind, status, capturedMinor }: OrderPart): number {
  return kind === 'payment' && status !== 'cancelled_post_capture' ? capturedMinor : 0;
}

/** A dispute at the stage `pre_dispute` is an inquiry by the bank: no money has moved. */
function amountIf(kind: ResourceKind, counts: (status: string) => boolean) {
  return (part: OrderPart): number =>
    part.kind === kind &&
    part.status !== undefined &&
    part.stage !== 'pre_dispute' &&
    counts(part.status)
      ? (part.amountMinor ?? 0)
      : 0;
}

type DecidingAmount = 'capturedMinor' | 'refundedMinor' | 'disputedMinor' | 'chargedBackMinor';

/** The status in one currency (invariant 2). */
function statusIn(
  parts: readonly OrderPart[],
  amounts: Pick<OrderTotals, DecidingAmount>,
): OrderStatus {
  if (amounts.chargedBackMinor > 0) return 'charged_back';
  if (amounts.disputedMinor > 0) return 'disputed';
  const payments = parts.filter(({ kind }) => kind === 'payment');
  if (amounts.refundedMinor > 0) {
    return isAllRefunded(payments, amounts) ? 'refunded' : 'partially_refunded';
  }
  // Refunds and disputes that moved no money do not affect the status.
  return payments.length === 0 ? 'pending' : first(payments.map(paymentStatusWord));
}

/**
 * A refund shows that something was captured. If no capture is known, its event may be late, and the refund one of a
 * part, unless the payments ended without one: a void took it back.
 */
function isAllRefunded(
  payments: readonly OrderPart[],
  { refundedMinor, capturedMinor }: Pick<OrderTotals, DecidingAmount>,
): boolean {
  if (capturedMinor > 0) return refundedMinor >= capturedMinor;
  return (
    payments.length > 0 && payments.every(({ status }) => FINAL_STATUSES.payment.has(status ?? ''))
  );
}

/** The status of an order with this payment alone. */
export function paymentStatusWord({
  status,
  capturedMinor,
}: Pick<OrderPart, 'status' | 'capturedMinor'>): OrderStatus {
  switch (status) {
    case 'succeeded':
      return 'paid';
    case 'partially_captured':
    case 'partially_captured_and_capturable':
    case 'partially_captured_and_processing':
      return 'partially_captured';
    case 'requires_capture':
    case 'partially_authorized_and_requires_capture':
      return capturedMinor > 0 ? 'partially_captured' : 'authorized';
    case 'expired':
      return capturedMinor > 0 ? 'partially_captured' : 'expired';
    case 'cancelled':
      return capturedMinor > 0 ? 'partially_captured' : 'cancelled';
    case 'cancelled_post_capture':
      return 'cancelled';
    case 'failed':
      return capturedMinor > 0 ? 'partially_captured' : 'failed';
    default:
      return capturedMinor > 0 ? 'partially_captured' : 'pending';
  }
}

function first(statuses: readonly OrderStatus[]): OrderStatus {
  return ORDER_STATUSES.find((status) => statuses.includes(status)) ?? 'moved';
}
