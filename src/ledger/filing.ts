/**
 * Which rows and orders an application will touch, told from what is stored and what the looks
 * carry, before anything is locked. Pure.
 *
 * The orders named here are those the result can be filed under: where a look puts a resource, and
 * where it stands now if no look says so. A payment that names its order is not looked up before:
 * nearly all are filed where they say. One that stands elsewhere, like an order that only another
 * transaction could bring in, shows up as OrdersMoved once the locks are held.
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
  /** Rows to create for what is only mentioned: suspects, and payments of what is looked at. */
  readonly stubs: readonly Stub[];
  /** Orders of payments that are not in `refs` themselves but have refunds or disputes there. */
  readonly parentOrders: ReadonlyMap<string, string>;
  readonly orderKeys: readonly string[];
}

/** One text for one resource, as key of maps and as subject of findings. */
export const refKey = resourceSubject;

/** Resources that have to be looked up to know their orders. */
export function unfiledRefs({ looks, suspects }: FilingInput): readonly ResourceRef[] {
  const filed = new Set(looks.filter(namesItsOrder).map(({ ref }) => refKey(ref)));
  const refs = [
    ...suspects,
    ...looks.map(({ ref }) => ref),
    ...looks.flatMap(({ content }) => parentRef(content.paymentId)),
  ].filter((ref) => !filed.has(refKey(ref)));
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
}

/** A hint names an order and files nothing, so it is looked up like what names none. */
function namesItsOrder(look: Look): boolean {
  return look.ref.kind === 'payment' && look.content.orderId !== undefined && !isHintLook(look);
}

/** The payment of this id, if there is one. */
export function parentRef(paymentId: string | undefined): readonly ResourceRef[] {
  return paymentId === undefined ? [] : [{ kind: 'payment', id: paymentId }];
}

/** @param stored what `unfiledRefs` and their parents have for rows */
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

  const stubs: Stub[] = [
    ...[...refs.values()].filter((ref) => !looked.has(refKey(ref))),
    ...parents,
  ]
    .filter((ref) => !rows.has(refKey(ref)))
    .map(({ kind, id }) => ({
      kind,
      id,
      orderKey: kind === 'payment' ? orderKeyOf({ id }) : null,
    }));
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
