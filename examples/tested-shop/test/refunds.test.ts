import { beforeEach, expect, test } from 'vitest';
import { CARD, order, useBench } from './support.ts';

const bench = useBench({ clock: '2026-12-31T23:59:59Z' });
const HOUR_MS = 3_600_000;
const large = order({ amount: 20_000 });

beforeEach(async () => {
  await bench.shop.checkOut(large, CARD);
  await bench.shop.ship(large);
});

test.each([1, 99, 100, 5000, 6540, 19_999, 20_000])('%i of 20000 are refunded', async (amount) => {
  expect(await bench.shop.refund(large, 1, amount)).toBe('succeeded');
});

test.each([20_001, 1_000_000])('%i of 20000 are too much', async (amount) => {
  const refund = bench.shop.refund(large, 1, amount);
  await expect(refund).rejects.toMatchObject({ kind: 'refused' });
});

test.each([2, 3, 4, 5])('%i refunds of 4000 each', async (count) => {
  for (let number = 1; number <= count; number += 1) {
    expect(await bench.shop.refund(large, number, 4000)).toBe('succeeded');
  }
});

test('a refund beyond what is left is refused', async () => {
  await bench.shop.refund(large, 1, 15_000);
  const second = bench.shop.refund(large, 2, 5001);
  await expect(second).rejects.toMatchObject({ kind: 'refused' });
  expect(await bench.shop.refund(large, 3, 5000)).toBe('succeeded');
});

test('a refund with the number of another one is not paid twice', async () => {
  await bench.shop.refund(large, 1, 1000);
  await bench.shop.refund(large, 1, 1000);
  const { items } = await bench.service.refunds.list();
  expect(items).toHaveLength(1);
});

// The sandbox chooses the outcome of a refund by its amount.
test('a refund that fails', async () => {
  expect(await bench.shop.refund(large, 1, 7710)).toBe('failed');
});

test('a refund that takes an hour', async () => {
  expect(await bench.shop.refund(large, 1, 7720)).toBe('pending');
  await bench.sandbox.advance(HOUR_MS);
  const refund = await bench.service.refunds.retrieve('order-1001-1');
  expect(refund).toMatchObject({ status: 'succeeded', modified_at: '2027-01-01T00:59:59.000Z' });
});

test('a refund that a person has to review', async () => {
  expect(await bench.shop.refund(large, 1, 7730)).toBe('review');
});

test('a refund that fails later', async () => {
  await bench.shop.refund(large, 1, 1000);
  await bench.sandbox.control('POST', '/refunds/order-1001-1/move', { status: 'failed' });
  expect(await bench.service.refunds.retrieve('order-1001-1')).toMatchObject({ status: 'failed' });
});

test('an order that was not shipped has nothing to refund', async () => {
  const other = order({ id: 'held' });
  await bench.shop.checkOut(other, CARD);
  await expect(bench.shop.refund(other, 1, 100)).rejects.toMatchObject({ kind: 'refused' });
});
