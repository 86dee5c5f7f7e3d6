/** The search: on the page, in the admin API, and what its statements cost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.ts';
import { findOrders } from '../../src/search/search.ts';
import { tallyhook as command } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { addExamples } from '../support/pageExamples.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent } from '../support/payments.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let viewer: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  await addExamples(db);
  await applyEach(db, testApplier(db), [
    paymentEvent({
      payment_id: 'pay_ann',
      orderId: '1001',
      amount: 5400,
      amount_received: 5400,
      currency: 'EUR',
      customer_id: 'cus_ann',
      customer: { name: 'Ann Lee', email: 'ann@example.com' },
    }),
  ]);
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  viewer = await openPages(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const searchFor = (q: string, where = '') =>
  viewer.get(`/search?${new URLSearchParams({ q, ...(where !== '' && { in: where }) })}`);

describe('what has one match leads straight to it', () => {
  test.each([
    ['1001', '/orders/1001'],
    ['order 1001', '/orders/1001'],
    ['pay_ann', '/payments/pay_ann'],
    ['payment:pay_ann', '/payments/pay_ann'],
    ['ref_example', '/refunds/ref_example'],
    ['dp_example', '/disputes/dp_example'],
    ['po_example', '/payouts/po_example'],
    ['alert 1', '/alerts/1'],
    ['finding #1', '/findings/1'],
    ['message 1', '/messages/1'],
    ['run 1', '/reconciliation/1'],
    ['event 1', '/inbox/1'],
  ])('%s', async (text, path) => {
    const { status, location } = await searchFor(text);
    expect(status).toBe(303);
    expect(location?.replace(/\?.*/, '')).toBe(path);
    expect((await viewer.get(location ?? '')).status).toBe(200);
  });
});

test.each(['EUR 54.00', '54.00 EUR', '54,00 eur'])('%s finds the payment', async (text) => {
  const { status, html } = await searchFor(text);
  expect(status).toBe(200);
  expect(html).toContain('href="/payments/pay_ann"');
  expect(html).not.toContain('pay_example');
});

test('nothing found states what can be searched, and offers the stored events', async () => {
  const { status, html } = await searchFor('ann@example.com');
  expect(status).toBe(200);
  expect(html).toContain('Nothing has this id');
  expect(html).toContain('What you can search for');
  expect(html).toContain('href="/search?q=ann%40example.com&amp;in=bodies"');
});

test('an id that nothing has may be of an event that waits, which the page and the command state', async () => {
  const unapplied = 'pay_of_a_waiting_event';
  const stated = /\d+ events? waits? to be applied, and it may be of/;
  await db.query('delete from pending');
  expect((await searchFor(unapplied)).html).not.toMatch(stated);
  await receive(db, [paymentEvent({ payment_id: unapplied })]);
  for (const path of [`/payments/${unapplied}`, '/orders/waiting', `/search?q=${unapplied}`]) {
    const { html } = await viewer.get(path);
    expect(html, path).toContain('1 event waits to be applied, and it may be of this one.');
    expect(html, path).toContain('<a href="/inbox?state=pending">');
  }
  const { stderr } = await command(db.url, 'find', unapplied);
  expect(stderr).toContain(
    '1 event waits to be applied, and it may be of this one. `npx tallyhook events list --state pending` lists what waits.',
  );
  // The inbox has an event before it is applied.
  expect((await command(db.url, 'events', 'show', 'evt_of_nothing')).stderr).not.toMatch(stated);
  await db.query('delete from pending');
});

test.each(['ann@example.com', 'ANN LEE', 'cus_ann'])('%s is found in bodies', async (text) => {
  const { html } = await searchFor(text, 'bodies');
  expect(html).toContain('href="/orders/1001"');
  expect(html).toContain('Every stored body was searched.');
  expect(html).not.toContain('pay_example');
});

test('hostile text is shown as text', async () => {
  for (const text of ['"><script>1</script>', "' or 1=1 --", '%_\\', '{"a":1}', '💳'.repeat(60)]) {
    for (const where of ['', 'bodies']) {
      const { status, html } = await searchFor(text, where);
      expect(status).toBe(200);
      expect(html).not.toContain('<script>1');
    }
  }
  expect((await searchFor('a\u0000b')).html).toContain('filter is invalid');
  expect((await searchFor('x'.repeat(256))).html).toContain('filter is invalid');
  expect((await searchFor('ab', 'bodies')).html).toContain('at least 3 characters');
});

test('the admin API and the command find the same', async () => {
  const request = async (query: Record<string, string>) => {
    const url = `http://127.0.0.1:${tallyhook.consolePort}/api/v1/search?${new URLSearchParams(query)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    return { status: response.status, body: await response.json() };
  };
  expect(await request({ q: '54,00 EUR' })).toMatchObject({
    status: 200,
    body: {
      matches: [
        {
          kind: 'payment',
          id: 'pay_ann',
          amounts: [{ amount: 5400, currency: 'EUR' }],
          order_id: '1001',
        },
      ],
      complete: true,
    },
  });
  expect(await request({ q: 'Ann Lee', in: 'bodies' })).toMatchObject({
    body: { matches: [{ kind: 'order', id: '1001' }, { kind: 'event' }], complete: true },
  });
  expect((await request({ q: '' })).status).toBe(400);
  const byAmount = await command(db.url, 'find', '54,00 EUR');
  expect(byAmount.stdout).toMatch(/^payment pay_ann: succeeded, 54\.00 EUR/);
  const alert = await command(db.url, 'find', 'alert 1');
  expect(alert.stdout).toMatch(/^alert 1: .*\n {2}npx tallyhook alerts show 1\n$/);
  const inBodies = await command(db.url, 'find', 'ann lee', '--bodies');
  expect(inBodies.stdout).toMatch(/^order 1001: paid.*Every stored body was searched/s);
});

test('orders are reached by an index', async () => {
  const plans: string[] = [];
  await db.transaction(async (tx) => {
    await tx.query('set local enable_seqscan = off');
    const explaining: Queryable = {
      ...tx,
      query: async (text: string, values: readonly unknown[] = []) => {
        const rows = await tx.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return tx.query(text, values) as never;
      },
    };
    await findOrders(explaining, ['x']);
  });
  expect(plans.join('\n')).toContain('orders_pkey');
  expect(plans.join('\n')).not.toContain('Seq Scan');
});
