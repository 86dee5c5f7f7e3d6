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
import { type Known, type Look, type Merged, mergeLooks } from './domain/mergeLooks.ts';
import { orderIdOf, orderKeyOf } from './domain/order.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import { type Filing, type FilingInput, fileResources, refKey } from './filing.ts';
import { recomputeOrders } from './recomputeOrders.ts';
import { toUpdate } from './resourceUpdate.ts';
import { closeFindings, openFindings } from './store/findings.ts';
import { deleteOrders, insertOrders, lockOrders } from './store/orders.ts';
import {
  insertStubs,
  lockResources,
  markCheckDue,
  moveChildren,
  type ResourceRow,
  type ResourceUpdate,
  readResources,
  updateResources,
} from './store/resources.ts';
import { insertEpoch, insertSnapshots, readEpochs, readSnapshots } from './store/snapshots.ts';

/** Orders that must be locked too; start the transaction over with them. */
export class OrdersMoved extends Error {
  override readonly name = 'OrdersMoved';
  readonly orderKeys: readonly string[];
  constructor(orderKeys: readonly string[]) {
    super('a resource was filed under another order meanwhile');
    this.orderKeys = orderKeys;
  }
}

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
  const { filing, created, createdOrders } = await lockAll(tx, input);
  const rows = await lockResources(tx, filing.refs);
  const merged = await mergeAll(tx, { rows, looks: input.looks, created });
  const placed = await placeInOrders(tx, { rows, merged, filing });

  const added = [...merged.values()].flatMap((one) => one.added);
  if (added.length > 0) await insertSnapshots(tx, added);
  for (const [key, { openedEpochs }] of merged) {
    const ref = filing.refs.find((candidate) => refKey(candidate) === key);
    for (const epoch of openedEpochs) if (ref) await insertEpoch(tx, { ref, ...epoch });
  }
  const updates = placed.flatMap(({ update }) => (update ? [update] : []));
  if (updates.length > 0) await updateResources(tx, updates);
  if (input.suspects.length > 0) await markCheckDue(tx, input.suspects);
  const movedPayments = placed.filter(({ row, orderKey }) => isMoved(row, orderKey));
  if (movedPayments.length > 0)
    await moveChildren(
      tx,
      movedPayments.map(({ row }) => row.id),
    );
  await recomputeOrders(
    tx,
    placed.map(({ row, orderKey, update }) => ({
      from: row.orderKey,
      to: orderKey,
      leavesTotals:
        (row.orderKey !== null && row.orderKey !== orderKey) ||
        (row.currency !== null && update !== undefined && update.currency !== row.currency),
    })),
  );
  const used = new Set(placed.map(({ orderKey }) => orderKey));
  const unused = [...createdOrders].filter((orderKey) => !used.has(orderKey));
  if (unused.length > 0) await deleteOrders(tx, unused);
  await writeStateFindings(tx, rows, merged);
}

function isMoved(row: ResourceRow, orderKey: string | null): boolean {
  return row.kind === 'payment' && row.orderKey !== null && row.orderKey !== orderKey;
}

interface Locked {
  readonly filing: Filing;
  readonly created: ReadonlySet<string>;
  readonly createdOrders: ReadonlySet<string>;
}

/** Finds where everything is filed, creates what is missing and locks the orders. */
async function lockAll(tx: Queryable, input: ApplyInput): Promise<Locked> {
  const mentioned = [
    ...input.suspects,
    ...input.looks.map(({ ref }) => ref),
    ...input.looks.flatMap(({ content }) => parentRef(content.paymentId)),
  ];
  const stored = await readResources(tx, distinctRefs(mentioned));
  const known = new Set(stored.map(refKey));
  const parents = stored
    .flatMap(({ paymentId }) => parentRef(paymentId ?? undefined))
    .filter((ref) => !known.has(refKey(ref)));
  const storedParents = parents.length > 0 ? await readResources(tx, distinctRefs(parents)) : [];
  const filing = fileResources(input, [...stored, ...storedParents]);

  const orderKeys = [...new Set([...filing.orderKeys, ...input.alsoLock])].sort();
  const createdOrders = new Set(
    await insertOrders(
      tx,
      orderKeys.map((orderKey) => ({ orderKey, orderId: orderIdOf(orderKey) })),
    ),
  );
  const existing = orderKeys.filter((orderKey) => !createdOrders.has(orderKey));
  if (existing.length > 0) await lockOrders(tx, existing);
  const created = filing.stubs.length > 0 ? await insertStubs(tx, filing.stubs) : [];
  return {
    filing: { ...filing, orderKeys },
    created: new Set(created.map(refKey)),
    createdOrders,
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
}

interface PlaceInput {
  readonly rows: readonly ResourceRow[];
  readonly merged: ReadonlyMap<string, Merged>;
  readonly filing: Filing;
}

/** Files each resource under its order: payments by what they carry, children with their payment. */
async function placeInOrders(tx: Queryable, input: PlaceInput): Promise<readonly Placed[]> {
  const { rows, merged, filing } = input;
  const paymentOrders = new Map<string, string>();
  for (const row of rows) {
    if (row.kind !== 'payment') continue;
    const state = merged.get(refKey(row))?.state;
    const orderKey = state ? orderKeyOf({ id: row.id, orderId: state.orderId }) : row.orderKey;
    if (orderKey !== null) paymentOrders.set(row.id, orderKey);
  }
  // Parents are read anew: under the locks nobody can move one that is filed where we believed.
  const parents = filing.parents.length > 0 ? await readResources(tx, filing.parents) : [];
  for (const { id, orderKey } of parents) {
    if (orderKey !== null && !paymentOrders.has(id)) paymentOrders.set(id, orderKey);
  }
  const placed = rows.map((row): Placed => {
    const one = merged.get(refKey(row));
    const paymentId = one?.state?.paymentId ?? row.paymentId;
    const orderKey = orderOf(row, paymentId, paymentOrders);
    return { row, orderKey, update: one && toUpdate(row, one, { paymentId, orderKey }) };
  });
  const locked = new Set(filing.orderKeys);
  const missing = placed
    .flatMap(({ row, orderKey }) => [row.orderKey, orderKey])
    .filter((orderKey): orderKey is string => orderKey !== null && !locked.has(orderKey));
  if (missing.length > 0) throw new OrdersMoved(missing);
  return placed;
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

/** Opens what the new states show and closes what they no longer show. */
async function writeStateFindings(
  tx: Queryable,
  rows: readonly ResourceRow[],
  merged: ReadonlyMap<string, Merged>,
): Promise<void> {
  const shown = rows.flatMap((row) => {
    const one = merged.get(refKey(row));
    return one ? stateFindings(row, one) : [];
  });
  if (shown.length > 0) await openFindings(tx, shown);
  const names = new Set(shown.map((finding) => `${finding.class} ${finding.subject}`));
  const passed = rows
    .filter((row) => merged.has(refKey(row)))
    .flatMap((row) => row.openFindings.map((name) => ({ class: name, subject: refKey(row) })))
    .filter((finding) => !names.has(`${finding.class} ${finding.subject}`));
  if (passed.length > 0) await closeFindings(tx, passed);
}

function parentRef(paymentId: string | undefined): readonly ResourceRef[] {
  return paymentId === undefined ? [] : [{ kind: 'payment', id: paymentId }];
}

function distinctRefs(refs: readonly ResourceRef[]): readonly ResourceRef[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}
