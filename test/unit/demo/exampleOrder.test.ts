/** The demo leaves an order to look at: one of which a webhook was lost, if there is one. */
import { expect, test } from 'vitest';
import type { ComparedOrder } from '../../../src/demo/compare.ts';
import { exampleOrder } from '../../../src/demo/exampleOrder.ts';
import { planOrders } from '../../../src/demo/plan.ts';

const compared = (orderKey: string, outcome: ComparedOrder['outcome']): ComparedOrder => ({
  orderKey,
  outcome,
  differences: [],
});
const plan = { orders: 30, seed: 7 };

test('it is one of which a webhook was lost', () => {
  const orders = [compared('order:demo-7-1', 'equal'), compared('order:demo-7-4', 'lost')];
  expect(exampleOrder(plan, orders).orderId).toBe('demo-7-4');
});

test('it is an order of this run, and no payout', () => {
  const orders = [compared('payout:po_1', 'lost'), compared('order:demo-3-4', 'lost')];
  expect(planOrders(30, 7)).toContainEqual(
    expect.objectContaining({
      orderId: exampleOrder(plan, orders).orderId,
      story: 'refunded_in_parts',
    }),
  );
});

test('a run of one order has it, too', () => {
  expect(exampleOrder({ orders: 1, seed: 7 }, []).orderId).toBe('demo-7-1');
});
