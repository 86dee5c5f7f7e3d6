/**
 * Which rows and orders an application will touch, told from what is stored and what the looks
 * carry, before anything is locked. Pure.
 *
 * The orders named here are those the result can be filed under: where a resource stands now, and
 * where a look would put it. An order that only another transaction could bring in shows up as
 * OrdersMoved once the locks are held.
 */
import { resourceSubject } from './domain/findings.ts';
import type { Look } from './domain/mergeLooks.ts';
import { orderKeyOf } from './domain/order.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import type { ResourceFiling, Stub } from './store/resources.ts';

export interface FilingInput {
  readonly looks: readonly Look[];
  /** Resources to ask the service about, whatever the looks say; they are created if unknown. */
  readonly suspects: readonly ResourceRef[];
}

export interface Filing {
  /** Resources to lock: those looked at, and suspects. */
  readonly refs: readonly ResourceRef[];
  /** Rows to create: of `refs` and their payments. */
  readonly stubs: readonly Stub[];
  /** Orders of payments that are not in `refs` themselves but have refunds or disputes there. */
  readonly parentOrders: ReadonlyMap<string, string>;
  readonly orderKeys: readonly string[];
}

/** One text for one resource, as key of maps and as subject of findings. */
export const refKey = resourceSubject;

export function fileResources(
  { looks, suspects }: FilingInput,
  stored: readonly ResourceFiling[],
): Filing {
  const rows = new Map(stored.map((row) => [refKey(row), row]));
  const refs = new Map(
    [...suspects, ...looks.map(({ ref }) => ref)].map((ref) => [refKey(ref), ref]),
  );
  const looked = new Set(looks.map(({ ref }) => refKey(ref)));
  const parents = parentsOf(
    looks,
    [...refs.keys()].flatMap((key) => rows.get(key) ?? []),
  )
    .map((id): ResourceRef => ({ kind: 'payment', id }))
    .filter((ref) => !refs.has(refKey(ref)));

  const isMissing = (ref: ResourceRef) => !rows.has(refKey(ref));
  const carried = carriedOrders(looks, rows);
  const stubs: Stub[] = [
    ...[...refs.values()].filter(isMissing).map(({ kind, id }) => ({
      kind,
      id,
      orderKey: kind === 'payment' ? (carried.get(id) ?? orderKeyOf({ id })) : null,
      isCheckDue: !looked.has(refKey({ kind, id })),
    })),
    ...parents.filter(isMissing).map(({ kind, id }) => ({
      kind,
      id,
      orderKey: orderKeyOf({ id }),
      isCheckDue: true,
    })),
  ];
  const orderKeys = new Set([
    ...[...rows.values()].flatMap(({ orderKey }) => orderKey ?? []),
    ...stubs.flatMap(({ orderKey }) => orderKey ?? []),
    ...carried.values(),
    ...carriedKeys(looks),
  ]);
  const parentOrders = parents.map(
    (ref) => [ref.id, rows.get(refKey(ref))?.orderKey ?? orderKeyOf(ref)] as const,
  );
  return {
    refs: [...refs.values()],
    stubs,
    parentOrders: new Map(parentOrders),
    orderKeys: [...orderKeys],
  };
}

function parentsOf(looks: readonly Look[], rows: readonly ResourceFiling[]): readonly string[] {
  return [
    ...new Set([
      ...looks.flatMap(({ content }) => content.paymentId ?? []),
      ...rows.flatMap(({ paymentId }) => paymentId ?? []),
    ]),
  ];
}

/** Every order that a look at a payment names. */
function carriedKeys(looks: readonly Look[]): readonly string[] {
  return looks.flatMap(({ ref, content }) =>
    ref.kind === 'payment' && content.orderId !== undefined
      ? [orderKeyOf({ id: ref.id, orderId: content.orderId })]
      : [],
  );
}

/** For payments that are new: the order that a look names, else the payment's own. */
function carriedOrders(
  looks: readonly Look[],
  rows: ReadonlyMap<string, ResourceFiling>,
): ReadonlyMap<string, string> {
  const orders = new Map<string, string>();
  for (const { ref, content } of looks) {
    if (ref.kind !== 'payment' || rows.has(refKey(ref))) continue;
    if (content.orderId !== undefined || !orders.has(ref.id)) {
      orders.set(ref.id, orderKeyOf({ id: ref.id, orderId: content.orderId }));
    }
  }
  return orders;
}
