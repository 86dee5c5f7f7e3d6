/** Checks that an order matches its parts. */
import { counted } from '../../platform/counted.ts';
import { findingProblems } from './checkResource.ts';
import { columnProblems } from './checks.ts';
import { deriveOrder, type OrderPart, type OrderState } from './order.ts';
import { type NamedPart, ORDER_FINDING_CLASSES, orderFindings } from './orderFindings.ts';
import { orderIdOf } from './orderKey.ts';

/** An order as stored. Amounts are text, so that a damaged amount of any size can be reported. */
export interface StoredOrder {
  readonly orderKey: string;
  readonly orderId: string;
  readonly status: string;
  readonly movedTo: readonly string[];
  /** Classes of the open findings that its row lists. */
  readonly openFindings: readonly string[];
}

export interface StoredTotals {
  readonly currency: string;
  readonly status: string;
  readonly authorizedMinor: string;
  readonly capturedMinor: string;
  readonly refundedMinor: string;
  readonly refundPendingMinor: string;
  readonly disputedMinor: string;
  readonly chargedBackMinor: string;
}

/** What is stored of one order. */
export interface OrderEntry {
  readonly orderKey: string;
  readonly order: StoredOrder | undefined;
  readonly totals: readonly StoredTotals[];
}

/** Finds differences between an order and the sum of `parts`. */
export function orderProblems(
  { orderKey, order, totals }: OrderEntry,
  parts: readonly OrderPart[],
): readonly string[] {
  const derived = derive(parts);
  if (!derived) return ['its parts add up to more than an exact integer can hold'];
  if (!order && parts.length === 0 && totals.length === 0) return [];
  const own = order
    ? columnProblems({ orderId: orderIdOf(orderKey), status: derived.status }, { ...order })
    : [`it has ${counted(parts.length, 'part')}, but no row`];
  return [...own, ...totalsProblems(derived, totals)];
}

/** Checks that an order without parts names the orders that they moved to. */
export function movedProblems(
  { order }: OrderEntry,
  parts: readonly OrderPart[],
): readonly string[] {
  if (!order || parts.length > 0 || order.movedTo.length > 0) return [];
  return ['it has no parts, and does not name the order that its payments moved to'];
}

/**
 * Finds differences between the findings about an order and those that its parts show.
 * @param open classes of the open findings
 */
export function orderFindingProblems(
  { orderKey, order }: OrderEntry,
  parts: readonly NamedPart[],
  open: readonly string[],
): readonly string[] {
  // `orderProblems` reports an order without a row, and parts that cannot be added up.
  if (!order || !derive(parts)) return [];
  return findingProblems({
    following: ORDER_FINDING_CLASSES,
    shown: orderFindings(orderKey, parts).map((finding) => finding.class),
    noted: order.openFindings,
    open,
  });
}

function derive(parts: readonly OrderPart[]): OrderState | undefined {
  try {
    return deriveOrder(parts);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function totalsProblems(derived: OrderState, stored: readonly StoredTotals[]): readonly string[] {
  const should = new Map(derived.totals.map((total) => [total.currency, total]));
  const is = new Map(stored.map((total) => [total.currency, total]));
  return [...new Set([...should.keys(), ...is.keys()])].flatMap((currency) => {
    const [expected, found] = [should.get(currency), is.get(currency)];
    if (!expected) return [`it has totals in ${currency}, but no part in that currency`];
    if (!found) return [`it has no totals in ${currency}`];
    return columnProblems({ ...expected }, { ...found }).map((text) => `${currency} ${text}`);
  });
}
