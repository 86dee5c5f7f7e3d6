/** Checks orders against their parts. */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { movedProblems, type OrderEntry, orderProblems } from '../domain/checkOrder.ts';
import {
  readOrderKeys,
  readStoredOrders,
  readStoredParts,
  readStoredTotals,
} from '../store/verifyOrders.ts';
import { type Run, walk } from './walk.ts';

export async function checkOrders(run: Run): Promise<void> {
  await walk<string>(run, 'orders', async (tx, after) => {
    const keys = await readOrderKeys(tx, { afterKey: after ?? '', limit: run.chunkSize });
    if (keys.length > 0) await judgeOrders(run, tx, keys);
    return { last: keys.at(-1), count: keys.length };
  });
}

async function judgeOrders({ tally }: Run, tx: Queryable, keys: readonly string[]): Promise<void> {
  const parts = groupBy(await readStoredParts(tx, keys), ({ orderKey }) => orderKey);
  for (const entry of await readOrderEntries(tx, keys)) {
    const own = parts.get(entry.orderKey) ?? [];
    tally.judge('orders', { subject: orderSubject(entry.orderKey) }, [
      ...orderProblems(entry, own),
      ...movedProblems(entry, own),
    ]);
  }
  tally.looked('orders', keys.length);
}

/** What is stored of orders, in the order of `keys`. */
export async function readOrderEntries(
  tx: Queryable,
  keys: readonly string[],
): Promise<readonly OrderEntry[]> {
  const orders = new Map((await readStoredOrders(tx, keys)).map((row) => [row.orderKey, row]));
  const totals = groupBy(await readStoredTotals(tx, keys), ({ orderKey }) => orderKey);
  return keys.map((orderKey) => ({
    orderKey,
    order: orders.get(orderKey),
    totals: totals.get(orderKey) ?? [],
  }));
}

export function orderSubject(orderKey: string): string {
  return `order:${orderKey}`;
}
