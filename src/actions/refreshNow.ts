/** Retrieves an order or a resource while a person waits, within a bounded time, and records who requested it. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import { type ResourceRef, refKey } from '../ledger/domain/snapshot.ts';
import { orderKeyOfSubject } from '../ledger/read/orderOfSubject.ts';
import type { NamedOrder } from '../ledger/read/orders.ts';
import type { Database } from '../platform/db/database.ts';
import type { Refreshed, Refresher } from '../reconcile/refreshOnRead.ts';

export interface RefreshNowParts {
  readonly db: Database;
  readonly refresher: Refresher;
}

/** @param name an order; the ledger need not have it */
export function refreshOrderAs(
  { db, refresher }: RefreshNowParts,
  actor: Actor,
  name: NamedOrder & { readonly orderKey: string },
): Promise<Refreshed> {
  const { orderKey, ...order } = name;
  const of = { subject: { kind: 'order', id: order.id }, orderKey };
  return record(db, { actor, ...of }, () => refresher.order(order));
}

export async function refreshResourceAs(
  { db, refresher }: RefreshNowParts,
  actor: Actor,
  ref: ResourceRef,
): Promise<Refreshed> {
  const of = { subject: ref, orderKey: await orderKeyOfSubject(db, refKey(ref)) };
  return await record(db, { actor, ...of }, () => refresher.resource(ref));
}

interface Of {
  readonly actor: Actor;
  readonly subject: { readonly kind: string; readonly id: string };
  readonly orderKey: string | null;
}

function record(db: Database, of: Of, retrieve: () => Promise<Refreshed>): Promise<Refreshed> {
  return recordAttempt<Refreshed>(db, { ...of, action: 'resource.refresh' }, async () => {
    const refreshed = await retrieve();
    if (refreshed.outcome === 'fresh') return { value: refreshed, result: 'done' };
    const { outcome, reason } = refreshed;
    return { value: refreshed, result: 'failed', detail: { outcome, error: reason } };
  });
}
