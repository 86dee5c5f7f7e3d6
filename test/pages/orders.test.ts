/** The list of orders and the page of an order. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

test('an order is listed with its money, and has a page', async () => {
  const orderId = unique('ord');
  const event = paymentEvent({ orderId, currency: 'JPY', amount: 5400, amount_received: 5400 });
  await applyEach(db, testApplier(db), [event]);
  const list = await viewer.get('/orders?status=paid');
  expect(list.html).toContain(`href="/orders/${orderId}"`);
  expect(list.html).toContain('5400 <abbr>JPY</abbr>');
  expect((await viewer.get('/orders?status=refunded')).html).not.toContain(orderId);
  const page = await viewer.get(`/orders/${orderId}`);
  expect(page.status).toBe(200);
  expect(page.html).toContain(`<h1>Order ${orderId}</h1>`);
});

test('an unknown order is a page that states what may have happened', async () => {
  const { status, html } = await viewer.get('/orders/unknown-order');
  expect(status).toBe(404);
  expect(html).toContain('its event may not have arrived yet');
});

test('a payment that the service contradicts states what it returned, what the ledger has, and what is next', async () => {
  const id = unique('pay');
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: id, currency: 'USD', amount: 6540, amount_received: 6540 }),
  ]);
  expect((await viewer.get(`/payments/${id}`)).html).not.toContain('contradicts');
  const contradiction = { terms: { status: 'failed' }, observedMicros: 1_795_262_400_000_000 };
  await db.query('update resources set contradiction = $2::jsonb where id = $1', [
    id,
    JSON.stringify(contradiction),
  ]);
  const { html } = await viewer.get(`/payments/${id}`);
  expect(html).toContain(
    'The service contradicts the ledger. At 2026-11-21 12:00:00 UTC the service returned the status failed. The ledger has the status succeeded. The ledger changes once a second retrieve,',
  );
});

test('an order id from outside cannot break out of a page', async () => {
  const orderId = `"><script>alert(1)</script>&'${unique('x')}`;
  await applyEach(db, testApplier(db), [paymentEvent({ orderId })]);
  for (const path of ['/orders', `/orders/${encodeURIComponent(orderId)}`]) {
    const { status, html } = await viewer.get(path);
    expect(status).toBe(200);
    expect(html).not.toContain('<script>alert');
    expect(html).toContain('&lt;script>alert(1)');
  }
});
