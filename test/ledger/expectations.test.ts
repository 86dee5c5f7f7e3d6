import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOrderPage } from '../../src/ledger/read/orderList.ts';
import { readOrder, readOrdersNamed } from '../../src/ledger/read/orders.ts';
import { registerExpectation } from '../../src/ledger/registerExpectation.ts';
import { createDatabase } from '../../src/platform/db/database.ts';
import { findOrders } from '../../src/search/search.ts';
import { REGISTERED } from '../../src/webhooks/orderStatuses.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, readOrderStates, testApplier } from '../support/ledger.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const register = (orderId: string, amountMinor: number, currency = 'USD') =>
  db.transaction((tx) =>
    registerExpectation(tx, {
      orderKey: `order:${orderId}`,
      orderId,
      amountMinor,
      currency,
      registeredBy: 'shop',
    }),
  );

test('concurrent registrations of one order record each amount once, and one of them is current', async () => {
  const orderId = unique('ord');
  const amounts = [100, 200, 300, 100, 200, 300, 100, 200];
  const outcomes = await Promise.all(amounts.map((amount) => register(orderId, amount)));
  expect(outcomes.filter((outcome) => outcome === 'registered')).toHaveLength(1);
  const rows = await db.query<{ amount: number; standing: boolean }>(
    `select amount_minor as amount, replaced_at is null as standing
       from order_expectations where order_id = $1 order by id`,
    [orderId],
  );
  expect(rows.filter(({ standing }) => standing)).toHaveLength(1);
  expect(rows.at(-1)?.standing).toBe(true);
  expect(rows).toHaveLength(outcomes.filter((outcome) => outcome !== 'unchanged').length);
  rows.forEach(({ amount }, place) => {
    expect(amount).not.toBe(rows[place - 1]?.amount);
  });
});

test('registering an order changes no table of the ledger', async () => {
  const orderId = unique('ord');
  expect(await register(orderId, 6540)).toBe('registered');
  expect(await register(orderId, 6540)).toBe('unchanged');
  expect(await register(orderId, 6500)).toBe('replaced');
  expect(await readOrderStates(db, [orderId])).toEqual([]);
  expect(await readOrder(db, { id: orderId, by: undefined })).toMatchObject({
    status: REGISTERED,
    parts: [],
    expected: { amountMinor: 6500, comparison: 'unpaid', differenceMinor: -6500 },
  });
});

test('an order that was registered several times is found once, with its current amount', async () => {
  const orderId = unique('ord');
  for (const amount of [6540, 6500, 6400]) await register(orderId, amount);
  expect(await readOrdersNamed(db, orderId)).toMatchObject([
    { orderId, expected: { amountMinor: 6400 } },
  ]);
  expect(await findOrders(db, [orderId])).toHaveLength(1);
});

test('an order is listed as registered until its first event, and like any other afterwards', async () => {
  const orderId = unique('ord');
  await register(orderId, 6540);
  const listed = async (status: 'registered' | 'paid') =>
    (await readOrderPage(db, { status }, { after: undefined, limit: 50 })).rows.some(
      (order) => order.orderId === orderId,
    );
  expect([await listed('registered'), await listed('paid')]).toEqual([true, false]);
  await applyEach(db, testApplier(db), [
    eventBody(paymentObject({ metadata: { order_id: orderId } })),
  ]);
  expect([await listed('registered'), await listed('paid')]).toEqual([false, true]);
});

test('the role that runs Tallyhook may register and replace expectations, but not change an amount', async () => {
  const url = new URL(db.url);
  url.searchParams.set('options', '-c role=tallyhook_app');
  const least = createDatabase({
    connectionString: url.href,
    log: silentLog,
    applicationName: 'least',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  try {
    const orderId = unique('ord');
    const wanted = { orderKey: `order:${orderId}`, orderId, currency: 'USD', registeredBy: 'shop' };
    const registerLeast = (amountMinor: number) =>
      least.transaction((tx) => registerExpectation(tx, { ...wanted, amountMinor }));
    await registerLeast(1);
    expect(await registerLeast(2)).toBe('replaced');
    for (const attack of [
      'update order_expectations set amount_minor = 9',
      'delete from order_expectations',
    ]) {
      await expect(least.query(attack)).rejects.toThrow(/permission denied/);
    }
  } finally {
    await least.close();
  }
});
