/** Tests cite the invariants at the head of src/demo/compare.ts by their numbers. */
import { describe, expect, test } from 'vitest';
import type { ResourceKind } from '../../../src/contract/resources/index.ts';
import { type BothSides, compareSides } from '../../../src/demo/compare.ts';
import type { ServiceResource } from '../../../src/demo/control.ts';
import type { WholeResource, WholeTotals } from '../../../src/ledger/read/store/wholeLedger.ts';

const PAID: ServiceResource = {
  payment_id: 'p1',
  status: 'succeeded',
  currency: 'USD',
  amount: 900,
  amount_received: 900,
  metadata: { order_id: 'o1' },
};
const PAID_ROW: WholeResource = {
  kind: 'payment',
  id: 'p1',
  orderKey: 'order:o1',
  status: 'succeeded',
  currency: 'USD',
  amountMinor: 900,
  capturedMinor: 900,
};
const TOTALS: WholeTotals = {
  orderKey: 'order:o1',
  currency: 'USD',
  capturedMinor: 900,
  refundedMinor: 0,
  chargedBackMinor: 0,
};

interface Sides {
  readonly serviceResources?: readonly (readonly [ResourceKind, readonly ServiceResource[]])[];
  readonly resources?: readonly WholeResource[];
  readonly totals?: readonly WholeTotals[];
  readonly missed?: readonly string[];
}

function compare(changes: Sides) {
  const sides: BothSides = {
    serviceResources: new Map(changes.serviceResources ?? [['payment', [PAID]]]),
    resources: changes.resources ?? [PAID_ROW],
    totals: changes.totals ?? [TOTALS],
    missed: new Set(changes.missed),
  };
  return compareSides(sides);
}

test('equal sides are equal', () => {
  expect(compare({})).toEqual([{ orderKey: 'order:o1', outcome: 'equal', differences: [] }]);
});

describe('1: a resource that only one side has is a difference', () => {
  test('unknown to the ledger', () => {
    const [order] = compare({ resources: [], totals: [] });
    expect(order).toMatchObject({ orderKey: 'order:o1', outcome: 'different' });
    expect(order?.differences).toEqual([
      'payment p1: unknown to the ledger, succeeded at the service',
    ]);
  });

  test('unknown to the service', () => {
    const invented: WholeResource = { ...PAID_ROW, id: 'p9', orderKey: 'order:o9' };
    const orders = compare({ resources: [PAID_ROW, invented] });
    expect(orders.find(({ orderKey }) => orderKey === 'order:o9')).toEqual({
      orderKey: 'order:o9',
      outcome: 'different',
      differences: ['payment p9: unknown to the service'],
    });
  });
});

describe('2: a resource with a lost event is lost, not different', () => {
  const stale = { ...PAID_ROW, status: 'processing', capturedMinor: 0 };

  test('a difference without a lost event is a mistake', () => {
    expect(compare({ resources: [stale] })[0]?.outcome).toBe('different');
  });

  test('a difference of a resource with a lost event is not', () => {
    const [order] = compare({ resources: [stale], missed: ['p1'] });
    expect(order?.outcome).toBe('lost');
    expect(order?.differences).toEqual([
      'payment p1: status processing in the ledger, succeeded at the service',
      'payment p1: captured 0 in the ledger, 900 at the service',
    ]);
  });

  test("another resource's lost event excuses nothing", () => {
    expect(compare({ resources: [stale], missed: ['p2'] })[0]?.outcome).toBe('different');
  });

  test('a lost event that changed nothing leaves the order equal', () => {
    expect(compare({ missed: ['p1'] })[0]?.outcome).toBe('equal');
  });
});

describe('3: money of an order, per currency', () => {
  test.each([
    ['captured', { capturedMinor: 899 }, 'captured 899 USD in the ledger, 900 at the service'],
    ['refunded', { refundedMinor: 1 }, 'refunded 1 USD in the ledger, 0 at the service'],
    ['lost', { chargedBackMinor: 1 }, 'charged back 1 USD in the ledger, 0 at the service'],
    ['currency', { currency: 'EUR' }, 'captured 0 USD in the ledger, 900 at the service'],
  ])('%s', (_, change, text) => {
    const [order] = compare({ totals: [{ ...TOTALS, ...change }], missed: ['p1'] });
    expect(order?.outcome).toBe('different');
    expect(order?.differences).toContain(text);
  });

  test('a dispute at the stage pre_dispute has moved no money, also when it is lost', () => {
    const child = { payment_id: 'p1', currency: 'USD', amount: 200 };
    const lost = { ...child, dispute_status: 'dispute_lost' };
    const row = { ...PAID_ROW, kind: 'dispute' as const, amountMinor: 200, capturedMinor: 0 };
    const [order] = compare({
      serviceResources: [
        ['payment', [PAID]],
        ['dispute', [{ ...lost, dispute_id: 'd1', dispute_stage: 'pre_dispute' }]],
      ],
      resources: [PAID_ROW, { ...row, id: 'd1', status: 'lost' }],
    });
    expect(order?.differences).toEqual([]);
  });

  test('refunds count once they succeeded, disputes once they are lost', () => {
    const child = { payment_id: 'p1', currency: 'USD', amount: 200 };
    const row = { ...PAID_ROW, amountMinor: 200, capturedMinor: 0 };
    const [order] = compare({
      serviceResources: [
        ['payment', [PAID]],
        ['refund', [{ ...child, refund_id: 'r1', status: 'succeeded' }]],
        ['dispute', [{ ...child, dispute_id: 'd1', dispute_status: 'dispute_lost' }]],
      ],
      resources: [
        PAID_ROW,
        { ...row, kind: 'refund', id: 'r1', status: 'succeeded' },
        { ...row, kind: 'dispute', id: 'd1', status: 'lost' },
      ],
      totals: [{ ...TOTALS, refundedMinor: 200, chargedBackMinor: 200 }],
    });
    expect(order).toEqual({ orderKey: 'order:o1', outcome: 'equal', differences: [] });
  });
});
