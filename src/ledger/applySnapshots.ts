/**
 * The one way to change the ledger. Webhooks, reconciliation, replay and operators all end here.
 *
 * Locks, always in this order: orders (old and new, by key), then resources (by kind and id). Rows
 * that this transaction creates are locked by being created, before any existing one is waited for,
 * so two transactions can never wait for each other.
 *
 * 1. load: what is filed where (unlocked), lock it, read what is known under the locks
 * 2. decide: mergeLooks for each resource, deriveOrder for each order (pure)
 * 3. write: snapshots, epochs, resources, orders, findings, each as one set
 *
 * The orders to lock follow from a read before the lock. If a resource turns out to be filed
 * elsewhere, OrdersMoved tells the caller to start its transaction over with that order included.
 */
import { groupBy } from '../platform/collections.ts';
import type { Queryable } from '../platform/db/database.ts';
import { stateFindings } from './domain/findings.ts';
import { transfersFor } from './domain/legs.ts';
import { type Known, type Look, type Merged, mergeLooks } from './domain/mergeLooks.ts';
import { orderIdOf, orderKeyOf } from './domain/order.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import { type Filing, type FilingInput, fileResources, refKey } from './filing.ts';
import { OrdersMoved } from './ordersMoved.ts';
import { recomputeOrders } from './recomputeOrders.ts';
import { toUpdate } from './resourceUpdate.ts';
import { insertTransfers, type NewTransfer } from './store/journal.ts';
import { deleteOrders, insertOrders, lockOrders } from './store/orders.ts';
import {
  insertStubs,
  lockResources,
  markCheckDue,
  moveChildren,
  type ResourceRow,
  type ResourceUpdate,
  readFilings,
  updateResources,
} from './store/resources.ts';
import { insertEpoch, insertSnapshots, readEpochs, readSnapshots } from './store/snapshots.ts';
import { type SubjectFindings, writeFindings } from './writeFindings.ts';

export interface ApplyInput extends FilingInput {
  /** Orders that an earlier try found it needs (OrdersMoved). */
  readonly alsoLock: readonly string[];
}

/**
 * Applies looks at resources in the caller's transaction.
 * @throws OrdersMoved when the transaction must be started over
 */
export async function applySnapshots(tx: Queryable, input: ApplyInput): Promise<void> {
  if (input.looks.length === 0 && input.suspects.length === 0) return;
  const { filing, rows, created, createdOrders, orderFindings } = await lockAll(tx, input);
  const merged = await mergeAll(tx, { rows, looks: input.looks, created });
  const placed = placeInOrders({ rows, merged, filing });

  const added = [...merged.values()].flatMap((one) => one.added);
  if (added.length > 0) await insertSnapshots(tx, added);
  for (const [key, { openedEpochs }] of merged) {
    const ref = filing.refs.find((candidate) => refKey(candidate) === key);
    for (const epoch of openedEpochs) if (ref) await insertEpoch(tx, { ref, ...epoch });
  }
  const updates = placed.flatMap(({ update }) => (update ? [update] : []));
  if (updates.length > 0) await updateResources(tx, updates);
  const transfers = placed.flatMap((one) => one.transfers);
  if (transfers.length > 0) await insertTransfers(tx, transfers);
  if (input.suspects.length > 0) await markCheckDue(tx, input.suspects);
  const movedPayments = placed.filter(({ row, orderKey }) => isMoved(row, orderKey));
  if (movedPayments.length > 0)
    await moveChildren(
      tx,
      movedPayments.map(({ row }) => row.id),
    );
  const ordersShow = await recomputeOrders(
    tx,
    placed.map(({ row, orderKey, update }) => ({
      from: row.orderKey,
      to: orderKey,
      leavesTotals:
        (row.orderKey !== null && row.orderKey !== orderKey) ||
        (row.currency !== null && update !== undefined && update.currency !== row.currency),
    })),
    orderFindings,
  );
  const used = new Set(placed.map(({ orderKey }) => orderKey));
  const unused = [...createdOrders].filter((orderKey) => !used.has(orderKey));
  if (unused.length > 0) await deleteOrders(tx, unused);
  await writeFindings(tx, [...ordersShow, ...resourcesShow(rows, merged)]);
}

function isMoved(row: ResourceRow, orderKey: string | null): boolean {
  return row.kind === 'payment' && row.orderKey !== null && row.orderKey !== orderKey;
}

interface Locked {
  readonly filing: Filing;
  /** Every resource of `filing.refs`, as it stands. */
  readonly rows: readonly ResourceRow[];
  /** Those that had no row before, by their key. */
  readonly created: ReadonlySet<string>;
  readonly createdOrders: ReadonlySet<string>;
  /** Classes of findings that stand open about the orders, by key. */
  readonly orderFindings: ReadonlyMap<string, readonly string[]>;
}

/** Finds where everything is filed, creates what is missing, and locks orders and resources. */
async function lockAll(tx: Queryable, input: ApplyInput): Promise<Locked> {
  const mentioned = [
    ...input.suspects,
    ...input.looks.map(({ ref }) => ref),
    ...input.looks.flatMap(({ content }) => parentRef(content.paymentId)),
  ];
  const stored = await readFilings(tx, distinctRefs(mentioned));
  const known = new Set(stored.map(refKey));
  const parents = stored
    .flatMap(({ paymentId }) => parentRef(paymentId ?? undefined))
    .filter((ref) => !known.has(refKey(ref)));
  const storedParents = parents.length > 0 ? await readFilings(tx, distinctRefs(parents)) : [];
  const filing = fileResources(input, [...stored, ...storedParents]);

  const orderKeys = [...new Set([...filing.orderKeys, ...input.alsoLock])].sort();
  const createdOrders = new Set(
    await insertOrders(
      tx,
      orderKeys.map((orderKey) => ({ orderKey, orderId: orderIdOf(orderKey) })),
    ),
  );
  const existing = orderKeys.filter((orderKey) => !createdOrders.has(orderKey));
  const locked = existing.length > 0 ? await lockOrders(tx, existing) : [];
  const stubs = filing.stubs.length > 0 ? await insertStubs(tx, filing.stubs) : [];
  const created = new Set(stubs.map(refKey));
  const older = filing.refs.filter((ref) => !created.has(refKey(ref)));
  return {
    filing: { ...filing, orderKeys },
    rows: [
      ...filing.refs.filter((ref) => created.has(refKey(ref))).map(newRow),
      ...(older.length > 0 ? await lockResources(tx, older) : []),
    ],
    created,
    createdOrders,
    orderFindings: new Map(locked.map(({ orderKey, openFindings }) => [orderKey, openFindings])),
  };
}

/** What a row holds that was made a moment ago: it has left no order and has no history. */
function newRow({ kind, id }: ResourceRef): ResourceRow {
  return {
    kind,
    id,
    paymentId: null,
    orderKey: null,
    currency: null,
    epoch: 0,
    contradiction: null,
    openFindings: [],
    posted: {},
  };
}

interface MergeInput {
  readonly rows: readonly ResourceRow[];
  readonly looks: readonly Look[];
  readonly created: ReadonlySet<string>;
}

/** Merges the looks at each resource with what is stored of it. Resources without a look are left. */
async function mergeAll(
  tx: Queryable,
  { rows, looks, created }: MergeInput,
): Promise<ReadonlyMap<string, Merged>> {
  const looksByRef = groupBy(looks, ({ ref }) => refKey(ref));
  const looked = rows.filter((row) => looksByRef.has(refKey(row)));
  // A row made a moment ago has no history to read.
  const old = looked.filter((row) => !created.has(refKey(row)));
  const snapshots = old.length > 0 ? await readSnapshots(tx, old) : [];
  const lived = old.filter(({ epoch }) => epoch > 0);
  const epochs = lived.length > 0 ? await readEpochs(tx, lived) : [];
  const snapshotsByRef = groupBy(snapshots, ({ ref }) => refKey(ref));
  return new Map(
    looked.map((row) => {
      const key = refKey(row);
      const known: Known = {
        snapshots: snapshotsByRef.get(key) ?? [],
        epochs: epochs.filter(({ ref }) => refKey(ref) === key),
        contradiction: row.contradiction ?? undefined,
      };
      return [key, mergeLooks(known, looksByRef.get(key) ?? [])];
    }),
  );
}

interface Placed {
  readonly row: ResourceRow;
  readonly orderKey: string | null;
  /** Undefined when the resource was locked but not looked at. */
  readonly update: ResourceUpdate | undefined;
  readonly transfers: readonly NewTransfer[];
}

interface PlaceInput {
  readonly rows: readonly ResourceRow[];
  readonly merged: ReadonlyMap<string, Merged>;
  readonly filing: Filing;
}

/**
 * Files each resource under its order: payments by what they carry, children with their payment.
 * Where a payment that is not looked at is filed was read before the locks were held;
 * recomputeOrders finds out if it has moved since.
 */
function placeInOrders({ rows, merged, filing }: PlaceInput): readonly Placed[] {
  const paymentOrders = new Map(filing.parentOrders);
  for (const row of rows) {
    if (row.kind !== 'payment') continue;
    const state = merged.get(refKey(row))?.state;
    const orderKey = state ? orderKeyOf({ id: row.id, orderId: state.orderId }) : row.orderKey;
    if (orderKey !== null) paymentOrders.set(row.id, orderKey);
  }
  const placed = rows.map((row): Placed => {
    const one = merged.get(refKey(row));
    const paymentId = one?.state?.paymentId ?? row.paymentId;
    const orderKey = orderOf(row, paymentId, paymentOrders);
    const transfers = one ? transfersOf(row, one) : [];
    const update = one && toUpdate(row, one, { paymentId, orderKey, transfers });
    return { row, orderKey, update, transfers };
  });
  const locked = new Set(filing.orderKeys);
  const missing = placed
    .flatMap(({ row, orderKey }) => [row.orderKey, orderKey])
    .filter((orderKey): orderKey is string => orderKey !== null && !locked.has(orderKey));
  if (missing.length > 0) throw new OrdersMoved(missing);
  return placed;
}

/** What is to be posted for a resource, with the snapshot and the inbox row that cause it. */
function transfersOf(row: ResourceRow, { state, added }: Merged): readonly NewTransfer[] {
  if (!state) return [];
  const head = added.find(({ contentHash }) => contentHash === state.headHash) ?? added.at(-1);
  return transfersFor(state, row.posted).map((transfer) => ({
    ...transfer,
    ref: state.ref,
    headHash: state.headHash,
    webhookEventId: head?.webhookEventId,
  }));
}

function orderOf(
  { kind, id }: ResourceRow,
  paymentId: string | null,
  paymentOrders: ReadonlyMap<string, string>,
): string | null {
  switch (kind) {
    case 'payment':
      return paymentOrders.get(id) ?? orderKeyOf({ id });
    case 'refund':
    case 'dispute':
      return paymentId === null ? null : (paymentOrders.get(paymentId) ?? null);
    case 'payout':
      return null;
  }
}

/** What the resources that were looked at show now. */
function resourcesShow(
  rows: readonly ResourceRow[],
  merged: ReadonlyMap<string, Merged>,
): readonly SubjectFindings[] {
  return rows.flatMap((row) => {
    const one = merged.get(refKey(row));
    if (!one) return [];
    return [{ subject: refKey(row), open: row.openFindings, shown: stateFindings(row, one) }];
  });
}

function parentRef(paymentId: string | undefined): readonly ResourceRef[] {
  return paymentId === undefined ? [] : [{ kind: 'payment', id: paymentId }];
}

function distinctRefs(refs: readonly ResourceRef[]): readonly ResourceRef[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}
