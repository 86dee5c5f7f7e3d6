/** The page of an order: what it explains, and what a person can do there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;
let tokens: Map<string, string>;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

async function newOrder(): Promise<{ readonly orderId: string; readonly paymentId: string }> {
  const [orderId, paymentId] = [unique('ord'), unique('pay')];
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, orderId }),
    refundEvent(paymentId, { amount: 1500 }),
    disputeEvent(paymentId, { amount: '2000' }),
  ]);
  return { orderId, paymentId };
}

test('the money is a figure with the same amounts in words', async () => {
  const { orderId } = await newOrder();
  const { html } = await viewer.get(`/orders/${orderId}`);
  expect(html).toContain(
    'aria-label="Money in USD: Captured 65.40 USD, Refunded -15.00 USD, Disputed -20.00 USD, Left 30.40 USD"',
  );
});

test('the page has the parts, the causes, the explanation and the accounts', async () => {
  const { orderId, paymentId } = await newOrder();
  const { html } = await viewer.get(`/orders/${orderId}`);
  expect(html).toContain(`href="/payments/${paymentId}"`);
  expect(html).toContain('because of event ');
  expect(html).toContain(`Order ${orderId} is disputed.`);
  expect(html).toContain('Winning snapshot:');
  expect(html).toMatch(/psp\.clearing in USD: .*<\/caption>/);
  const balances = [...html.matchAll(/Balance: <span class="money">([\d.]+) /g)];
  expect(balances.length).toBeGreaterThan(2);
});

test('a registered amount is shown with its difference', async () => {
  const { orderId } = await newOrder();
  const path = `/orders/${encodeURIComponent(`order:${orderId}`)}/expectation`;
  const { status, location } = await viewer.post(path, { amount: '70.00', currency: 'usd' });
  expect(status).toBe(303);
  expect(location).toContain(`/orders/${orderId}?notice=`);
  const { html } = await viewer.get(location ?? '');
  expect(html).toContain('70.00 USD is registered as the expected amount.');
  expect(html).toContain('-4.60 <abbr>USD</abbr>');
  const audit = await db.query(
    `select actor_name from audit where action = 'order.register' and subject_id = $1`,
    [orderId],
  );
  expect(audit).toHaveLength(1);
});

test.each([
  ['1.234', 'EUR'],
  ['-1', 'EUR'],
  ['1e3', 'EUR'],
  ['5', 'euro'],
])('the amount %s %s is refused and registers nothing', async (amount, currency) => {
  const { orderId } = await newOrder();
  const path = `/orders/${encodeURIComponent(`order:${orderId}`)}/expectation`;
  expect((await viewer.post(path, { amount, currency })).status).toBe(400);
  expect((await viewer.get(`/orders/${orderId}`)).html).not.toContain('Registered by');
});

test('the events of an order are replayed, and each is in the audit log', async () => {
  const { orderId } = await newOrder();
  const path = `/orders/${encodeURIComponent(`order:${orderId}`)}/replay`;
  const { location } = await viewer.post(path, {});
  expect((await viewer.get(location ?? '')).html).toContain('3 events are applied again');
  const [pending] = await db.query<{ count: number }>(
    `select count(*) as count from pending p join webhook_events e on e.id = p.webhook_event_id
      where exists (select from audit a where a.action = 'event.replay' and a.subject_id = e.id::text)`,
  );
  expect(pending?.count).toBe(3);
});

test('a refresh without an API key states the settings', async () => {
  const { orderId } = await newOrder();
  const { status, html } = await viewer.post(`/orders/order:${orderId}/refresh`, {});
  expect(status).toBe(503);
  expect(html).toContain('PAYMENTS_API_KEY');
});

test('a role that may only read sees who may act, and cannot act', async () => {
  const { orderId } = await newOrder();
  const reader = await openPages(tallyhook, tokens.get('viewer'));
  const { html } = await reader.get(`/orders/${orderId}`);
  expect(html).toContain('your role may not do this');
  expect(html).not.toContain(`/replay"`);
  expect((await reader.post(`/orders/order:${orderId}/replay`, {})).status).toBe(403);
});

test('two bodies are shown as received, with their differences marked', async () => {
  const [orderId, paymentId] = [unique('ord'), unique('pay')];
  const fields = { payment_id: paymentId, orderId };
  await applyEach(db, testApplier(db), [
    paymentEvent({ ...fields, status: 'processing', amount_received: 0 }),
    paymentEvent({
      ...fields,
      modified_at: '2026-11-01T11:00:00.000Z',
      description: '<script>alert(1)</script>',
    }),
  ]);
  const list = await viewer.get(`/orders/${orderId}`);
  expect(list.html).toContain(`href="/orders/${orderId}/bodies"`);
  const { status, html } = await viewer.get(`/orders/${orderId}/bodies`);
  expect(status).toBe(200);
  expect(html).toMatch(/<del>\s*&quot;status&quot;: &quot;processing&quot;,<\/del>/);
  expect(html).toMatch(/<ins>\s*&quot;status&quot;: &quot;succeeded&quot;,<\/ins>/);
  expect(html).toContain('<del>  status: processing</del>');
  expect(html).not.toContain('<script>alert');
});

/** The address in the console to which a link of this text leads. */
function linkIn(html: string, text: string): string {
  const [, link = ''] = new RegExp(`<a href="([^"]+)"[^>]*>${text}</a>`).exec(html) ?? [];
  const { pathname, search } = new URL(link.replaceAll('&amp;', '&'), 'http://console');
  return pathname + search;
}

const paymentsIn = (html: string): readonly string[] => [
  ...new Set(Array.from(html.matchAll(/<a href="(\/payments\/[^"]+)"/g), ([, link = '']) => link)),
];

test('the other time shows the same order, however the page names it', async () => {
  const [orderId, paymentId, refundId] = [unique('ord'), unique('pay'), unique('ref')];
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, metadata: {} }),
    refundEvent(paymentId, { refund_id: refundId }),
    // The shop numbers an order as the service numbers that payment.
    paymentEvent({ orderId: paymentId }),
    paymentEvent({ payment_id: `${paymentId}_2`, orderId }),
  ]);
  for (const name of [
    `${paymentId}?by=payment`,
    `${paymentId}?by=order`,
    paymentId,
    refundId,
    `${paymentId}_2?by=payment`,
  ]) {
    const { html } = await viewer.get(`/orders/${name}`);
    const other = linkIn(html, 'By the time at which it was recorded');
    const recorded = await viewer.get(other);
    expect(paymentsIn(recorded.html), other).toEqual(paymentsIn(html));
    expect(paymentsIn(html)).toHaveLength(1);
    const back = linkIn(recorded.html, 'By the time at which the service made each change');
    expect(back).toBe(`/orders/${name}`);
  }
  const bodies = await viewer.get(`/orders/${paymentId}/bodies?by=payment`);
  expect(linkIn(bodies.html, 'Clear')).toBe(`/orders/${paymentId}/bodies?by=payment`);
});

/** Ids that a browser would take for a way to another page, and ids that look like what is made of them. */
test.each([
  '.',
  '..',
  '~.',
  '~~..',
  '...',
  '%2e',
  '%2E%2e',
  '%',
  '/',
  'a/../b',
  'a?b#c',
  '\\',
  '&amp;',
  '+',
])('the order %s and its payment have pages, to which each link leads', async (id) => {
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: id, orderId: id, metadata: { order_id: id } }),
  ]);
  const shown = id.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  for (const list of ['/orders', '/payments']) {
    const { html } = await viewer.get(list);
    const links = [...html.matchAll(/<a href="([^"]+)"[^>]*>([^<]*)<\/a>/g)];
    const [, link = ''] = links.find(([, , text]) => text === shown) ?? [];
    // As a browser reads the address of a link.
    const { pathname, search } = new URL(link.replaceAll('&amp;', '&'), 'http://console');
    const page = await viewer.get(pathname + search);
    const what = list === '/orders' ? 'Order' : 'Payment';
    expect(page.html, link).toContain(`<h1>${what} ${shown}</h1>`);
    const other = linkIn(page.html, 'By the time at which it was recorded');
    expect((await viewer.get(other)).html).toContain(`<h1>${what} ${shown}</h1>`);
    const [, action = ''] = /action="([^"]+\/refresh)"/.exec(page.html) ?? [];
    const { pathname: target } = new URL(action, 'http://console');
    // There is no API key here: the action was found.
    expect((await viewer.post(target, {})).status, target).toBe(503);
  }
});

test('the bodies of another order are not shown', async () => {
  const [one, other] = [await newOrder(), await newOrder()];
  const { html } = await viewer.get(`/orders/${other.orderId}/bodies`);
  const [, foreign] = /<option value="(\d+)"/.exec(html) ?? [];
  const page = await viewer.get(`/orders/${one.orderId}/bodies?left=${foreign}`);
  expect(page.status).toBe(404);
  expect(page.html).toContain('is not one of this order');
});
