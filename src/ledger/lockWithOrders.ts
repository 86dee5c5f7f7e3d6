/**
 * Locks resources after the orders that they are filed under (invariant 5), for transactions that change neither
 * the state of a resource nor an order. A worker that holds an order writes its parts in any order, so whoever
 * locked some of them without the order could deadlock with it.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import { LockSetChanged } from './lockSetChanged.ts';
import { lockOrders } from './store/orders.ts';
import { lockResources, type ResourceRow, readPlacements } from './store/resources.ts';

/** @throws LockSetChanged if a resource was filed elsewhere before it was locked */
export async function lockWithOrders(
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<readonly ResourceRow[]> {
  const placements = await readPlacements(tx, refs);
  const orderKeys = new Set(placements.flatMap(({ orderKey }) => orderKey ?? []));
  if (orderKeys.size > 0) await lockOrders(tx, [...orderKeys]);
  const rows = await lockResources(tx, refs);
  const moved = rows.flatMap(({ orderKey }) =>
    orderKey === null || orderKeys.has(orderKey) ? [] : [orderKey],
  );
  if (moved.length > 0) throw new LockSetChanged(moved);
  return rows;
}
