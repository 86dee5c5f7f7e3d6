/**
 * Compares the ledger with the resources of the sandbox, order by order. Pure.
 *
 * 1. Both sides are compared in full: what only one side has is a difference.
 * 2. A difference is *lost* if an event of that resource never arrived, so the ledger could not know.
 *    Any other difference is an error of the ledger.
 * 3. Captured, refunded and charged-back totals are compared per currency, besides the parts.
 */
import type { ResourceKind } from '../contract/resources/index.ts';
import type { WholeResource, WholeTotals } from '../ledger/read/store/wholeLedger.ts';
import { groupBy } from '../platform/collections.ts';
import type { ServiceResource } from './control.ts';

export interface BothSides {
  readonly serviceResources: ReadonlyMap<ResourceKind, readonly ServiceResource[]>;
  readonly resources: readonly WholeResource[];
  readonly totals: readonly WholeTotals[];
  /** Ids of resources with at least one event that never arrived. */
  readonly missed: ReadonlySet<string>;
}

export interface ComparedOrder {
  /** As in the ledger: `order:ID`, or `payout:ID`, which belongs to no order. */
  readonly orderKey: string;
  readonly outcome: 'equal' | 'lost' | 'different';
  /** For people, one for each difference. */
  readonly differences: readonly string[];
}

export function compareSides({
  serviceResources,
  resources,
  totals,
  missed,
}: BothSides): readonly ComparedOrder[] {
  const facts = factsOf(serviceResources);
  const ledger = new Map(resources.map((row) => [`${row.kind}:${row.id}`, row]));
  const orders = new Map<string, { lost: string[]; different: string[] }>();
  const orderOf = (orderKey: string) => {
    const order = orders.get(orderKey) ?? { lost: [], different: [] };
    orders.set(orderKey, order);
    return order;
  };

  for (const fact of facts) {
    const order = orderOf(fact.orderKey);
    const differences = partDifferences(fact, ledger.get(`${fact.kind}:${fact.id}`));
    (missed.has(fact.id) ? order.lost : order.different).push(...differences);
    ledger.delete(`${fact.kind}:${fact.id}`);
  }
  for (const { kind, id, orderKey } of ledger.values()) {
    orderOf(orderKey ?? `${kind}:${id}`).different.push(`${kind} ${id}: unknown to the service`);
  }
  const expected = expectedTotals(facts);
  const ownTotals = groupBy(totals, ({ orderKey }) => orderKey);
  for (const orderKey of orders.keys()) {
    const order = orderOf(orderKey);
    // Totals follow from the parts: if a part differs, they do too, and that is reported already.
    if (order.lost.length + order.different.length > 0) continue;
    order.different.push(
      ...totalDifferences(expected.get(orderKey) ?? new Map(), ownTotals.get(orderKey) ?? []),
    );
  }
  return [...orders].map(([orderKey, { lost, different }]) => ({
    orderKey,
    outcome: different.length > 0 ? 'different' : lost.length > 0 ? 'lost' : 'equal',
    differences: [...different, ...lost],
  }));
}

interface Fact {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly orderKey: string;
  readonly status: string;
  /** Disputes only; otherwise empty. */
  readonly stage: string;
  readonly currency: string;
  readonly amountMinor: number;
  /** Payments only. */
  readonly capturedMinor: number | undefined;
}

const ID_FIELDS = {
  payment: 'payment_id',
  refund: 'refund_id',
  dispute: 'dispute_id',
  payout: 'payout_id',
} as const satisfies Record<ResourceKind, string>;

function factsOf(serviceResources: BothSides['serviceResources']): readonly Fact[] {
  const orderOfPayment = new Map(
    (serviceResources.get('payment') ?? []).map((resource) => [
      textOf(resource, 'payment_id'),
      orderKeyOf(resource),
    ]),
  );
  return [...serviceResources].flatMap(([kind, rows]) =>
    rows.map((resource): Fact => {
      const id = textOf(resource, ID_FIELDS[kind]);
      const parent = orderOfPayment.get(textOf(resource, 'payment_id'));
      return {
        kind,
        id,
        orderKey: kind === 'payout' ? `payout:${id}` : (parent ?? `${kind}:${id}`),
        status: (textOf(resource, 'dispute_status') || textOf(resource, 'status')).replace(
          /^dispute_/,
          '',
        ),
        stage: textOf(resource, 'dispute_stage'),
        currency: textOf(resource, 'currency'),
        amountMinor: Number(resource.amount),
        capturedMinor: kind === 'payment' ? Number(resource.amount_received ?? 0) : undefined,
      };
    }),
  );
}

function orderKeyOf(payment: ServiceResource): string {
  const { metadata } = payment;
  const orderId =
    typeof metadata === 'object' && metadata !== null && 'order_id' in metadata
      ? metadata.order_id
      : undefined;
  return typeof orderId === 'string'
    ? `order:${orderId}`
    : `payment:${textOf(payment, 'payment_id')}`;
}

function textOf(resource: ServiceResource, field: string): string {
  const value = resource[field];
  return typeof value === 'string' ? value : '';
}

/** How one resource differs between service and ledger, for people; empty if it does not. */
export function differencesOf(
  kind: ResourceKind,
  resource: ServiceResource,
  row: WholeResource | undefined,
): readonly string[] {
  return factsOf(new Map([[kind, [resource]]])).flatMap((fact) => partDifferences(fact, row));
}

function partDifferences(fact: Fact, row: WholeResource | undefined): readonly string[] {
  const name = `${fact.kind} ${fact.id}`;
  if (!row) return [`${name}: unknown to the ledger, ${fact.status} at the service`];
  // A refund or dispute refers to it, and no snapshot of it exists.
  if (row.status === null) {
    return [`${name}: only mentioned in the ledger, ${fact.status} at the service`];
  }
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['status', row.status, fact.status],
    ['currency', row.currency, fact.currency],
    ['amount', row.amountMinor, fact.amountMinor],
    ['captured', row.capturedMinor, fact.capturedMinor ?? row.capturedMinor],
  ];
  return pairs
    .filter(([, ours, theirs]) => ours !== theirs)
    .map(
      ([field, ours, theirs]) =>
        `${name}: ${field} ${ours} in the ledger, ${theirs} at the service`,
    );
}

interface Money {
  readonly captured: number;
  readonly refunded: number;
  readonly chargedBack: number;
}

const NOTHING: Money = { captured: 0, refunded: 0, chargedBack: 0 };

function expectedTotals(facts: readonly Fact[]): ReadonlyMap<string, Map<string, Money>> {
  const totals = new Map<string, Map<string, Money>>();
  for (const fact of facts) {
    if (fact.kind === 'payout') continue;
    const own = totals.get(fact.orderKey) ?? new Map<string, Money>();
    totals.set(fact.orderKey, own);
    const before = own.get(fact.currency) ?? NOTHING;
    own.set(fact.currency, {
      captured: before.captured + (fact.capturedMinor ?? 0),
      refunded: before.refunded + (isRefunded(fact) ? fact.amountMinor : 0),
      chargedBack: before.chargedBack + (isChargedBack(fact) ? fact.amountMinor : 0),
    });
  }
  return totals;
}

function isRefunded({ kind, status }: Fact): boolean {
  return kind === 'refund' && status === 'succeeded';
}

/** Dispute statuses that lose the money; see docs/decisions/0009-contract-where-silent.md. */
const LOST_STATUSES = new Set(['lost', 'accepted', 'expired']);

/** At the stage `pre_dispute` the bank inquires only: no outcome moves money. */
function isChargedBack({ kind, status, stage }: Fact): boolean {
  return kind === 'dispute' && stage !== 'pre_dispute' && LOST_STATUSES.has(status);
}

function totalDifferences(
  expected: ReadonlyMap<string, Money>,
  rows: readonly WholeTotals[],
): readonly string[] {
  const ledger = new Map(rows.map((row) => [row.currency, row]));
  return [...new Set([...expected.keys(), ...ledger.keys()])].flatMap((currency) => {
    const theirs = expected.get(currency) ?? NOTHING;
    const ours = ledger.get(currency);
    const pairs: readonly (readonly [string, number, number])[] = [
      ['captured', ours?.capturedMinor ?? 0, theirs.captured],
      ['refunded', ours?.refundedMinor ?? 0, theirs.refunded],
      ['charged back', ours?.chargedBackMinor ?? 0, theirs.chargedBack],
    ];
    return pairs
      .filter(([, left, right]) => left !== right)
      .map(
        ([what, left, right]) =>
          `${what} ${left} ${currency} in the ledger, ${right} at the service`,
      );
  });
}
