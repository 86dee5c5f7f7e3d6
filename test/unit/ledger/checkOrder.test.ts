/** The problems of orders that `tallyhook verify` reports. */
import { describe, expect, test } from 'vitest';
import {
  movedProblems,
  type OrderEntry,
  orderFindingProblems,
  orderProblems,
  type StoredOrder,
  type StoredTotals,
} from '../../../src/ledger/domain/checkOrder.ts';
import type { NamedPart } from '../../../src/ledger/domain/orderFindings.ts';

const PAYMENT: NamedPart = {
  kind: 'payment',
  id: 'pay_1',
  paymentId: null,
  status: 'succeeded',
  stage: undefined,
  currency: 'USD',
  amountMinor: 100,
  authorizedMinor: 0,
  capturedMinor: 100,
};
const ORDER: StoredOrder = {
  orderKey: 'order:ord_1',
  orderId: 'ord_1',
  status: 'paid',
  movedTo: [],
  openFindings: [],
};
const TOTALS: StoredTotals = {
  currency: 'USD',
  status: 'paid',
  authorizedMinor: '0',
  capturedMinor: '100',
  refundedMinor: '0',
  refundPendingMinor: '0',
  disputedMinor: '0',
  chargedBackMinor: '0',
};
const ENTRY: OrderEntry = { orderKey: 'order:ord_1', order: ORDER, totals: [TOTALS] };
const HUGE = { ...PAYMENT, capturedMinor: Number.MAX_SAFE_INTEGER };

describe('an order', () => {
  test('is what its parts add up to', () => {
    expect(orderProblems(ENTRY, [PAYMENT])).toEqual([]);
  });

  test.each<[string, Partial<OrderEntry>, readonly NamedPart[], readonly string[]]>([
    [
      'has another id',
      { order: { ...ORDER, orderId: 'x' } },
      [PAYMENT],
      ['orderId is x, not ord_1'],
    ],
    [
      'has another status',
      { order: { ...ORDER, status: 'pending' } },
      [PAYMENT],
      ['status is pending, not paid'],
    ],
    ['has no row', { order: undefined }, [PAYMENT], ['it has 1 part, but no row']],
    [
      'has parts alone',
      { order: undefined, totals: [] },
      [PAYMENT],
      ['it has 1 part, but no row', 'it has no totals in USD'],
    ],
    [
      'has totals alone',
      { order: undefined },
      [],
      ['it has 0 parts, but no row', 'it has totals in USD, but no part in that currency'],
    ],
    ['has no totals', { totals: [] }, [PAYMENT], ['it has no totals in USD']],
    [
      'has totals of another currency',
      { totals: [TOTALS, { ...TOTALS, currency: 'EUR' }] },
      [PAYMENT],
      ['it has totals in EUR, but no part in that currency'],
    ],
    [
      'has another amount',
      { totals: [{ ...TOTALS, capturedMinor: '99' }] },
      [PAYMENT],
      ['USD capturedMinor is 99, not 100'],
    ],
    [
      'has another status of its totals',
      { totals: [{ ...TOTALS, status: 'failed' }] },
      [PAYMENT],
      ['USD status is failed, not paid'],
    ],
    [
      'has a sum that is not exact',
      {},
      [HUGE, HUGE],
      ['its parts add up to more than an exact integer can hold'],
    ],
  ])('that %s is reported', (_what, entry, parts, problems) => {
    expect(orderProblems({ ...ENTRY, ...entry }, parts)).toEqual(problems);
  });

  test('that has neither a row, totals nor parts is none', () => {
    expect(orderProblems({ ...ENTRY, order: undefined, totals: [] }, [])).toEqual([]);
  });

  test('without parts has the status moved', () => {
    expect(orderProblems({ ...ENTRY, totals: [] }, [])).toEqual(['status is paid, not moved']);
    const moved = { ...ORDER, status: 'moved' };
    expect(orderProblems({ ...ENTRY, order: moved, totals: [] }, [])).toEqual([]);
  });

  test('that cannot be derived by a fault of the code is an error, not a problem', () => {
    const broken = { ...PAYMENT, capturedMinor: undefined as unknown as number };
    expect(() => orderProblems(ENTRY, [broken])).toThrow(TypeError);
  });
});

test('an order without parts names the order that they moved to', () => {
  const problem = ['it has no parts, and does not name the order that its payments moved to'];
  expect(movedProblems(ENTRY, [])).toEqual(problem);
  expect(movedProblems(ENTRY, [PAYMENT])).toEqual([]);
  expect(movedProblems({ ...ENTRY, order: undefined }, [])).toEqual([]);
  const movedTo = ['order:ord_2'];
  expect(movedProblems({ ...ENTRY, order: { ...ORDER, movedTo } }, [])).toEqual([]);
});

describe('the findings about an order', () => {
  const twice = [PAYMENT, { ...PAYMENT, id: 'pay_2' }];
  const noted = { ...ENTRY, order: { ...ORDER, openFindings: ['double_paid'] } };

  test('are those that its parts show, in its row and open', () => {
    expect(orderFindingProblems(noted, twice, ['double_paid'])).toEqual([]);
    expect(orderFindingProblems(ENTRY, [PAYMENT], ['amount'])).toEqual([]);
  });

  test.each<[string, OrderEntry, readonly NamedPart[], readonly string[], string]>([
    ['is not open', noted, twice, [], 'the finding double_paid is not open'],
    [
      'is not in its row',
      ENTRY,
      twice,
      ['double_paid'],
      'the row does not list its open finding double_paid',
    ],
    [
      'is not shown',
      noted,
      [PAYMENT],
      ['double_paid'],
      'the finding double_paid is open, but the state does not show it',
    ],
  ])('are reported if one %s', (...[, entry, parts, open, problem]) => {
    expect(orderFindingProblems(entry, parts, open)).toEqual([problem]);
  });

  test.each(['over_refund', 'double_loss', 'double_paid', 'dispute_and_refund', 'currency'])(
    'are reported if %s is open, but no longer shown',
    (name) => {
      const order = { ...ORDER, openFindings: [name] };
      expect(orderFindingProblems({ ...ENTRY, order }, [PAYMENT], [name])).toHaveLength(1);
    },
  );

  test('are not compared for an order without a row, or with a sum that is not exact', () => {
    expect(orderFindingProblems({ ...ENTRY, order: undefined }, twice, [])).toEqual([]);
    expect(orderFindingProblems(ENTRY, [HUGE, HUGE], [])).toEqual([]);
  });
});
