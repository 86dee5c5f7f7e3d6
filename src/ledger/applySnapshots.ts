/**
 * Applies observations: the only way to change the ledger, for webhooks, reconciliation, replay and
 * operators.
 *
 * 1. Load: read placements without locks, lock orders and resources, read their state under the locks.
 * 2. Decide: mergeObservations for each resource, deriveOrder for each order (pure).
 * 3. Write: resources, snapshots, epochs, transfers, orders, changes, findings and alerts, each as a set.
 *
 * Locks are taken in one order: existing orders (by key), existing resources (by kind and id), then
 * new resources, then new orders. A transaction that creates rows holds all its other locks by then,
 * so two transactions cannot deadlock. New rows are inserted with their final content; inserting empty
 * rows first to lock them would write every new payment twice.
 *
 * Statements that do not need each other's results are sent in one round trip, in the order above, which
 * is also the order in which the server executes them (platform/db/pipelined.ts).
 *
 * The lock plan comes from a read without locks. If a resource is filed elsewhere by the time it is
 * locked, or another transaction created a row, applySnapshots throws LockSetChanged and the caller
 * retries. It does so before it writes if it holds a resource without its order.
 */
import { isExcess } from '../alerts/domain/rules/excesses.ts';
import { groupBy } from '../platform/collections.ts';
import type { Queryable } from '../platform/db/database.ts';
import { pipelined } from '../platform/db/pipelined.ts';
import { needsPostedTimes, type PostedMovement, transfersFor } from './domain/effectiveTimes.ts';
import { type Finding, stateFindings } from './domain/findings.ts';
import type { History } from './domain/importedHistory.ts';
import { type Known, type Merged, mergeObservations } from './domain/mergeObservations.ts';
import { namedOrderId, orderIdOf, orderKeyOf } from './domain/orderKey.ts';
import { distinctRefs, type Observation, type ResourceRef, refKey } from './domain/snapshot.ts';
import { type LockPlan, type PlanInput, parentRef, planLocks, unplacedRefs } from './lockPlan.ts';
import { LockSetChanged } from './lockSetChanged.ts';
import { raiseAlerts } from './raiseAlerts.ts';
import { type OrderChange, type RecomputedOrder, recomputeOrders } from './recomputeOrders.ts';
import { isLearned, recordChanges } from './recordChanges.ts';
import { recordFindings, type SubjectFindings } from './recordFindings.ts';
import { newRow, toStubRow, toUpdate } from './resourceUpdate.ts';
import type { FindingName } from './store/findings.ts';
import { insertTransfers, type NewTransfer, readMovements } from './store/journal.ts';
import { lockOrders, type StoredOrder } from './store/orders.ts';
import {
  insertResources,
  lockResources,
  markBehind,
  markCheckDue,
  moveChildren,
  type ResourceRow,
  type ResourceUpdate,
  readPlacements,
  type Stub,
  updateResources,
} from './store/resources.ts';
import { insertEpoch, insertSnapshots, readEpochs, readSnapshots } from './store/snapshots.ts';

export interface ApplyInput extends PlanInput {
  /**
   * Orders that an earlier attempt was missing (LockSetChanged). The key of a payment's own order also
   * looks up where that payment is filed.
   */
  readonly alsoLock: readonly string[];
  readonly nowMs: number;
  /**
   * What is history, if a run over a list reads it. Nobody is notified of it, except where a person can still act
   * on it (domain/importedHistory.ts).
   */
  readonly history: History | undefined;
}

/**
 * Applies observations in the caller's transaction.
 * @throws LockSetChanged if the caller must retry the transaction
 */
export async function applySnapshots(tx: Queryable, input: ApplyInput): Promise<void> {
  if (input.observations.length === 0 && input.toRetrieve.length === 0) return;
  const { plan, rows, missing, orders } = await lockAll(tx, input);
  const merged = await mergeAll(tx, { rows, observations: input.observations, missing });
  const posted = await readPosted(tx, rows, merged);
  const placed = placeInOrders({ rows, merged, posted, plan, observations: input.observations });

  const [, , recomputed] = await pipelined([
    writeResources(tx, { placed, missing, stubs: plan.stubs }),
    writeHistory(tx, { placed, merged, toRetrieve: input.toRetrieve }),
    recomputeOrders(tx, orderChanges(placed, plan.stubs), orders),
  ]);
  const { nowMs, history } = input;
  await pipelined([
    recordChanges(tx, placed, { before: orders, after: recomputed, history }),
    report(tx, { placed, missing, recomputed, nowMs, history }),
  ]);
}

interface Outcome {
  readonly placed: readonly Placed[];
  /** Resources that were not known before. */
  readonly missing: ReadonlySet<string>;
  readonly recomputed: readonly RecomputedOrder[];
}

type ReportInput = Outcome & Pick<ApplyInput, 'nowMs' | 'history'>;

/** Records findings, and raises alerts. */
async function report(
  tx: Queryable,
  { placed, missing, recomputed, ...when }: ReportInput,
): Promise<void> {
  const found = await recordFindings(tx, [
    ...withCauses(recomputed, placed),
    ...resourceFindings(placed),
  ]);
  await requestConfirmation(tx, found, { placed, missing, recomputed });
  await raiseAlerts(tx, { applied: placed, ...when });
}

/** Orders with the last event that contributed to each. */
function withCauses(
  orders: readonly RecomputedOrder[],
  placed: readonly Placed[],
): readonly SubjectFindings[] {
  const causes = new Map<string | null, number>();
  for (const { row, orderKey, causedBy } of placed) {
    if (causedBy === undefined) continue;
    for (const key of [row.orderKey, orderKey]) {
      causes.set(key, Math.max(causedBy, causes.get(key) ?? causedBy));
    }
  }
  return orders.map((order) => ({ ...order, causedBy: causes.get(order.orderKey) }));
}

/**
 * Requests a retrieve of every part of the orders that now show an excess, because an event may be late
 * or lost (alerts/domain/rules/excesses.ts). Of an order that shows it as before, of the parts that are new to it:
 * without a response about each of them the excess would stay unconfirmed. The caller holds the orders.
 */
async function requestConfirmation(
  tx: Queryable,
  found: readonly FindingName[],
  outcome: Outcome,
): Promise<void> {
  const changed = new Set(
    found.flatMap(({ class: name, subject }) => (isExcess(name) ? [subject] : [])),
  );
  const parts = outcome.recomputed.flatMap((order): readonly ResourceRef[] => {
    if (changed.has(order.subject)) return order.parts;
    return order.shown.some(({ class: name }) => isExcess(name)) ? partsNewTo(order, outcome) : [];
  });
  if (parts.length > 0) await markCheckDue(tx, parts);
}

function partsNewTo(order: RecomputedOrder, { placed, missing }: Outcome): readonly ResourceRef[] {
  return placed.flatMap(({ row, orderKey }) => {
    const isNew = row.orderKey !== orderKey || missing.has(refKey(row));
    return isNew && orderKey === order.orderKey ? [row] : [];
  });
}

interface WriteInput {
  readonly placed: readonly Placed[];
  readonly missing: ReadonlySet<string>;
  readonly stubs: readonly Stub[];
}

/** Inserts new resources and updates the others. */
async function writeResources(
  tx: Queryable,
  { placed, missing, stubs: mentioned }: WriteInput,
): Promise<void> {
  const updates = placed.flatMap(({ update }) => update ?? []);
  const fresh = updates.filter((update) => missing.has(refKey(update)));
  const older = updates.filter((update) => !missing.has(refKey(update)));
  // A resource with only hints is stored as a stub.
  const hinted = placed
    .filter(({ row, update }) => update === undefined && missing.has(refKey(row)))
    .map(({ row: { kind, id }, orderKey }) => ({ kind, id, orderKey }));
  const stubs = new Map([...mentioned, ...hinted].map((stub) => [refKey(stub), stub]));
  const rows = [...fresh, ...[...stubs.values()].map(toStubRow)];
  const [created] = await pipelined([
    rows.length > 0 ? insertResources(tx, rows) : [],
    older.length > 0 ? updateResources(tx, older) : undefined,
  ]);
  if (created.length < rows.length) throw new LockSetChanged([]);
}

interface HistoryInput extends Pick<ApplyInput, 'toRetrieve'> {
  readonly placed: readonly Placed[];
  readonly merged: ReadonlyMap<string, Merged>;
}

/** Appends what was observed and what it posts, and files children with a payment that moved. */
async function writeHistory(
  tx: Queryable,
  { placed, merged, toRetrieve }: HistoryInput,
): Promise<void> {
  const added = [...merged.values()].flatMap((resource) => resource.added);
  const epochs = [...merged.values()].flatMap(({ state, openedEpochs }) =>
    state ? openedEpochs.map((epoch) => ({ ref: state.ref, ...epoch })) : [],
  );
  const transfers = placed.flatMap((resource) => resource.transfers);
  const moved = placed.filter(isMovedPayment).map(({ row }) => row.id);
  await pipelined([
    added.length > 0 ? insertSnapshots(tx, added) : undefined,
    ...epochs.map((epoch) => insertEpoch(tx, epoch)),
    transfers.length > 0 ? insertTransfers(tx, transfers) : undefined,
    toRetrieve.length > 0 ? markBehind(tx, toRetrieve) : undefined,
    moved.length > 0 ? moveChildren(tx, moved) : undefined,
  ]);
}

function orderChanges(placed: readonly Placed[], stubs: readonly Stub[]): readonly OrderChange[] {
  // A payment that was only mentioned also has an order.
  const mentioned = stubs.map(({ orderKey }) => ({
    from: null,
    to: orderKey,
    leavesTotals: false,
    isLearned: true,
  }));
  const moved = placed.map((one) => {
    const { row, orderKey, update, transfers } = one;
    const isMoved = row.orderKey !== orderKey;
    return {
      from: row.orderKey,
      to: orderKey,
      leavesTotals:
        (row.orderKey !== null && isMoved) ||
        (row.currency !== null && update !== undefined && update.currency !== row.currency),
      isLearned: isMoved || transfers.length > 0 || isLearned(one),
    };
  });
  return [...moved, ...mentioned];
}

function isMovedPayment({ row, orderKey }: Placed): boolean {
  return row.kind === 'payment' && row.orderKey !== null && row.orderKey !== orderKey;
}

interface Locked {
  readonly plan: LockPlan;
  /** Every resource of `plan.refs` as it is stored. */
  readonly rows: readonly ResourceRow[];
  /** The keys of those that do not exist yet. */
  readonly missing: ReadonlySet<string>;
  /** Existing orders, by key. */
  readonly orders: ReadonlyMap<string, StoredOrder>;
}

/** Plans the locks, and locks the orders and resources that exist. */
async function lockAll(tx: Queryable, input: ApplyInput): Promise<Locked> {
  const unplaced = unplacedRefs(input);
  const stored = unplaced.length > 0 ? await readPlacements(tx, unplaced) : [];
  const known = new Set([...unplaced, ...input.observations.map(({ ref }) => ref)].map(refKey));
  const parents = [
    ...stored.flatMap(({ paymentId }) => parentRef(paymentId ?? undefined)),
    ...input.alsoLock.flatMap(paymentOfKey),
  ].filter((ref) => !known.has(refKey(ref)));
  const storedParents = parents.length > 0 ? await readPlacements(tx, distinctRefs(parents)) : [];
  const plan = planLocks(input, [...stored, ...storedParents]);
  const parentOrders = new Map([
    ...storedParents.map((row) => [row.id, row.orderKey ?? orderKeyOf(row)] as const),
    ...plan.parentOrders,
  ]);

  const orderKeys = [...new Set([...plan.orderKeys, ...input.alsoLock])].sort();
  const [orders, rows] = await pipelined([
    orderKeys.length > 0 ? lockOrders(tx, orderKeys) : [],
    plan.refs.length > 0 ? lockResources(tx, plan.refs) : [],
  ]);
  requireOrders(rows, orders);
  const found = new Set(rows.map(refKey));
  const absent = plan.refs.filter((ref) => !found.has(refKey(ref)));
  return {
    plan: { ...plan, parentOrders, orderKeys },
    rows: [...absent.map(newRow), ...rows],
    missing: new Set(absent.map(refKey)),
    orders: new Map(orders.map((order) => [order.orderKey, order])),
  };
}

/**
 * An order that another transaction created after this one locked orders is not held, but its resources are.
 * Whoever holds the order may wait for them, and this transaction would wait for the order when it inserts it.
 * @throws LockSetChanged if the order of a locked resource is not locked
 */
function requireOrders(rows: readonly ResourceRow[], orders: readonly StoredOrder[]): void {
  const held = new Set(orders.map((order) => order.orderKey));
  const unheld = rows.flatMap(({ orderKey }) =>
    orderKey !== null && !held.has(orderKey) ? [orderKey] : [],
  );
  if (unheld.length > 0) throw new LockSetChanged(unheld);
}

/** The payment that gives an order its key, if the shop did not name the order. */
function paymentOfKey(orderKey: string): readonly ResourceRef[] {
  return namedOrderId(orderKey) === undefined ? parentRef(orderIdOf(orderKey)) : [];
}

interface MergeInput {
  readonly rows: readonly ResourceRow[];
  readonly observations: readonly Observation[];
  readonly missing: ReadonlySet<string>;
}

/** Merges the observations of each resource with its stored snapshots; skips resources without any. */
async function mergeAll(
  tx: Queryable,
  { rows, observations, missing }: MergeInput,
): Promise<ReadonlyMap<string, Merged>> {
  const observationsByRef = groupBy(observations, ({ ref }) => refKey(ref));
  const observed = rows.filter((row) => observationsByRef.has(refKey(row)));
  // A resource that does not exist yet has no snapshots.
  const old = observed.filter((row) => !missing.has(refKey(row)));
  const snapshots = old.length > 0 ? await readSnapshots(tx, old) : [];
  const withEpochs = old.filter(({ epoch }) => epoch > 0);
  const epochs = withEpochs.length > 0 ? await readEpochs(tx, withEpochs) : [];
  const snapshotsByRef = groupBy(snapshots, ({ ref }) => refKey(ref));
  return new Map(
    observed.map((row) => {
      const key = refKey(row);
      const known: Known = {
        snapshots: snapshotsByRef.get(key) ?? [],
        epochs: epochs.filter(({ ref }) => refKey(ref) === key),
        contradiction: row.contradiction ?? undefined,
      };
      return [key, mergeObservations(known, observationsByRef.get(key) ?? [])];
    }),
  );
}

type PostedMovements = ReadonlyMap<string, readonly PostedMovement[]>;

/** What the journal has of resources with a history that may change. */
async function readPosted(
  tx: Queryable,
  rows: readonly ResourceRow[],
  merged: ReadonlyMap<string, Merged>,
): Promise<PostedMovements> {
  const late = rows.filter((row) => {
    const { state, order } = merged.get(refKey(row)) ?? {};
    return state && order && needsPostedTimes(order);
  });
  const movements = late.length > 0 ? await readMovements(tx, late) : [];
  return groupBy(movements, ({ ref }) => refKey(ref));
}

interface Placed {
  readonly row: ResourceRow;
  readonly orderKey: string | null;
  /** Undefined if the resource was locked but has no observation. */
  readonly merged: Merged | undefined;
  /** Undefined if no observation produced a state. */
  readonly update: ResourceUpdate | undefined;
  /** The findings that the merged state shows. */
  readonly shown: readonly Finding[];
  /** Inbox number of the last event that contributed. */
  readonly causedBy: number | undefined;
  readonly transfers: readonly NewTransfer[];
}

interface PlaceInput {
  readonly rows: readonly ResourceRow[];
  readonly merged: ReadonlyMap<string, Merged>;
  readonly posted: PostedMovements;
  readonly plan: LockPlan;
  readonly observations: readonly Observation[];
}

/**
 * Files each resource under its order: payments by the order they name, children with their payment.
 * The placement of a payment without an observation was read before the locks; recomputeOrders detects
 * if it has moved since.
 */
function placeInOrders({
  rows,
  merged,
  posted,
  plan,
  observations,
}: PlaceInput): readonly Placed[] {
  const paymentOrders = new Map(plan.parentOrders);
  for (const row of rows) {
    if (row.kind !== 'payment') continue;
    const state = merged.get(refKey(row))?.state;
    const orderKey = state
      ? orderKeyOf({ id: row.id, orderId: state.orderId })
      : (row.orderKey ?? orderKeyOf({ id: row.id }));
    paymentOrders.set(row.id, orderKey);
  }
  const reported = new Map(
    observations.filter(isWebhook).map(({ ref, webhookEventId }) => [refKey(ref), webhookEventId]),
  );
  const reportedNow = new Set(
    observations.filter((one) => isWebhook(one) && !one.isReplayed).map(({ ref }) => refKey(ref)),
  );
  const placed = rows.map((row): Placed => {
    const key = refKey(row);
    const one = merged.get(key);
    const paymentId = one?.state?.paymentId ?? row.paymentId;
    const orderKey = orderOf(row, paymentId, paymentOrders);
    const transfers = one ? transfersOf(row, one, posted.get(key) ?? []) : [];
    const shown = one ? stateFindings(row, one) : [];
    // A replay that teaches something is the first time that the event is applied.
    const isReported = reportedNow.has(key) || (reported.has(key) && (one?.added.length ?? 0) > 0);
    const update = one && toUpdate(row, one, { paymentId, orderKey, transfers, shown, isReported });
    const added = one?.added.at(-1)?.webhookEventId;
    const causedBy = added ?? reported.get(key);
    return { row, orderKey, merged: one, update, shown, causedBy, transfers };
  });
  const locked = new Set(plan.orderKeys);
  const missing = placed
    .flatMap(({ row, orderKey }) => [row.orderKey, orderKey])
    .filter((orderKey): orderKey is string => orderKey !== null && !locked.has(orderKey));
  if (missing.length > 0) throw new LockSetChanged(missing);
  return placed;
}

function isWebhook({ source }: Observation): boolean {
  return source === 'webhook';
}

/** The transfers to post for a resource, each with the snapshot and the inbox row that caused it. */
function transfersOf(
  row: ResourceRow,
  { state, order, added }: Merged,
  movements: readonly PostedMovement[],
): readonly NewTransfer[] {
  if (!state) return [];
  const causes = new Map(added.map((one) => [one.contentHash, one.webhookEventId]));
  const last = (added.find(({ contentHash }) => contentHash === state.headHash) ?? added.at(-1))
    ?.webhookEventId;
  return transfersFor({ state, order, posted: row.posted, movements }).map((transfer) => ({
    ...transfer,
    ref: state.ref,
    webhookEventId: causes.get(transfer.headHash) ?? last,
  }));
}

/**
 * @throws LockSetChanged if the row names a payment that the lock plan does not have: another
 * transaction created the row, or a correction by the service restored a payment that only an older
 * body names. The next attempt looks that payment up.
 */
function orderOf(
  row: ResourceRow,
  paymentId: string | null,
  paymentOrders: ReadonlyMap<string, string>,
): string | null {
  const payment = row.kind === 'payment' ? row.id : paymentId;
  if (payment === null) return null;
  const orderKey = paymentOrders.get(payment);
  if (orderKey === undefined) throw new LockSetChanged([orderKeyOf({ id: payment })]);
  return orderKey;
}

/** The findings of each observed resource: those that hold now, and those that no longer do. */
function resourceFindings(placed: readonly Placed[]): readonly SubjectFindings[] {
  return placed.flatMap(({ row, merged, update, shown, causedBy }) => {
    if (!merged) return [];
    const passed = row.openFindings.filter((name) => !update?.open_findings.includes(name));
    return [{ subject: refKey(row), shown, passed, causedBy }];
  });
}
