/**
 * Which rows and orders an application will touch, told from what is stored and what the looks
 * carry, before anything is locked. Pure.
 *
 * The orders named here are those the result can be filed under: where a resource stands now, and
 * where a look would put it. An order that only another transaction could bring in shows up as
 * OrdersMoved once the locks are held.
 */
import { resourceSubject } from './domain/findings.ts';
import { isHintLook, type Look } from './domain/mergeLooks.ts';
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
  /** Those of `refs` that have no row yet. */
  readonly missing: ReadonlySet<string>;
  /** Rows to create for what is only mentioned: suspects, and payments of what is looked at. */
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
  // A hint gives no state that could be filed.
  const looked = new Set(looks.filter((look) => !isHintLook(look)).map(({ ref }) => refKey(ref)));
  const parents = parentsOf(
    looks,
    [...refs.keys()].flatMap((key) => rows.get(key) ?? []),
  )
    .map((id): ResourceRef => ({ kind: 'payment', id }))
    .filter((ref) => !refs.has(refKey(ref)));

  const isMissing = (ref: ResourceRef) => !rows.has(refKey(ref));
  const missing = [...refs.values()].filter(isMissing);
  const stubs: Stub[] = [
    ...missing.filter((ref) => !looked.has(refKey(ref))),
    ...parents.filter(isMissing),
  ].map(({ kind, id }) => ({ kind, id, orderKey: kind === 'payment' ? orderKeyOf({ id }) : null }));
  const orderKeys = new Set([
    ...[...rows.values()].flatMap(({ orderKey }) => orderKey ?? []),
    ...stubs.flatMap(({ orderKey }) => orderKey ?? []),
    ...carriedOrders(looks, rows),
  ]);
  const parentOrders = parents.map(
    (ref) => [ref.id, rows.get(refKey(ref))?.orderKey ?? orderKeyOf(ref)] as const,
  );
  return {
    refs: [...refs.values()],
    missing: new Set(missing.map(refKey)),
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

/** Orders that looks at payments name; for new payments that no look files, their own. */
function carriedOrders(
  looks: readonly Look[],
  rows: ReadonlyMap<string, ResourceFiling>,
): readonly string[] {
  return looks.flatMap(({ ref, content }) => {
    const isNamed = content.orderId !== undefined || !rows.has(refKey(ref));
    return ref.kind === 'payment' && isNamed
      ? [orderKeyOf({ id: ref.id, orderId: content.orderId })]
      : [];
  });
}
