import { expect, test } from 'vitest';
import { CARD, order, useBench } from './support.ts';

// The authorization of this evening ends in March: February has 29 days.
const bench = useBench({ clock: '2028-02-27T23:00:00Z' });
const DAY_MS = 24 * 3_600_000;

test('without an amount, all of it is captured', async () => {
  const { shop } = bench;
  await shop.checkOut(order(), CARD);
  expect(await shop.ship(order())).toBe(6540);
});

test.each([6540, 6539, 5000, 1000, 1])('%i of 6540 is captured', async (amount) => {
  const { shop } = bench;
  await shop.checkOut(order(), CARD);
  expect(await shop.ship(order(), amount)).toBe(amount);
});

test.each([0, 1, 2, 3, 4, 5, 6])('goods that leave after %i days are paid', async (days) => {
  const { shop, sandbox } = bench;
  await shop.checkOut(order(), CARD);
  await sandbox.advance(days * DAY_MS);
  expect(await shop.ship(order())).toBe(6540);
});

test.each(['2028-03-05T23:00:00Z', '2028-03-06T12:00:00Z', '2029-01-01T00:00:00Z'])(
  'at %s the authorization has expired',
  async (instant) => {
    const { shop, sandbox } = bench;
    await shop.checkOut(order(), CARD);
    await sandbox.setClock(instant);
    expect(await shop.look(order())).toMatchObject({ show: 'declined', reason: 'expired' });
    await expect(shop.ship(order())).rejects.toMatchObject({ kind: 'refused' });
  },
);

test('one second before it expires, it can be captured', async () => {
  const { shop, sandbox } = bench;
  await shop.checkOut(order(), CARD);
  await sandbox.setClock('2028-03-05T22:59:59Z');
  expect(await shop.ship(order())).toBe(6540);
});

test('more than the amount is refused', async () => {
  const { shop } = bench;
  await shop.checkOut(order(), CARD);
  await expect(shop.ship(order(), 6541)).rejects.toMatchObject({ kind: 'refused' });
});

test('an order that was cancelled cannot be shipped', async () => {
  const { shop } = bench;
  await shop.checkOut(order(), CARD);
  await shop.cancel(order());
  await expect(shop.ship(order())).rejects.toMatchObject({ kind: 'refused' });
});

test('an order from before is listed after those of today', async () => {
  const { shop, sandbox, service } = bench;
  await shop.checkOut(order({ id: 'today' }), CARD);
  await sandbox.setClock('2028-01-15T00:00:00Z');
  await shop.checkOut(order({ id: 'january' }), CARD);
  const { items } = await service.payments.list();
  expect(items.map(({ payment_id: id }) => id)).toEqual(['order-today', 'order-january']);
});
