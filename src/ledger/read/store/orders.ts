/** Statements that read orders for programs: by id, and page by page. */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { OrderStatus, REGISTERED } from '../../../webhooks/orderStatuses.ts';
import { micros } from './instants.ts';
import { MAX_PARTS, PART_COLUMNS, PART_ORDER, type PartSummary } from './parts.ts';

/** An order that the ledger or the shop knows. */
export interface OrderRow {
  readonly orderKey: string;
  readonly orderId: string;
  readonly status: OrderStatus | typeof REGISTERED;
  readonly movedTo: readonly string[];
  /** Microseconds since 1970: a cursor must not lose digits. */
  readonly firstSeenMicros: number;
  readonly updatedMicros: number;
}

/** An order with at least one event. */
export interface ListedOrder extends OrderRow {
  readonly status: OrderStatus;
}

/**
 * The orders of the ledger or the shop that an id names: first those with one of `orderKeys`, then
 * those with a resource of this id. Each is reached by an index. There is at most one for each key and
 * one for each kind.
 */
export function findOrderRows(
  db: Queryable,
  named: {
    readonly orderKeys: readonly string[];
    readonly resource: { readonly kinds: readonly ResourceKind[]; readonly id: string };
  },
): Promise<readonly OrderRow[]> {
  return db.query<OrderRow>(
    `select known.order_key as "orderKey", coalesce(o.order_id, e.order_id) as "orderId",
            coalesce(o.status, 'registered') as status, coalesce(o.moved_to, '{}') as "movedTo",
            ${micros('coalesce(o.first_seen_at, e.registered_at)')} as "firstSeenMicros",
            ${micros('coalesce(o.updated_at, e.registered_at)')} as "updatedMicros"
       from (select order_key, min(rank) as rank
               from (select order_key, 1 as rank from orders where order_key = any ($1::text[])
                     union all
                     select order_key, 1 from order_expectations
                      where order_key = any ($1::text[]) and replaced_at is null
                     union all
                     select order_key, 2 from resources
                      where kind = any ($2::text[]) and id = $3 and order_key is not null) candidate
              group by order_key
              order by min(rank), order_key
              limit $4) known
       left join orders o on o.order_key = known.order_key
       left join order_expectations e
         on e.order_key = known.order_key and e.replaced_at is null
      order by known.rank, known.order_key`,
    [
      named.orderKeys,
      named.resource.kinds,
      named.resource.id,
      named.orderKeys.length + named.resource.kinds.length,
    ],
  );
}

/** Orders of the ledger by their keys. */
export function readRowsOf(
  db: Queryable,
  orderKeys: readonly string[],
): Promise<readonly ListedOrder[]> {
  return db.query<ListedOrder>(
    `select order_key as "orderKey", order_id as "orderId", status, moved_to as "movedTo",
            ${micros('first_seen_at')} as "firstSeenMicros",
            ${micros('updated_at')} as "updatedMicros"
       from orders
      where order_key = any ($1::text[])
      order by order_key
      limit $2`,
    [orderKeys, orderKeys.length],
  );
}

/** The parts of orders, each order's as `readOrderParts` has them. */
export function readPartsOf(
  db: Queryable,
  orderKeys: readonly string[],
): Promise<readonly (PartSummary & { readonly orderKey: string })[]> {
  return db.query(
    `select part.*
       from unnest($1::text[]) as wanted (order_key)
      cross join lateral (
        select order_key as "orderKey", ${PART_COLUMNS}
          from resources r
         where r.order_key = wanted.order_key
         order by ${PART_ORDER}
         limit ${MAX_PARTS + 1}) as part`,
    [orderKeys],
  );
}

/** The numbers of the last changes of an order, newest first. */
export async function readChangeNumbers(
  db: Queryable,
  { orderKey, limit }: { readonly orderKey: string; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await db.query<{ number: number }>(
    'select number from changes where order_key = $1 order by number desc limit $2',
    [orderKey, limit],
  );
  return rows.map(({ number }) => number);
}
