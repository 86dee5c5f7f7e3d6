/** Compares orders and their findings with the rebuilt resources. */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type OrderEntry, orderFindingProblems, orderProblems } from '../domain/checkOrder.ts';
import { type NamedPart, orderSubject } from '../domain/orderFindings.ts';
import { orderKeyOf } from '../domain/orderKey.ts';
import { distinctRefs, type ResourceRef, refKey } from '../domain/snapshot.ts';
import { readRebuiltOrderKeys, readRebuiltParts } from '../store/rebuild.ts';
import { readStoredParts, type StoredPart } from '../store/verifyOrders.ts';
import { readOpenFindings } from '../store/verifyResources.ts';
import { readOrderEntries } from './orders.ts';
import { type Refolded, refold } from './refold.ts';
import { type Run, walk } from './walk.ts';

export async function compareOrders(run: Run): Promise<void> {
  await walk<string>(run, 'rebuilding orders', async (tx, after) => {
    const keys = await readRebuiltOrderKeys(tx, { afterKey: after ?? '', limit: run.chunkSize });
    if (keys.length > 0) await compareChunk(run, tx, keys);
    return { last: keys.at(-1), count: keys.length };
  });
}

async function compareChunk(run: Run, tx: Queryable, keys: readonly string[]): Promise<void> {
  const parts = await readRebuiltParts(tx, keys);
  const byOrder = groupBy(parts, ({ orderKey }) => orderKey);
  const stored = await readStored(tx, keys);
  const differing = stored.filter((order) => {
    const { ofOrder, ofFindings } = problemsOf(order, byOrder);
    return ofOrder.length > 0 || ofFindings.length > 0;
  });
  run.tally.addChecked('rebuilt_orders', keys.length);
  run.tally.addChecked('rebuilt_order_findings', keys.length);
  if (differing.length === 0) return;
  const differingKeys = differing.map(({ entry }) => entry.orderKey);
  const refs = await namesOfParts(
    tx,
    differingKeys,
    differingKeys.flatMap((orderKey) => byOrder.get(orderKey) ?? []),
  );
  const current = await refoldParts(run, tx, refs);
  for (const one of differing) {
    const { ofOrder, ofFindings } = problemsOf(one, current);
    const subject = { subject: orderSubject(one.entry.orderKey) };
    run.tally.report('rebuilt_orders', subject, ofOrder);
    run.tally.report('rebuilt_order_findings', subject, ofFindings);
  }
}

/** An order with the classes of its open findings. */
interface StoredEntry {
  readonly entry: OrderEntry;
  readonly open: readonly string[];
}

async function readStored(tx: Queryable, keys: readonly string[]): Promise<readonly StoredEntry[]> {
  const open = await readOpenFindings(tx, keys.map(orderSubject));
  const findings = groupBy(open, ({ subject }) => subject);
  return (await readOrderEntries(tx, keys)).map((entry) => ({
    entry,
    open: (findings.get(orderSubject(entry.orderKey)) ?? []).map((finding) => finding.class),
  }));
}

function problemsOf(
  { entry, open }: StoredEntry,
  parts: ReadonlyMap<string, readonly NamedPart[]>,
): { readonly ofOrder: readonly string[]; readonly ofFindings: readonly string[] } {
  const own = parts.get(entry.orderKey) ?? [];
  return {
    ofOrder: orderProblems(entry, own),
    ofFindings: orderFindingProblems(entry, own, open),
  };
}

/** The parts of orders as stored now, and as they were rebuilt. */
async function namesOfParts(
  tx: Queryable,
  keys: readonly string[],
  made: readonly StoredPart[],
): Promise<readonly ResourceRef[]> {
  return distinctRefs([...(await readStoredParts(tx, keys)), ...made].map(({ ref }) => ref));
}

/** Parts by order, folded again in the snapshot of `tx`; refunds and disputes with their payments. */
async function refoldParts(
  { merchantId }: Run,
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<ReadonlyMap<string, readonly NamedPart[]>> {
  const named = await refold(tx, refs, merchantId);
  const known = new Set(refs.map(refKey));
  const parents = distinctRefs(named.flatMap(parentOf)).filter((ref) => !known.has(refKey(ref)));
  const all = [...named, ...(parents.length > 0 ? await refold(tx, parents, merchantId) : [])];
  const orders = new Map(
    all.flatMap(({ ref, state }) =>
      ref.kind === 'payment'
        ? [[refKey(ref), orderKeyOf({ id: ref.id, orderId: state?.orderId })]]
        : [],
    ),
  );
  const filed = all.flatMap((resource) => {
    const payment = resource.ref.kind === 'payment' ? resource.ref : parentOf(resource)[0];
    const orderKey = payment && orders.get(refKey(payment));
    return orderKey === undefined ? [] : [{ orderKey, ...toNamedPart(resource) }];
  });
  return groupBy(filed, ({ orderKey }) => orderKey);
}

function parentOf({ ref, state }: Refolded): readonly ResourceRef[] {
  const hasParent = ref.kind === 'refund' || ref.kind === 'dispute';
  return hasParent && state?.paymentId !== undefined
    ? [{ kind: 'payment', id: state.paymentId }]
    : [];
}

function toNamedPart({ ref, state }: Refolded): NamedPart {
  return {
    ...ref,
    paymentId: state?.paymentId ?? null,
    status: state?.status,
    stage: state?.stage,
    currency: state?.currency,
    amountMinor: state?.amountMinor,
    authorizedMinor: state?.authorizedMinor ?? 0,
    capturedMinor: state?.capturedMinor ?? 0,
  };
}
