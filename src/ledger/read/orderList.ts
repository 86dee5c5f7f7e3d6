/** Lists of orders: pages and totals of a filter. */
import type { Database } from '../../platform/db/database.ts';
import { linkedPages } from '../../platform/keyset.ts';
import { ORDER_STATUSES, REGISTERED } from '../../webhooks/orderStatuses.ts';
import type { ListPage, Place } from '../domain/listPage.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { addMoney, type ReadOrder } from './orders.ts';
import {
  isSearched,
  MAX_SCANNED_ORDERS,
  type OrderFilter,
  type OrderScan,
  type OrderSum,
  readRegisteredRows,
  scanOrders,
  sumOrders,
} from './store/orderList.ts';
import type { OrderRow } from './store/orders.ts';

export interface OrderQuery extends OrderFilter {
  /** Undefined: every order with an event. `registered`: those without any. */
  readonly status?: OrderRow['status'] | undefined;
}

/**
 * A page of orders, newest first. With a filter by money it may be shorter than the limit, or empty,
 * although there is a next one: a page searches a bounded number of orders.
 */
export function readOrderPage(
  db: Database,
  { status, ...filter }: OrderQuery,
  { after, limit }: { readonly after: Place | undefined; readonly limit: number },
): Promise<ListPage<ReadOrder>> {
  return readConsistently(db, async (tx) => {
    const scan = { ...filter, statuses: statusesOf(status), after };
    const found =
      status === REGISTERED
        ? { rows: await readRegisteredRows(tx, scan, limit + 1), end: undefined }
        : await scanOrders(tx, scan, limit + 1);
    const rows = await addMoney(tx, found.rows.slice(0, limit));
    const last = rows.at(-1);
    if (found.rows.length > limit && last) return { rows, next: placeOfOrder(last) };
    return { rows, next: isSearched(filter) ? found.end : undefined };
  });
}

/** Every order of a filter from a place on, page by page, each page from its own moment. */
export function readAllOrders(
  db: Database,
  query: OrderQuery,
  { from, limit }: { readonly from?: Place | undefined; readonly limit: number },
): AsyncIterable<readonly ReadOrder[]> {
  return linkedPages(from, (after) => readOrderPage(db, query, { after, limit }));
}

export interface OrderListTotals {
  readonly count: number;
  /** False: there are more orders than were counted, and the sums are those of the counted ones. */
  readonly isComplete: boolean;
  readonly currencies: readonly OrderSum[];
}

/** The number of orders that match a filter and their money, among the newest orders. */
export function readOrderListTotals(
  db: Database,
  { status, ...filter }: OrderQuery,
): Promise<OrderListTotals> {
  return readConsistently(db, async (tx) => {
    if (status === REGISTERED) {
      const rows = await readRegisteredRows(tx, filter, MAX_SCANNED_ORDERS);
      return { count: rows.length, isComplete: rows.length < MAX_SCANNED_ORDERS, currencies: [] };
    }
    const scan: OrderScan = { ...filter, statuses: statusesOf(status) };
    const { scanned, matches, currencies } = await sumOrders(tx, scan);
    return { count: matches, isComplete: scanned < MAX_SCANNED_ORDERS, currencies };
  });
}

function statusesOf(status: OrderRow['status'] | undefined): OrderScan['statuses'] {
  if (status === undefined) return ORDER_STATUSES;
  return status === REGISTERED ? [] : [status];
}

export function placeOfOrder({ firstSeenMicros, orderKey }: OrderRow): Place {
  return { atMicros: firstSeenMicros, id: orderKey };
}
