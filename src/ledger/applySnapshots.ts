/**
 * The one way to change the ledger. Webhooks, reconciliation, replay and operators all end here.
 *
 * 1. load: what is filed where (unlocked); lock it; read what is known under the locks
 * 2. decide: mergeLooks for each resource, deriveOrder for each order (pure)
 * 3. write: resources, snapshots, epochs, transfers, orders, changes, findings, alerts, each as one set
 *
 * Locks, always in this order: existing orders (by key), existing resources (by kind and id), then
 * the rows that are created: resources, then orders. Whoever creates rows has all other locks by
 * then, so two transactions can never wait for each other. Rows are created with their final content
 * and not locked first by creating them empty: every new payment would be written twice.
 *
 * What to lock follows from a read before the locks. If a resource turns out to be filed elsewhere,
 * or somebody else created a row meanwhile, OrdersMoved tells the caller to start over.
 */
import { isExcess } from '../alerts/domain/rules/excesses.ts';
import { groupBy } from '../platform/collections.ts';
import type { Queryable } from '../platform/db/database.ts';
import { stateFindings } from './domain/findings.ts';
import { transfersFor } from './domain/legs.ts';
import { type Known, type Look, type Merged, mergeLooks } from './domain/mergeLooks.ts';
import { namedOrderId, orderIdOf, orderKeyOf } from './domain/order.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import {
  type Filing,
  type FilingInput,
  fileResources,
  parentRef,
  refKey,
  unfiledRefs,
} from './filing.ts';
import { OrdersMoved } from './ordersMoved.ts';
import { raiseAlerts } from './raiseAlerts.ts';
import { type OrderChange, type RecomputedOrder, recomputeOrders } from './recomputeOrders.ts';
import { recordChanges } from './recordChanges.ts';
import { recordFindings, type SubjectFindings } from './recordFindings.ts';
import { toStubRow, toUpdate } from './resourceUpdate.ts';
import type { FindingName } from './store/findings.ts';
import { insertTransfers, type NewTransfer } from './store/journal.ts';
import { lockOrders, type StoredOrder } from './store/orders.ts';
import {
  insertResources,
  lockResources,
  markCheckDue,
  moveChildren,
  type ResourceRow,
  type ResourceUpdate,
  readFilings,
  type Stub,
  updateResources,
} from './store/resources.ts';
import { insertEpoch, insertSnapshots, readEpochs, readSnapshots } from './store/snapshots.ts';

export interface ApplyInput extends FilingInput {
  /**
   * Orders that an earlier try found it needs (OrdersMoved). One that is named by a payment also stands
   * for that payment: it is looked up, wherever it is filed.
   */
  readonly alsoLock: readonly string[];
  readonly nowMs: number;
  /**
   * Set while a list is imported for the first time: when Tallyhook began. Of what the service changed
   * before, only what can still be acted on is told (domain/past.ts).
   */
  readonly historyUntilMs: number | undefined;
}

/**
 * Applies looks at resources in the caller's transaction.
 * @throws OrdersMoved when the transaction must be started over
 */
export async function applySnapshots(tx: Queryable, input: ApplyInput): Promise<void> {
  if (input.looks.length === 0 && input.suspects.length === 0) return;
  const { filing, rows, missing, orders } = await lockAll(tx, input);
  const merged = await mergeAll(tx, { rows, looks: input.looks, missing });
  const placed = placeInOrders({ rows, merged, filing, looks: input.looks });

  await writeResources(tx, { placed, missing, stubs: filing.stubs });
  const added = [...merged.values()].flatMap((one) => one.added);
  if (added.length > 0) await insertSnapshots(tx, added);
  for (const { state, openedEpochs } of merged.values()) {
    for (const epoch of openedEpochs)
      if (state) await insertEpoch(tx, { ref: state.ref, ...epoch });
  }
  const transfers = placed.flatMap((one) => one.transfers);
  if (transfers.length > 0) await insertTransfers(tx, transfers);
  if (input.suspects.length > 0) await markCheckDue(tx, input.suspects);
  const moved = placed.filter(isMovedPayment).map(({ row }) => row.id);
  if (moved.length > 0) await moveChildren(tx, moved);
  const recomputed = await recomputeOrders(tx, orderChanges(placed, filing.stubs), orders);
  const { nowMs, historyUntilMs } = input;
  await recordChanges(tx, placed, { before: orders, after: recomputed, historyUntilMs });
  const found = await recordFindings(tx, [...recomputed, ...resourcesShow(placed)]);
  await requestConfirmation(tx, found, recomputed);
  await raiseAlerts(tx, { applied: placed, nowMs, historyUntilMs });
}

/**
 * Requests a retrieve of every part of orders that came to show an excess: an event may be late or
 * lost (alerts/domain/rules/excesses.ts). The caller holds the orders.
 */
async function requestConfirmation(
  tx: Queryable,
  found: readonly FindingName[],
  recomputed: readonly RecomputedOrder[],
): Promise<void> {
  const subjects = new Set(
    found.flatMap(({ class: name, subject }) => (isExcess(name) ? [subject] : [])),
  );
  const parts = recomputed
    .filter(({ subject }) => subjects.has(subject))
    .flatMap((one) => one.parts);
  if (parts.length > 0) await markCheckDue(tx, parts);
}

interface WriteInput {
  readonly placed: readonly Placed[];
  readonly missing: ReadonlySet<string>;
  readonly stubs: readonly Stub[];
}

/** Creates rows that are missing and updates the others. */
async function writeResources(
  tx: Queryable,
  { placed, missing, stubs: mentioned }: WriteInput,
): Promise<void> {
  const updates = placed.flatMap(({ update }) => update ?? []);
  const fresh = updates.filter((update) => missing.has(refKey(update)));
  const older = updates.filter((update) => !missing.has(refKey(update)));
  // One that was looked at and showed nothing but a hint is kept as what it is: only mentioned.
  const hinted = placed
    .filter(({ row, update }) => update === undefined && missing.has(refKey(row)))
    .map(({ row: { kind, id }, orderKey }) => ({ kind, id, orderKey }));
  const stubs = new Map([...mentioned, ...hinted].map((stub) => [refKey(stub), stub]));
  const rows = [...fresh, ...[...stubs.values()].map(toStubRow)];
  const created = rows.length > 0 ? await insertResources(tx, rows) : [];
  if (created.length < rows.length) throw new OrdersMoved([]);
  if (older.length > 0) await updateResources(tx, older);
}

function orderChanges(placed: readonly Placed[], stubs: readonly Stub[]): readonly OrderChange[] {
  // A payment that was only mentioned has an order too, also where the mention does not count.
  const mentioned = stubs.map(({ orderKey }) => ({
    from: null,
    to: orderKey,
    leavesTotals: false,
  }));
  const moved = placed.map(({ row, orderKey, update }) => ({
    from: row.orderKey,
    to: orderKey,
    leavesTotals:
      (row.orderKey !== null && row.orderKey !== orderKey) ||
      (row.currency !== null && update !== undefined && update.currency !== row.currency),
  }));
  return [...moved, ...mentioned];
}

function isMovedPayment({ row, orderKey }: Placed): boolean {
  return row.kind === 'payment' && row.orderKey !== null && row.orderKey !== orderKey;
}

interface Locked {
  readonly filing: Filing;
  /** Every resource of `filing.refs`, as it stands. */
  readonly rows: readonly ResourceRow[];
  /** Those of them that are still to be created. */
  readonly missing: ReadonlySet<string>;
  /** Existing orders, by key. */
  readonly orders: ReadonlyMap<string, StoredOrder>;
}

/** Finds where everything is filed, and locks the orders and resources that exist. */
async function lockAll(tx: Queryable, input: ApplyInput): Promise<Locked> {
  const unfiled = unfiledRefs(input);
  const stored = unfiled.length > 0 ? await readFilings(tx, unfiled) : [];
  const known = new Set([...unfiled, ...input.looks.map(({ ref }) => ref)].map(refKey));
  const parents = [
    ...stored.flatMap(({ paymentId }) => parentRef(paymentId ?? undefined)),
    ...input.alsoLock.flatMap(paymentOfKey),
  ].filter((ref) => !known.has(refKey(ref)));
  const storedParents = parents.length > 0 ? await readFilings(tx, distinctRefs(parents)) : [];
  const filing = fileResources(input, [...stored, ...storedParents]);
  const parentOrders = new Map([
    ...storedParents.map((row) => [row.id, row.orderKey ?? orderKeyOf(row)] as const),
    ...filing.parentOrders,
  ]);

  const orderKeys = [...new Set([...filing.orderKeys, ...input.alsoLock])].sort();
  const orders = orderKeys.length > 0 ? await lockOrders(tx, orderKeys) : [];
  const rows = filing.refs.length > 0 ? await lockResources(tx, filing.refs) : [];
  const found = new Set(rows.map(refKey));
  const absent = filing.refs.filter((ref) => !found.has(refKey(ref)));
  return {
    filing: { ...filing, parentOrders, orderKeys },
    rows: [...absent.map(newRow), ...rows],
    missing: new Set(absent.map(refKey)),
    orders: new Map(orders.map((order) => [order.orderKey, order])),
  };
}

/** The payment that an order is named by. */
function paymentOfKey(orderKey: string): readonly ResourceRef[] {
  return namedOrderId(orderKey) === undefined ? parentRef(orderIdOf(orderKey)) : [];
}

/** What a row holds that is still to be created: it leaves no order and has no history. */
function newRow({ kind, id }: ResourceRef): ResourceRow {
  return {
    kind,
    id,
    paymentId: null,
    orderKey: null,
    status: null,
    stage: null,
    deadlineAt: null,
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
  readonly missing: ReadonlySet<string>;
}

/** Merges the looks at each resource with what is stored of it. Resources without a look are left. */
async function mergeAll(
  tx: Queryable,
  { rows, looks, missing }: MergeInput,
): Promise<ReadonlyMap<string, Merged>> {
  const looksByRef = groupBy(looks, ({ ref }) => refKey(ref));
  const looked = rows.filter((row) => looksByRef.has(refKey(row)));
  // A row that is still to be created has no history to read.
  const old = looked.filter((row) => !missing.has(refKey(row)));
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
  readonly merged: Merged | undefined;
  /** Undefined when nothing was seen of it that makes a state. */
  readonly update: ResourceUpdate | undefined;
  readonly transfers: readonly NewTransfer[];
}

interface PlaceInput {
  readonly rows: readonly ResourceRow[];
  readonly merged: ReadonlyMap<string, Merged>;
  readonly filing: Filing;
  readonly looks: readonly Look[];
}

/**
 * Files each resource under its order: payments by what they carry, children with their payment.
 * Where a payment that is not looked at is filed was read before the locks were held;
 * recomputeOrders finds out if it has moved since.
 */
function placeInOrders({ rows, merged, filing, looks }: PlaceInput): readonly Placed[] {
  const paymentOrders = new Map(filing.parentOrders);
  for (const row of rows) {
    if (row.kind !== 'payment') continue;
    const state = merged.get(refKey(row))?.state;
    const orderKey = state
      ? orderKeyOf({ id: row.id, orderId: state.orderId })
      : (row.orderKey ?? orderKeyOf({ id: row.id }));
    paymentOrders.set(row.id, orderKey);
  }
  const told = new Set(looks.filter(isWebhook).map(({ ref }) => refKey(ref)));
  const placed = rows.map((row): Placed => {
    const one = merged.get(refKey(row));
    const paymentId = one?.state?.paymentId ?? row.paymentId;
    const orderKey = orderOf(row, paymentId, paymentOrders);
    const transfers = one ? transfersOf(row, one) : [];
    const isTold = told.has(refKey(row));
    const update = one && toUpdate(row, one, { paymentId, orderKey, transfers, isTold });
    return { row, orderKey, merged: one, update, transfers };
  });
  const locked = new Set(filing.orderKeys);
  const missing = placed
    .flatMap(({ row, orderKey }) => [row.orderKey, orderKey])
    .filter((orderKey): orderKey is string => orderKey !== null && !locked.has(orderKey));
  if (missing.length > 0) throw new OrdersMoved(missing);
  return placed;
}

function isWebhook({ source }: Look): boolean {
  return source === 'webhook';
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

/**
 * @throws OrdersMoved where the row names a payment that nothing named before the locks: somebody
 * else has created the row meanwhile, or a correction of the service brings back a payment that only
 * an older body names. The next try looks that payment up.
 */
function orderOf(
  row: ResourceRow,
  paymentId: string | null,
  paymentOrders: ReadonlyMap<string, string>,
): string | null {
  const payment = row.kind === 'payment' ? row.id : paymentId;
  if (payment === null) return null;
  const orderKey = paymentOrders.get(payment);
  if (orderKey === undefined) throw new OrdersMoved([orderKeyOf({ id: payment })]);
  return orderKey;
}

/** What the resources that were looked at show now, and what they show no longer. */
function resourcesShow(placed: readonly Placed[]): readonly SubjectFindings[] {
  return placed.flatMap(({ row, merged, update }) => {
    if (!merged) return [];
    const passed = row.openFindings.filter((name) => !update?.open_findings.includes(name));
    return [{ subject: refKey(row), shown: stateFindings(row, merged), passed }];
  });
}

function distinctRefs(refs: readonly ResourceRef[]): readonly ResourceRef[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}
