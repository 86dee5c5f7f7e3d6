/** Records what a transaction changed for the change feed (domain/changes.ts). */
import type { Queryable } from '../platform/db/database.ts';
import { changesOf } from './domain/changes.ts';
import { type History, isImportedHistory } from './domain/importedHistory.ts';
import type { Merged } from './domain/mergeObservations.ts';
import { insertChanges, readWithNews } from './store/changes.ts';
import type { StoredOrder } from './store/orders.ts';
import type { ResourceRow, ResourceUpdate } from './store/resources.ts';

export interface Applied {
  readonly row: ResourceRow;
  readonly orderKey: string | null;
  readonly merged: Merged | undefined;
  readonly update: ResourceUpdate | undefined;
  /** Inbox number of the last event that contributed. */
  readonly causedBy: number | undefined;
}

type OrderWithStatus = Pick<StoredOrder, 'orderKey' | 'status'>;

export interface OrdersTouched {
  readonly before: ReadonlyMap<string, OrderWithStatus>;
  readonly after: readonly OrderWithStatus[];
  /** As in applySnapshots. */
  readonly history: History | undefined;
}

/** Records the changes, after the orders are recomputed. */
export async function recordChanges(
  tx: Queryable,
  applied: readonly Applied[],
  { before, after, history }: OrdersTouched,
): Promise<void> {
  const imported = applied.filter(({ row, merged }) =>
    isImportedHistory(row.status, merged?.state ?? {}, history),
  );
  const withNews: ReadonlySet<string> =
    imported.length > 0 ? await ordersWithNews(tx, imported, before) : new Set();
  const past = new Set(imported.filter((one) => !ordersOf(one).some((key) => withNews.has(key))));
  const changes = changesOf(
    applied.map((one) => ({
      kind: one.row.kind,
      id: one.row.id,
      previousStatus: one.row.status,
      status: one.update?.status ?? one.row.status,
      from: one.row.orderKey,
      to: one.orderKey,
      isLearned: isLearned(one),
      isHistory: past.has(one),
      webhookEventId: one.causedBy,
    })),
    { before: statusesOf(before.values()), after: statusesOf(after) },
  );
  if (changes.length > 0) await insertChanges(tx, changes);
}

/**
 * The orders of imported resources about which the shop may have been sent something: what an import adds to such an
 * order is news. It may be the payment that an event named, or another payment of an order that is known.
 */
async function ordersWithNews(
  tx: Queryable,
  imported: readonly Applied[],
  known: OrdersTouched['before'],
): Promise<ReadonlySet<string>> {
  const orderKeys = [...new Set(imported.flatMap(ordersOf))].filter((key) => known.has(key));
  return orderKeys.length > 0 ? await readWithNews(tx, orderKeys) : new Set();
}

function ordersOf({ row, orderKey }: Applied): readonly string[] {
  return [row.orderKey, orderKey].filter((key) => key !== null);
}

function statusesOf(orders: Iterable<OrderWithStatus>): ReadonlyMap<string, string> {
  return new Map(Array.from(orders, ({ orderKey, status }) => [orderKey, status]));
}

/** Whether the ledger knows more about a resource than before, or other findings hold. */
export function isLearned({ row, merged, update }: Applied): boolean {
  if (!merged || !update) return false;
  return (
    merged.added.length > 0 ||
    merged.openedEpochs.length > 0 ||
    update.open_findings.join() !== row.openFindings.join()
  );
}
