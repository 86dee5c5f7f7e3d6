/** Checks orders against their parts. */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import {
  movedProblems,
  type OrderEntry,
  orderFindingProblems,
  orderProblems,
} from '../domain/checkOrder.ts';
import { orderSubject } from '../domain/orderFindings.ts';
import {
  readOrderKeys,
  readStoredOrders,
  readStoredParts,
  readStoredTotals,
} from '../store/verifyOrders.ts';
import { readOpenFindings } from '../store/verifyResources.ts';
import { type Bounds, type Run, walk } from './walk.ts';

export async function checkOrders(run: Run, { after, until }: Bounds<string> = {}): Promise<void> {
  await walk<string>(
    run,
    'orders',
    async (tx, afterKey = '') => {
      const keys = await readOrderKeys(tx, { afterKey, untilKey: until, limit: run.chunkSize });
      await checkKeys(run, tx, keys);
      return { last: keys.at(-1), count: keys.length };
    },
    after,
  );
}

/** Checks named orders in the snapshot of `tx`. */
export async function checkKeys(
  { tally }: Run,
  tx: Queryable,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  const parts = groupBy(await readStoredParts(tx, keys), ({ orderKey }) => orderKey);
  const open = await readOpenFindings(tx, keys.map(orderSubject));
  const findings = groupBy(open, ({ subject }) => subject);
  for (const entry of await readOrderEntries(tx, keys)) {
    const own = parts.get(entry.orderKey) ?? [];
    const subject = orderSubject(entry.orderKey);
    tally.report('orders', { subject }, [
      ...orderProblems(entry, own),
      ...movedProblems(entry, own),
    ]);
    const classes = (findings.get(subject) ?? []).map((finding) => finding.class);
    tally.report('order_findings', { subject }, orderFindingProblems(entry, own, classes));
  }
  tally.addChecked('orders', keys.length);
  tally.addChecked('order_findings', keys.length);
}

/** Stored orders with their totals, in the order of `keys`. */
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
