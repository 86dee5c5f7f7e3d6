/** Compares orders with what the resources that were made again add up to. */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { orderProblems } from '../domain/checkOrder.ts';
import { type OrderPart, orderKeyOf } from '../domain/order.ts';
import { orderSubject } from '../domain/orderFindings.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { refKey } from '../filing.ts';
import { readRebuiltOrderKeys, readRebuiltParts } from '../store/rebuild.ts';
import { readStoredParts, type StoredPart } from '../store/verifyOrders.ts';
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
  const differing = (await readOrderEntries(tx, keys)).filter(
    (entry) => orderProblems(entry, byOrder.get(entry.orderKey) ?? []).length > 0,
  );
  run.tally.looked('rebuilt_orders', keys.length);
  if (differing.length === 0) return;
  const differingKeys = differing.map(({ orderKey }) => orderKey);
  const refs = await namesOfParts(
    tx,
    differingKeys,
    differingKeys.flatMap((orderKey) => byOrder.get(orderKey) ?? []),
  );
  const current = await refoldParts(run, tx, refs);
  for (const entry of differing) {
    const problems = orderProblems(entry, current.get(entry.orderKey) ?? []);
    run.tally.judge('rebuilt_orders', { subject: orderSubject(entry.orderKey) }, problems);
  }
}

/** What is filed under orders now, and what was when it was made again. */
async function namesOfParts(
  tx: Queryable,
  keys: readonly string[],
  made: readonly StoredPart[],
): Promise<readonly ResourceRef[]> {
  return distinct([...(await readStoredParts(tx, keys)), ...made].map(({ ref }) => ref));
}

/** Parts by order, folded again at the moment of `tx`; children with their payments. */
async function refoldParts(
  { merchantId }: Run,
  tx: Queryable,
  refs: readonly ResourceRef[],
): Promise<ReadonlyMap<string, readonly OrderPart[]>> {
  const named = await refold(tx, refs, merchantId);
  const known = new Set(refs.map(refKey));
  const parents = distinct(named.flatMap(parentOf)).filter((ref) => !known.has(refKey(ref)));
  const all = [...named, ...(parents.length > 0 ? await refold(tx, parents, merchantId) : [])];
  const orders = new Map(
    all.flatMap(({ ref, state }) =>
      ref.kind === 'payment'
        ? [[refKey(ref), orderKeyOf({ id: ref.id, orderId: state?.orderId })]]
        : [],
    ),
  );
  const filed = all.flatMap((one) => {
    const payment = one.ref.kind === 'payment' ? one.ref : parentOf(one)[0];
    const orderKey = payment && orders.get(refKey(payment));
    return orderKey === undefined ? [] : [{ orderKey, ...toOrderPart(one) }];
  });
  return groupBy(filed, ({ orderKey }) => orderKey);
}

function parentOf({ ref, state }: Refolded): readonly ResourceRef[] {
  const hasParent = ref.kind === 'refund' || ref.kind === 'dispute';
  return hasParent && state?.paymentId !== undefined
    ? [{ kind: 'payment', id: state.paymentId }]
    : [];
}

function toOrderPart({ ref, state }: Refolded): OrderPart {
  return {
    kind: ref.kind,
    status: state?.status,
    stage: state?.stage,
    currency: state?.currency,
    amountMinor: state?.amountMinor,
    authorizedMinor: state?.authorizedMinor ?? 0,
    capturedMinor: state?.capturedMinor ?? 0,
  };
}

function distinct(refs: readonly ResourceRef[]): readonly ResourceRef[] {
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}
