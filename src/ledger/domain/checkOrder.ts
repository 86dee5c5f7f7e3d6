/** Whether an order is what its parts make it. */
import { findingProblems } from './checkResource.ts';
import { columnProblems } from './checks.ts';
import { deriveOrder, type OrderPart, type OrderState, orderIdOf } from './order.ts';
import { type NamedPart, ORDER_FINDING_CLASSES, orderFindings } from './orderFindings.ts';

/** An order as it is stored. Amounts are text: a damaged one must be named, whatever its size. */
export interface StoredOrder {
  readonly orderKey: string;
  readonly orderId: string;
  readonly status: string;
  readonly movedTo: readonly string[];
  /** Classes of the findings that it notes as open about it. */
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

/** Says how an order differs from what `parts` add up to. */
export function orderProblems(
  { orderKey, order, totals }: OrderEntry,
  parts: readonly OrderPart[],
): readonly string[] {
  const derived = derive(parts);
  if (!derived) return ['its parts add up to more than an exact integer holds'];
  if (!order && parts.length === 0 && totals.length === 0) return [];
  const own = order
    ? columnProblems({ orderId: orderIdOf(orderKey), status: derived.status }, { ...order })
    : [`it has ${parts.length} part(s), but is not there`];
  return [...own, ...totalsProblems(derived, totals)];
}

/** Says whether an order without parts tells where they went. */
export function movedProblems(
  { order }: OrderEntry,
  parts: readonly OrderPart[],
): readonly string[] {
  if (!order || parts.length > 0 || order.movedTo.length > 0) return [];
  return ['it has no part, and does not say where its payments went'];
}

/**
 * Says how the findings about an order differ from what its parts show.
 * @param open classes of those that are open
 */
export function orderFindingProblems(
  { orderKey, order }: OrderEntry,
  parts: readonly NamedPart[],
  open: readonly string[],
): readonly string[] {
  // Of an order that is not there, or whose parts add up to no amount, `orderProblems` speaks.
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
    if (!expected) return [`it has totals in ${currency}, but no part in it`];
    if (!found) return [`it lacks totals in ${currency}`];
    return columnProblems({ ...expected }, { ...found }).map((text) => `${currency} ${text}`);
  });
}
