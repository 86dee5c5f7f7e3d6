/**
 * Plans which resources and orders a transaction locks, from stored placements and new observations.
 * Pure.
 *
 * The plan names every order that the result can be filed under: the order that an observation names,
 * or else the stored one. A payment that names its order is not looked up first, because it is almost
 * always filed there already. If it is filed elsewhere, or if another transaction adds an order,
 * applySnapshots finds out under the locks and throws LockSetChanged.
 */

import type { UnappliedRef } from './domain/event.ts';
import { orderKeyOf } from './domain/orderKey.ts';
import {
  distinctRefs,
  isHintObservation,
  type Observation,
  type ResourceRef,
  refKey,
} from './domain/snapshot.ts';
import type { Placement, Stub } from './store/resources.ts';

export interface PlanInput {
  readonly observations: readonly Observation[];
  /** Resources to retrieve, regardless of the observations. Unknown ones are created. */
  readonly toRetrieve: readonly UnappliedRef[];
}

export interface LockPlan {
  /** Resources to lock: those with observations and those to retrieve. */
  readonly refs: readonly ResourceRef[];
  /** Rows to create for resources without an observation: those to retrieve, and parent payments. */
  readonly stubs: readonly Stub[];
  /** Orders of payments that are not in `refs` but have refunds or disputes in it. */
  readonly parentOrders: ReadonlyMap<string, string>;
  readonly orderKeys: readonly string[];
}

/** Resources that must be looked up because no observation names their order. */
export function unplacedRefs({ observations, toRetrieve }: PlanInput): readonly ResourceRef[] {
  const filed = new Set(observations.filter(namesItsOrder).map(({ ref }) => refKey(ref)));
  const refs = [
    ...toRetrieve,
    ...observations.map(({ ref }) => ref),
    ...observations.flatMap(({ content }) => parentRef(content.paymentId)),
  ].filter((ref) => !filed.has(refKey(ref)));
  return distinctRefs(refs);
}

/** A hint does not file a resource, even if it names an order. */
function namesItsOrder(observation: Observation): boolean {
  return (
    observation.ref.kind === 'payment' &&
    observation.content.orderId !== undefined &&
    !isHintObservation(observation)
  );
}

/** The reference to a payment, if there is an id. */
export function parentRef(paymentId: string | undefined): readonly ResourceRef[] {
  return paymentId === undefined ? [] : [{ kind: 'payment', id: paymentId }];
}

/** @param stored the stored placements of `unplacedRefs` and of their parents */
export function planLocks(
  { observations, toRetrieve }: PlanInput,
  stored: readonly Placement[],
): LockPlan {
  const rows = new Map(stored.map((row) => [refKey(row), row]));
  const refs = new Map(
    [...toRetrieve, ...observations.map(({ ref }) => ref)].map((ref) => [refKey(ref), ref]),
  );
  // A hint does not produce a state.
  const observed = new Set(
    observations
      .filter((observation) => !isHintObservation(observation))
      .map(({ ref }) => refKey(ref)),
  );
  const parents = parentsOf(
    observations,
    [...refs.keys()].flatMap((key) => rows.get(key) ?? []),
  )
    .map((id): ResourceRef => ({ kind: 'payment', id }))
    .filter((ref) => !refs.has(refKey(ref)));

  const stubs: Stub[] = [
    ...[...refs.values()].filter((ref) => !observed.has(refKey(ref))),
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
    ...carriedOrders(observations, rows),
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

function parentsOf(
  observations: readonly Observation[],
  rows: readonly Placement[],
): readonly string[] {
  return [
    ...new Set([
      ...observations.flatMap(({ content }) => content.paymentId ?? []),
      ...rows.flatMap(({ paymentId }) => paymentId ?? []),
    ]),
  ];
}

/** Orders that observations of payments name; for a new payment without one, the payment's own order. */
function carriedOrders(
  observations: readonly Observation[],
  rows: ReadonlyMap<string, Placement>,
): readonly string[] {
  return observations.flatMap(({ ref, content }) => {
    const isNamed = content.orderId !== undefined || !rows.has(refKey(ref));
    return ref.kind === 'payment' && isNamed
      ? [orderKeyOf({ id: ref.id, orderId: content.orderId })]
      : [];
  });
}
