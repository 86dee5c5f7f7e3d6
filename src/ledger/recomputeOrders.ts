/** Derives orders from all of their parts again, in the transaction that changed a part. */
import { groupBy } from '../platform/collections.ts';
import type { Queryable } from '../platform/db/database.ts';
import { pipelined } from '../platform/db/pipelined.ts';
import { deriveOrder } from './domain/order.ts';
import { orderFindings, orderSubject } from './domain/orderFindings.ts';
import { LockSetChanged } from './lockSetChanged.ts';
import type { SubjectFindings } from './recordFindings.ts';
import {
  deleteStaleTotals,
  insertOrders,
  type OrderUpdate,
  type StoredOrder,
  updateOrders,
  upsertTotals,
} from './store/orders.ts';
import { type PartRow, readParts } from './store/resources.ts';

/** Where a resource was filed and where it is filed now. */
export interface OrderChange {
  readonly from: string | null;
  readonly to: string | null;
  /** Money left an order or a currency, so that a stored total may no longer have any part. */
  readonly leavesTotals: boolean;
  /** Something new is known about the resource; its orders count as updated. */
  readonly isLearned: boolean;
}

/** An order after the change. */
export interface RecomputedOrder extends SubjectFindings {
  readonly orderKey: string;
  readonly status: string;
  readonly parts: readonly PartRow[];
}

/**
 * Recomputes every order that `changes` name. The caller holds them.
 * @param existing orders that exist, by key
 * @throws LockSetChanged if a child was filed under an order that its payment has left, or if another
 * transaction created an order
 * @returns each order with its status and its findings, for the caller to record with others
 */
export async function recomputeOrders(
  tx: Queryable,
  changes: readonly OrderChange[],
  existing: ReadonlyMap<string, StoredOrder>,
): Promise<readonly RecomputedOrder[]> {
  const orderKeys = [...new Set(changes.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()))];
  if (orderKeys.length === 0) return [];
  const parts = groupBy(await readParts(tx, orderKeys), ({ orderKey }) => orderKey);
  for (const own of parts.values()) requireParents(own);
  const movedTo = destinations(changes);
  const derived = orderKeys.map((orderKey) => {
    const own = parts.get(orderKey) ?? [];
    const order = deriveOrder(own);
    return { orderKey, own, order, shown: orderFindings(orderKey, own) };
  });
  const updates = derived.map(({ orderKey, order: { status, totals }, shown }): OrderUpdate => {
    const openFindings = shown.map((finding) => finding.class);
    return { orderKey, movedTo: [...(movedTo.get(orderKey) ?? [])], openFindings, status, totals };
  });
  await writeOrders(tx, {
    updates,
    existing,
    learned: ordersOf(changes.filter(({ isLearned }) => isLearned)),
    left: ordersOf(changes.filter(({ leavesTotals }) => leavesTotals)),
  });
  return derived.map(({ orderKey, own, order, shown }) => ({
    orderKey,
    status: order.status,
    parts: own,
    subject: orderSubject(orderKey),
    shown,
    passed: (existing.get(orderKey)?.openFindings ?? []).filter((name) =>
      shown.every((finding) => finding.class !== name),
    ),
  }));
}

function ordersOf(changes: readonly OrderChange[]): ReadonlySet<string | null> {
  return new Set(changes.flatMap(({ from, to }) => [from, to]));
}

interface WriteInput {
  readonly updates: readonly OrderUpdate[];
  readonly existing: ReadonlyMap<string, StoredOrder>;
  /** Orders with a part about which something new is known. */
  readonly learned: ReadonlySet<string | null>;
  /** Orders that may have a stored total without any part. */
  readonly left: ReadonlySet<string | null>;
}

/** An order about which nothing is new and that is derived as before is not written again. */
async function writeOrders(
  tx: Queryable,
  { updates, existing, learned, left }: WriteInput,
): Promise<void> {
  const fresh = updates.filter(({ orderKey }) => !existing.has(orderKey));
  const older = updates.filter((update) => {
    const stored = existing.get(update.orderKey);
    return stored && (learned.has(update.orderKey) || isOtherwise(update, stored));
  });
  const stale = updates.filter(({ orderKey }) => left.has(orderKey));
  const [created] = await pipelined([
    fresh.length > 0 ? insertOrders(tx, fresh) : [],
    older.length > 0 ? updateOrders(tx, older) : undefined,
    upsertTotals(tx, updates),
    stale.length > 0 ? deleteStaleTotals(tx, stale) : undefined,
  ]);
  if (created.length < fresh.length) throw new LockSetChanged([]);
}

function isOtherwise(update: OrderUpdate, stored: StoredOrder): boolean {
  return (
    update.status !== stored.status ||
    update.movedTo.length > 0 ||
    update.openFindings.join() !== stored.openFindings.join()
  );
}

/** Under the locks no payment can leave an order, so a missing parent left before they were taken. */
function requireParents(parts: readonly PartRow[]): void {
  const payments = new Set(parts.flatMap(({ kind, id }) => (kind === 'payment' ? [id] : [])));
  const lost = parts.some(({ paymentId }) => paymentId !== null && !payments.has(paymentId));
  if (lost) throw new LockSetChanged([]);
}

/** The orders that payments of each order moved to. Refunds and disputes move with their payment. */
function destinations(changes: readonly OrderChange[]): ReadonlyMap<string, ReadonlySet<string>> {
  const moves = changes.flatMap(({ from, to }) =>
    from === null || to === null || from === to ? [] : [{ from, to }],
  );
  const byOrder = groupBy(moves, ({ from }) => from);
  return new Map(
    Array.from(byOrder, ([orderKey, own]) => [orderKey, new Set(own.map(({ to }) => to))]),
  );
}
