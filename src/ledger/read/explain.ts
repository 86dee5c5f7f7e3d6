/** Reads what is stored about an order, at one moment, and explains it. */
import { groupBy } from '../../platform/collections.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import { REGISTERED } from '../../webhooks/orderStatuses.ts';
import { explainPart } from '../domain/explain.ts';
import { explainOrder, type OrderExplanation } from '../domain/explainOrder.ts';
import type { PartExplanation, PartRecord } from '../domain/explanation.ts';
import { refKey } from '../domain/snapshot.ts';
import { readConsistently } from '../store/readConsistently.ts';
import { readEpochs } from '../store/snapshots.ts';
import { resolveOrders } from './orders.ts';
import {
  type PartRow,
  readEntries,
  readEvidence,
  readOpenFindings,
  readPartRows,
  readUnfiledRows,
} from './store/explain.ts';
import type { OrderRow } from './store/orders.ts';

export interface Explanations {
  readonly orders: readonly OrderExplanation[];
  /** Resources of that id without an order: payouts, and children of an unknown payment. */
  readonly resources: readonly PartExplanation[];
}

const MAX_PARTS = 1_000;
/** Of snapshots and of transfers. A fold of some of them would explain another state. */
const MAX_ROWS = 20_000;

/** Explains every order that an id names, by its own id or by a part's. */
export function explainNamed(db: Database, id: string): Promise<Explanations> {
  return readConsistently(db, async (tx) => {
    const orders: OrderExplanation[] = [];
    for (const order of await resolveOrders(tx, { id })) {
      // Of an order that was only registered, nothing is stored that could be explained.
      if (order.status !== REGISTERED) orders.push(await explainStoredOrder(tx, order));
    }
    const unfiled = await readRecords(tx, await readUnfiledRows(tx, id), id);
    return { orders, resources: unfiled.map(explainPart) };
  });
}

async function explainStoredOrder(
  tx: Queryable,
  { orderKey, orderId, status, movedTo }: OrderRow,
): Promise<OrderExplanation> {
  const rows = await readPartRows(tx, orderKey, MAX_PARTS + 1);
  if (rows.length > MAX_PARTS) throw tooLarge(orderId);
  const parts = await readRecords(tx, rows, orderId);
  const openFindings = await readOpenFindings(tx, [`order:${orderKey}`], MAX_ROWS);
  return explainOrder({ orderKey, orderId, storedStatus: status, movedTo, openFindings, parts });
}

async function readRecords(
  tx: Queryable,
  rows: readonly PartRow[],
  name: string,
): Promise<readonly PartRecord[]> {
  if (rows.length === 0) return [];
  const evidence = await readEvidence(tx, rows, MAX_ROWS + 1);
  const entries = await readEntries(tx, rows, MAX_ROWS + 1);
  if (evidence.length > MAX_ROWS || entries.length > MAX_ROWS) throw tooLarge(name);
  const epochs = groupBy(await readEpochs(tx, rows), ({ ref }) => refKey(ref));
  const evidenceByRef = groupBy(evidence, ({ ref }) => refKey(ref));
  const entriesByRef = groupBy(entries.toReversed(), ({ ref }) => refKey(ref));
  const findings = groupBy(
    await readOpenFindings(tx, rows.map(refKey), MAX_ROWS),
    ({ subject }) => subject,
  );
  return rows.map((row): PartRecord => {
    const key = refKey(row);
    return {
      ref: { kind: row.kind, id: row.id },
      evidence: evidenceByRef.get(key) ?? [],
      epochs: epochs.get(key) ?? [],
      contradiction: row.contradiction ?? undefined,
      openFindings: findings.get(key) ?? [],
      transfers: entriesByRef.get(key) ?? [],
      storedHeadHash: row.headHash ?? undefined,
      nextCheckMicros: row.nextCheckMicros ?? undefined,
    };
  });
}

function tooLarge(name: string): OperatorError {
  return new OperatorError(
    `${name} has more than ${MAX_PARTS} parts, or more than ${MAX_ROWS} bodies or transfers, and ` +
      'explaining some of them would explain another state. `npx tallyhook orders show` lists its ' +
      'parts; `npx tallyhook export journal` has every transfer.',
  );
}
