/** The lists of orders, payments, refunds, disputes and payouts, their pages and their CSV. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;
let tokens: Map<string, string>;

const HOSTILE = '"><script>alert(1)</script>';

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: 'pay_1', orderId: 'ord_1' }),
    paymentEvent({
      payment_id: 'pay_2',
      orderId: `ord${HOSTILE}`,
      currency: 'JPY',
      amount: 500,
      amount_received: 500,
    }),
    refundEvent('pay_1', {
      refund_id: 'ref_1',
      status: 'failed',
      unified_code: 'UE_9000',
      error_message: HOSTILE,
    }),
    disputeEvent('pay_1', { dispute_id: 'dp_1', connector_reason: HOSTILE }),
    eventBody(
      {
        payout_id: 'po_1',
        merchant_order_reference_id: `=seller${HOSTILE}`,
        amount: 700,
        currency: 'EUR',
        status: 'failed',
        unified_message: 'The account is closed',
      },
      { eventType: 'payout_failed', contentType: 'payout_details' },
    ),
  ]);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const KINDS = [
  ['payments', 'pay_1', '65.40'],
  ['refunds', 'ref_1', '10.00'],
  ['disputes', 'dp_1', '65.40'],
  ['payouts', 'po_1', '7.00'],
] as const;

describe.each(KINDS)('the list of %s', (list, id, amount) => {
  test('links each row to its page, which has its state', async () => {
    const { status, html } = await viewer.get(`/${list}`);
    expect(status).toBe(200);
    expect(html).toContain(`href="/${list}/${id}"`);
    expect(html).toContain(amount);
    const page = await viewer.get(`/${list}/${id}`);
    expect(page.status).toBe(200);
    expect(page.html).toContain(amount);
    expect((await viewer.get(`/${list}/nope`)).status).toBe(404);
  });

  // A browser would save the target of a link with `download` also if it is the sign-in, as a file of rows.
  test('has a link to its CSV that shows a problem as a page', async () => {
    const { html } = await viewer.get(`/${list}`);
    expect(html).toMatch(new RegExp(`<a href="/${list}\\.csv[^"]*">`));
  });

  test('is downloaded as CSV', async () => {
    const { status, html, headers } = await viewer.get(`/${list}.csv`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(headers.get('content-disposition')).toContain(`${list}.csv`);
    expect(html).toContain(`\n${id},`);
    expect(html).not.toMatch(/(^|,)=/m);
  });

  test('runs nothing that came from outside', async () => {
    for (const path of [`/${list}`, `/${list}/${id}`]) {
      expect((await viewer.get(path)).html).not.toContain('<script>alert');
    }
  });

  test('is refused to a role that may not read', async () => {
    const metrics = await openPages(tallyhook, tokens.get('metrics'));
    for (const path of [`/${list}`, `/${list}.csv`]) {
      expect((await metrics.get(path)).status).toBe(403);
    }
  });
});

test.each([
  ['payments?currency=jpy', ['pay_2'], ['pay_1']],
  ['payments?currency=JPY&min=500&max=500', ['pay_2'], ['pay_1']],
  ['payments?min=65.40', ['pay_1'], []],
  ['payments?min=65.41', [], ['pay_1']],
  ['payments?order=ord_1', ['pay_1'], ['pay_2']],
  ['payments?to=1999-01-01', [], ['pay_1', 'pay_2']],
  ['payments?status=succeeded&only=finding', [], ['pay_2']],
  ['refunds?status=failed', ['ref_1'], []],
  ['refunds?status=pending', [], ['ref_1']],
  ['orders?currency=JPY', [], ['/orders/ord_1"']],
  ['orders?max=10', [], ['/orders/ord_1"']],
])('/%s has %j and not %j', async (path, shown, hidden) => {
  const { status, html } = await viewer.get(`/${path}`);
  expect(status).toBe(200);
  for (const id of shown) expect(html).toContain(id);
  for (const id of hidden) expect(html).not.toContain(id);
});

test('a filter has its count and its sums, and CSV has the same rows', async () => {
  const { html } = await viewer.get('/payments?currency=JPY');
  expect(html).toContain('<strong>1</strong> row');
  expect(html).toContain('1 in JPY');
  expect(html).toContain('href="/payments.csv?currency=JPY"');
  const csv = await viewer.get('/payments.csv?currency=JPY');
  expect(csv.html.trimEnd().split('\n')).toHaveLength(2);
});

test('a sum beyond the exact integers is shown exactly', async () => {
  const greatest = Number.MAX_SAFE_INTEGER;
  const money = { currency: 'KRW', amount: greatest, amount_received: greatest };
  await applyEach(db, testApplier(db), [
    paymentEvent({ orderId: 'ord_huge_1', ...money }),
    paymentEvent({ orderId: 'ord_huge_2', ...money }),
  ]);
  for (const list of ['payments', 'orders']) {
    const { status, html } = await viewer.get(`/${list}?currency=KRW`);
    expect(status).toBe(200);
    expect(html).toContain('18014398509481982');
  }
});

test.each([
  ['payments?min=2&max=1', 'must not exceed'],
  ['payments?currency=JPY&min=1.50', 'cannot be 1.50'],
  ['orders?from=2026-02-30', 'cannot be 2026-02-30'],
  ['orders?from=2026-02-02&to=2026-02-01', 'earlier day'],
  ['orders.csv?from=yesterday', 'must be a date'],
  ['orders?cursor=bm9uZQ', 'cursor'],
])('/%s is a page that states: %s', async (path, sentence) => {
  const { status, html } = await viewer.get(`/${path}`);
  expect(status).toBe(400);
  expect(html).toContain(sentence);
});

test('a failed payout and a dispute state what to do next', async () => {
  expect((await viewer.get('/payouts/po_1')).html).toContain('create a new payout');
  const { html } = await viewer.get('/disputes/dp_1');
  expect(html).toContain('Submit evidence before the deadline');
  expect(html).toContain('href="/payments/pay_1"');
});

describe.each([
  '/orders',
  '/payments',
  '/inbox',
  '/replays/new',
  '/system/audit',
  '/system/audit.csv',
])('an extreme time of %s', (path) => {
  test.each([
    '0000-01-01',
    '1969-12-31',
    '9999-12-31',
    '2026-13-01',
    '2026-02-30',
    '2026-13-01T00:00',
    '2026-11-01T24:00',
    '0000-01-01T00:00',
    '9999-12-31T23:59:59',
  ])('is accepted or rejected: %s', async (time) => {
    for (const name of ['from', 'to']) {
      const { status } = await viewer.get(`${path}?${name}=${time}`);
      expect([200, 400], name).toContain(status);
    }
  });
});

test('no replay starts from a time that does not exist', async () => {
  const form = { from: '2026-13-01T00:00', confirmed: 'yes', reason: 'a test' };
  expect((await viewer.post('/replays/start', form)).status).toBe(400);
});
