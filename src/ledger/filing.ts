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
import type { ResourceRow, Stub } from './store/resources.ts';

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
  /** Payments of refunds and disputes in `refs` that are not in `refs` themselves. */
  readonly parents: readonly ResourceRef[];
  readonly orderKeys: readonly string[];
}

/** One text for one resource, as key of maps and as subject of findings. */
export const refKey = resourceSubject;

export function fileResources(
  { looks, suspects }: FilingInput,
  stored: readonly ResourceRow[],
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
  const stubs: Stub[] = [
    // One that is looked at is filed when its state is known; the others stand alone until then.
    ...[...refs.values()].filter(isMissing).map(({ kind, id }) => ({
      kind,
      id,
      orderKey: kind === 'payment' && !looked.has(refKey({ kind, id })) ? orderKeyOf({ id }) : null,
    })),
    ...parents
      .filter(isMissing)
      .map(({ kind, id }) => ({ kind, id, orderKey: orderKeyOf({ id }) })),
  ];
  const orderKeys = new Set([
    ...[...rows.values()].flatMap(({ orderKey }) => orderKey ?? []),
    ...stubs.flatMap(({ orderKey }) => orderKey ?? []),
    ...carriedOrders(looks, rows),
  ]);
  return { refs: [...refs.values()], stubs, parents, orderKeys: [...orderKeys] };
}

function parentsOf(looks: readonly Look[], rows: readonly ResourceRow[]): readonly string[] {
  return [
    ...new Set([
      ...looks.flatMap(({ content }) => content.paymentId ?? []),
      ...rows.flatMap(({ paymentId }) => paymentId ?? []),
    ]),
  ];
}

/** Orders that looks at payments name; the payment's own where nothing names one. */
function carriedOrders(
  looks: readonly Look[],
  rows: ReadonlyMap<string, ResourceRow>,
): readonly string[] {
  const payments = looks.filter(({ ref }) => ref.kind === 'payment');
  const named = payments.filter(({ content }) => content.orderId !== undefined);
  const hasName = new Set(named.map(({ ref }) => ref.id));
  const unnamed = payments.filter(({ ref }) => !hasName.has(ref.id) && !rows.has(refKey(ref)));
  return [
    ...named.map(({ ref, content }) => orderKeyOf({ id: ref.id, orderId: content.orderId })),
    ...unnamed.map(({ ref }) => orderKeyOf({ id: ref.id })),
  ];
}
