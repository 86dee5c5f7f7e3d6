import { expect, test } from 'vitest';
import { CARD, order, useBench } from './support.ts';

const bench = useBench({ clock: '2026-11-23T09:00:00Z' });

test.each(['USD', 'EUR', 'GBP', 'JPY', 'KWD', 'CHF', 'SEK', 'INR'])(
  'an order in %s is authorized with its amount',
  async (currency) => {
    const { shop, service } = bench;
    expect(await shop.checkOut(order({ currency }), CARD)).toEqual({ show: 'thanks' });
    const payment = await service.payments.retrieve('order-1001');
    expect(payment).toMatchObject({ currency, amount: 6540, created: '2026-11-23T09:00:00.000Z' });
  },
);

// The sandbox declines amounts from 770000 with the code of their last four digits.
test.each([
  [771001, 'Insufficient funds', false],
  [771002, 'The card has expired', false],
  [771006, 'The card was reported lost or stolen', false],
  [771007, 'The card was declined by the issuer', false],
  [771015, 'The card is not active', false],
])('the decline %i is shown as "%s"', async (amount, reason, mayRetry) => {
  const step = await bench.shop.checkOut(order({ amount }), CARD);
  expect(step).toEqual({ show: 'declined', reason, mayRetry });
});

test.each([
  ['complete', { show: 'thanks' }],
  ['fail', { show: 'declined' }],
  ['abandon', { show: 'declined' }],
])('a customer who has to %s at the bank comes back', async (action, step) => {
  const { shop, sandbox } = bench;
  const secured = order({ amount: 730000 });
  expect(await shop.checkOut(secured, CARD)).toMatchObject({ show: 'bank' });
  await sandbox.control('POST', '/payments/order-1001/action', { action });
  expect(await shop.look(secured)).toMatchObject(step);
});

test('a customer who never comes back from the bank has 15 minutes', async () => {
  const { shop, sandbox } = bench;
  const secured = order({ amount: 730000 });
  await shop.checkOut(secured, CARD);
  await sandbox.advance(14 * 60_000);
  expect(await shop.look(secured)).toMatchObject({ show: 'bank' });
  await sandbox.advance(60_000);
  expect(await shop.look(secured)).toMatchObject({ show: 'declined' });
});

test('a bank that takes five minutes', async () => {
  const { shop, sandbox } = bench;
  const slow = order({ amount: 750000 });
  expect(await shop.checkOut(slow, CARD)).toEqual({ show: 'wait' });
  await sandbox.advance(5 * 60_000);
  expect(await shop.look(slow)).toEqual({ show: 'thanks' });
});

test('an order that is checked out twice is one payment', async () => {
  const { shop, service } = bench;
  await shop.checkOut(order(), CARD);
  expect(await shop.checkOut(order(), CARD)).toEqual({ show: 'thanks' });
  expect((await service.payments.list()).items).toHaveLength(1);
});

test('an order with the id of another one is refused', async () => {
  await bench.shop.checkOut(order(), CARD);
  const other = bench.shop.checkOut(order({ amount: 1 }), CARD);
  await expect(other).rejects.toMatchObject({ kind: 'id_in_use' });
});
