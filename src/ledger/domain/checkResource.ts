/** Whether the findings about a resource or an order, and a resource's place, follow from its state. */
import { orderKeyOf } from './order.ts';
import type { ResourceRef } from './snapshot.ts';

export interface FindingClasses {
  /** Those that come and go with the state, and only with it. */
  readonly following: readonly string[];
  /** What the state shows. */
  readonly shown: readonly string[];
  /** What the row says is open about it. */
  readonly noted: readonly string[];
  /** What is open about it. */
  readonly open: readonly string[];
}

/** Other classes (of time, of comparing with the service) come and go without an observation. */
export function findingProblems(classes: FindingClasses): readonly string[] {
  const { following, shown, noted, open } = classes;
  const missing = [...new Set([...shown, ...noted])].filter((name) => !open.includes(name));
  const unnoted = shown.filter((name) => open.includes(name) && !noted.includes(name));
  const stale = [...new Set([...noted, ...open])].filter(
    (name) => open.includes(name) && following.includes(name) && !shown.includes(name),
  );
  return [
    ...missing.map((name) => `the finding ${name} is not open`),
    ...unnoted.map((name) => `the row does not note its open finding ${name}`),
    ...stale.map((name) => `the finding ${name} is open, though the state does not show it`),
  ];
}

export interface Child extends ResourceRef {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  /** Of its payment; undefined when there is no such payment. */
  readonly parentOrderKey: string | null | undefined;
}

/** What is wrong with the place of a refund or dispute. */
export function childProblem(child: Child): string | undefined {
  const { paymentId, orderKey, parentOrderKey } = child;
  if (paymentId === null) {
    return orderKey === null ? undefined : `it names no payment, but is filed under ${orderKey}`;
  }
  if (parentOrderKey === undefined) return `its payment ${paymentId} is not in the ledger`;
  if (parentOrderKey === orderKey) return undefined;
  return `it is filed under ${orderKey ?? 'no order'}, its payment under ${parentOrderKey ?? 'none'}`;
}

/** Where a payment or payout is filed; undefined for children, which follow their payment. */
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
