import { expect, test } from 'vitest';
import { planOrders } from '../../../src/demo/plan.ts';

test('the same seed plans the same orders, another seed others', () => {
  expect(planOrders(50, 7)).toEqual(planOrders(50, 7));
  const anonymous = (seed: number) => planOrders(50, seed).map(({ orderId: _, ...rest }) => rest);
  expect(anonymous(7)).not.toEqual(anonymous(8));
});

test('a plan of more orders begins with those of a shorter one', () => {
  expect(planOrders(200, 3).slice(0, 60)).toEqual(planOrders(60, 3));
});

test('the first orders go through every story, and ids are never shared', () => {
  const plan = planOrders(18, 1);
  expect(new Set(plan.map(({ story }) => story)).size).toBe(18);
  const many = planOrders(1_000, 1);
  expect(new Set(many.map(({ orderId }) => orderId)).size).toBe(1_000);
  expect(new Set(many.map(({ story }) => story)).size).toBe(18);
});

test('amounts stay below those that choose an outcome in the sandbox, and can be halved', () => {
  for (const { amountMinor } of planOrders(2_000, 5)) {
    expect(amountMinor).toBeGreaterThanOrEqual(2);
    expect(amountMinor).toBeLessThan(700_000);
    expect(Number.isSafeInteger(amountMinor)).toBe(true);
  }
});
