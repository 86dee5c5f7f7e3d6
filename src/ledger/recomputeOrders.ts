/** Derives orders anew from all of their parts, in the transaction that changed a part. */
import { groupBy } from '../platform/collections.ts';
import type { Queryable } from '../platform/db/database.ts';
import { deriveOrder } from './domain/order.ts';
import { deleteStaleTotals, type OrderUpdate, updateOrders } from './store/orders.ts';
import { readParts } from './store/resources.ts';

/** Where a resource was filed and where it is filed now. */
export interface OrderChange {
  readonly from: string | null;
  readonly to: string | null;
  /** Money left an order or a currency, so that a total may have nothing to add up any more. */
  readonly leavesTotals: boolean;
}

/** Recomputes every order that `changes` name. The caller holds them. */
export async function recomputeOrders(
  tx: Queryable,
  changes: readonly OrderChange[],
): Promise<void> {
  const orderKeys = [...new Set(changes.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()))];
  if (orderKeys.length === 0) return;
  const parts = groupBy(await readParts(tx, orderKeys), ({ orderKey }) => orderKey);
  const updates = orderKeys.map((orderKey): OrderUpdate => {
    const own = parts.get(orderKey) ?? [];
    const movedTo = own.length > 0 ? [] : destinations(orderKey, changes);
    return { orderKey, movedTo, ...deriveOrder(own) };
  });
  await updateOrders(tx, updates);
  const left = new Set(
    changes.filter(({ leavesTotals }) => leavesTotals).flatMap(({ from, to }) => [from, to]),
  );
  const stale = updates.filter(({ orderKey }) => left.has(orderKey));
  if (stale.length > 0) await deleteStaleTotals(tx, stale);
}

function destinations(orderKey: string, changes: readonly OrderChange[]): readonly string[] {
  return changes.flatMap(({ from, to }) => (from === orderKey && to !== null ? [to] : []));
}
