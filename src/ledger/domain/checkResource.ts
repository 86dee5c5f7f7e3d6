/** Checks that findings follow from the state of a resource or an order, and where a resource is filed. */
import { columnProblems } from './checks.ts';
import { orderKeyOf } from './orderKey.ts';
import type { ResourceRef } from './snapshot.ts';
import { formatInstant } from './time.ts';

export interface FindingClasses {
  /** The classes that depend on the state alone. */
  readonly following: readonly string[];
  /** The classes that the state shows. */
  readonly shown: readonly string[];
  /** The classes that the row lists as open. */
  readonly noted: readonly string[];
  /** The classes that are open. */
  readonly open: readonly string[];
}

/** Classes that depend on time, or on a comparison with the service, are not checked. */
export function findingProblems(classes: FindingClasses): readonly string[] {
  const { following, shown, noted, open } = classes;
  const missing = [...new Set([...shown, ...noted])].filter((name) => !open.includes(name));
  const unnoted = shown.filter((name) => open.includes(name) && !noted.includes(name));
  const stale = [...new Set([...noted, ...open])].filter(
    (name) => open.includes(name) && following.includes(name) && !shown.includes(name),
  );
  return [
    ...missing.map((name) => `the finding ${name} is not open`),
    ...unnoted.map((name) => `the row does not list its open finding ${name}`),
    ...stale.map((name) => `the finding ${name} is open, but the state does not show it`),
  ];
}

export interface Child extends ResourceRef {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  /** The order of its payment; undefined if the payment is not in the ledger. */
  readonly parentOrderKey: string | null | undefined;
}

/** What is wrong with the order that a refund or dispute is filed under. */
export function childProblem(child: Child): string | undefined {
  const { paymentId, orderKey, parentOrderKey } = child;
  if (paymentId === null) {
    return orderKey === null ? undefined : `it names no payment, but is filed under ${orderKey}`;
  }
  if (parentOrderKey === undefined) return `its payment ${paymentId} is not in the ledger`;
  if (parentOrderKey === orderKey) return undefined;
  return `it is filed under ${orderKey ?? 'no order'}, its payment under ${parentOrderKey ?? 'none'}`;
}

/**
 * What is wrong with the stored beginning of a term. A version before migration 00074 writes none, and leaves one that
 * another version wrote, also beside a status without a term, where nothing reads it.
 * @param sinceMicros as the snapshots show it
 */
export function termProblems(
  sinceMicros: number | undefined,
  { term_since }: { readonly term_since: string | null },
): readonly string[] {
  if (sinceMicros === undefined || term_since === null) return [];
  return columnProblems({ term_since: formatInstant(sinceMicros) }, { term_since });
}

/** The order of a payment or payout; undefined for refunds and disputes, which follow their payment. */
export function placeOf(
  { kind, id }: ResourceRef,
  orderId: string | undefined,
): string | null | undefined {
  switch (kind) {
    case 'payment':
      return orderKeyOf({ id, orderId });
    case 'payout':
      return null;
    case 'refund':
    case 'dispute':
      return undefined;
  }
}
