/**
 * Orders as a shop reads them: the ledger's state beside the amount that the shop registered. A
 * registered order is there before its first event.
 */
import type { ResourceKind } from '../../contract/resources/index.ts';
import { groupBy } from '../../platform/collections.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { type Compared, compareExpected } from '../domain/expectation.ts';
import { orderKeyOf, orderKeysNamed } from '../domain/orderKey.ts';
import { type ExpectationRow, readExpectations } from '../store/expectations.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { findOrderRows, type OrderRow } from './store/orders.ts';
import {
  MAX_PARTS,
  type OrderTotalsRow,
  type PartPlace,
  type PartSummary,
  readOrderParts,
  readPartPage,
  readTotals,
} from './store/parts.ts';
import { readOrderTimeline, type Timeline } from './timeline.ts';

/** What kind of id it is: the shop's order id, or the id of a payment. */
export const ORDER_NAMES = ['order', 'payment'] as const;
export type OrderName = (typeof ORDER_NAMES)[number];

export interface NamedOrder {
  readonly id: string;
  /** Undefined: an order id or key, or the id of a payment, refund or dispute, in this order. */
  readonly by?: OrderName | undefined;
}

export interface ReadOrder extends OrderRow {
  readonly totals: readonly OrderTotalsRow[];
  readonly expected: (ExpectationRow & Compared) | undefined;
}

/** The parts of an order that are returned, payments first. */
export interface OrderParts {
  readonly parts: readonly PartSummary[];
  readonly arePartsComplete: boolean;
}

export interface ReadOrderDetail extends ReadOrder, OrderParts, Timeline {}

/** The kinds of resources by which an id finds an order, by the kind of id. */
const NAMING_KINDS = {
  any: ['payment', 'refund', 'dispute'],
  order: [],
  payment: ['payment'],
} as const satisfies Record<OrderName | 'any', readonly ResourceKind[]>;

/**
 * The orders that an id names, best match first: the shop's order of this id or key, the payment of
 * this id that names no order, then the orders of a payment, refund or dispute of this id.
 */
export function resolveOrders(db: Queryable, { id, by }: NamedOrder): Promise<readonly OrderRow[]> {
  return findOrderRows(db, {
    orderKeys: by === undefined ? orderKeysNamed(id) : [orderKeyNamed({ id, by })],
    resource: { kinds: NAMING_KINDS[by ?? 'any'], id },
  });
}

/** The best match of `resolveOrders`; undefined when neither the ledger nor the shop knows one. */
export async function resolveOrder(db: Queryable, name: NamedOrder): Promise<OrderRow | undefined> {
  return (await resolveOrders(db, name))[0];
}

/** The key that an order has, or will have. */
export function orderKeyNamed({ id, by = 'order' }: NamedOrder): string {
  return by === 'order' ? orderKeyOf({ id, orderId: id }) : orderKeyOf({ id });
}

/** One order with its parts and its timeline, all from one moment. */
export function readOrder(db: Database, name: NamedOrder): Promise<ReadOrderDetail | undefined> {
  return readConsistently(db, async (tx) => {
    const row = await resolveOrder(tx, name);
    const [order] = row ? await addMoney(tx, [row]) : [];
    if (!order) return undefined;
    const parts = limitParts(await readOrderParts(tx, order.orderKey));
    return { ...order, ...parts, ...(await readOrderTimeline(tx, order.orderKey)) };
  });
}

/** Every order that an id names, with its parts and timeline, all from one moment. */
export function readOrdersNamed(db: Database, id: string): Promise<readonly ReadOrderDetail[]> {
  return readConsistently(db, async (tx) => {
    const found: ReadOrderDetail[] = [];
    for (const order of await addMoney(tx, await resolveOrders(tx, { id }))) {
      const parts = limitParts(await readOrderParts(tx, order.orderKey));
      found.push({ ...order, ...parts, ...(await readOrderTimeline(tx, order.orderKey)) });
    }
    return found;
  });
}

/**
 * Some of the parts of the order that an id names best, in pages.
 * @returns undefined when neither the ledger nor the shop knows such an order
 */
export async function readOrderPartPage(
  db: Queryable,
  name: NamedOrder,
  page: { readonly after: PartPlace | undefined; readonly limit: number },
): Promise<readonly PartSummary[] | undefined> {
  const row = await resolveOrder(db, name);
  return row && (await readPartPage(db, row.orderKey, page));
}

/** @param read one more than the limit, if there are so many */
export function limitParts(read: readonly PartSummary[]): OrderParts {
  return { parts: read.slice(0, MAX_PARTS), arePartsComplete: read.length <= MAX_PARTS };
}

/** One order without its parts. */
export async function readOrderSummary(
  db: Queryable,
  orderKey: string,
): Promise<ReadOrder | undefined> {
  const rows = await findOrderRows(db, {
    orderKeys: [orderKey],
    resource: { kinds: [], id: orderKey },
  });
  return (await addMoney(db, rows))[0];
}

/** Adds what orders brought and what they were expected to bring. */
export async function addMoney(
  db: Queryable,
  rows: readonly OrderRow[],
): Promise<readonly ReadOrder[]> {
  const orderKeys = rows.map(({ orderKey }) => orderKey);
  const totals = groupBy(await readTotals(db, orderKeys), ({ orderKey }) => orderKey);
  const expectations = new Map(
    (await readExpectations(db, orderKeys)).map((one) => [one.orderKey, one]),
  );
  return rows.map((row) => {
    const own = totals.get(row.orderKey) ?? [];
    const expected = expectations.get(row.orderKey);
    return {
      ...row,
      totals: own,
      expected: expected && { ...expected, ...compareExpected(expected, own) },
    };
  });
}
