/** Links between things: from an order to its alerts and findings, and from each of them back. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { createTestNotifier } from '../support/notifier.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: 'pay_1', orderId: '1001' }),
    // More than was captured: a finding about the order.
    refundEvent('pay_1', { amount: 9000 }),
    disputeEvent('pay_1', { dispute_id: 'dp_1' }),
  ]);
  await createTestNotifier({ db, env: {} }).dispatch();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const numbersIn = (html: string, path: string): ReadonlySet<string> =>
  new Set(
    [...html.matchAll(new RegExp(`href="(/${path}/\\d+)"`, 'g'))].map(([, link = '']) => link),
  );

test('an order leads to the alerts and findings about it and its parts', async () => {
  const { html } = await viewer.get('/orders/1001');
  const { html: alerts } = await viewer.get('/alerts');
  expect(numbersIn(html, 'alerts')).toEqual(numbersIn(alerts, 'alerts'));
  expect(numbersIn(html, 'alerts').size).toBeGreaterThan(0);
  const { html: findings } = await viewer.get('/findings');
  expect(numbersIn(html, 'findings')).toEqual(numbersIn(findings, 'findings'));
  expect(numbersIn(html, 'findings').size).toBeGreaterThan(0);
});

test('a dispute leads to its alert, and the alert back to it', async () => {
  const [alert = ''] = numbersIn((await viewer.get('/disputes/dp_1')).html, 'alerts');
  expect((await viewer.get(alert)).html).toContain('href="/disputes/dp_1"');
});

test('a finding leads to what it is about, and that back to it', async () => {
  const [finding = ''] = numbersIn((await viewer.get('/findings')).html, 'findings');
  const [, about = ''] = /href="(\/(?:orders|payments|refunds)\/[^"]+)"/.exec(
    (await viewer.get(finding)).html,
  ) ?? [''];
  expect((await viewer.get(about)).html).toContain(`href="${finding}"`);
});

test('a message leads to its alert, its order and its payment', async () => {
  const { html } = await viewer.get('/messages/1');
  expect(html).toMatch(/href="\/alerts\/\d+"/);
  expect(html).toContain('href="/orders/1001"');
  expect(html).toContain('href="/payments/pay_1"');
});
