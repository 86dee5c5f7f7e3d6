/** Refunds and refreshes from the page of a payment, over the sandbox. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { refuseRows } from '../support/refusedRows.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import type { Body } from '../support/serviceApi.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
let setup: AuthorizationTestSetup;
let tallyhook: TestTallyhook;
let treasurer: PageViewer;
let operatorToken: string;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  setup = await setUpAuthorizations(sandbox, db);
  const env = {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  };
  operatorToken = await createTestToken(db, { name: 'oli', role: 'operator' });
  tallyhook = await startTallyhook({ db, roles: ['console'], env });
  treasurer = await openPages(
    tallyhook,
    await createTestToken(db, { name: 'tess', role: 'treasurer' }),
  );
});
afterAll(async () => {
  await tallyhook.close();
  await sandbox.close();
  await db.drop();
});
beforeEach(() => sandbox.control('DELETE', '/faults'));

const pay = (fields: object = {}) => setup.authorize({ capture_method: 'automatic', ...fields });
const seen = { expected_amount: '6540', currency: 'USD', reason: 'returned' };
const refund = (id: string, form: Record<string, string>, viewer = treasurer) =>
  viewer.post(`/payments/${id}/refund`, { ...seen, ...form });
const refundsOf = async (id: string): Promise<readonly Body[]> =>
  (await sandbox.call('POST', '/refunds/list', { payment_id: id })).body.data;

test('a payment shows what can be refunded, and a refund of a typed amount is in the ledger', async () => {
  const id = await pay();
  const { html } = await treasurer.get(`/payments/${id}`);
  expect(html).toContain('65.40 <abbr>USD</abbr></span> can be refunded');
  const done = await refund(id, { amount: '10.00' });
  expect(done.status).toBe(303);
  expect(await refundsOf(id)).toMatchObject([{ amount: 1000, reason: 'returned' }]);
  const after = await treasurer.get(done.location ?? '');
  expect(after.html).toContain('The service took the refund of 10.00 USD.');
  expect(after.html).toContain('55.40 <abbr>USD</abbr></span> can be refunded');
});

test('a payment with an open or lost dispute shows it beside the form, and where nothing is left to refund', async () => {
  const id = await pay();
  const dispute = await sandbox.control('POST', '/disputes', { payment_id: id, amount: 1000 });
  await setup.applyWebhooks();
  const warning =
    `The payment has an open or lost dispute: ${dispute.dispute_id} (10.00 USD, stage dispute, status opened). ` +
    'If you refund as well, the customer can get the money twice.';
  const { html } = await treasurer.get(`/payments/${id}`);
  expect(html).toContain('55.40 <abbr>USD</abbr></span> can be refunded');
  expect(html).toContain(warning);
  await refund(id, { expected_amount: '5540', amount: '55.40' });
  const after = await treasurer.get(`/payments/${id}`);
  expect(after.html).toContain('Nothing can be refunded');
  expect(after.html).toContain(warning);
});

test('a form that is sent twice refunds once', async () => {
  const id = await pay();
  const statuses = (
    await Promise.all([refund(id, { amount: '10' }), refund(id, { amount: '10' })])
  ).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([303, 409]);
  expect((await refund(id, { amount: '10' })).status).toBe(409);
  expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([1000]);
});

test.each(['65.41', '10,00', '1e1', '0.00', '-1', '10.001', '6540', 'all', '10.00 USD'])(
  'the amount %j is refused, and moves nothing',
  async (amount) => {
    const id = await pay();
    const { status, html } = await refund(id, { amount });
    expect(status).toBe(400);
    expect(html).toContain('such as 65.40.');
    expect(await refundsOf(id)).toEqual([]);
  },
);

test('an amount is read with the decimals of its currency', async () => {
  const id = await pay({ currency: 'JPY' });
  expect((await refund(id, { currency: 'JPY', amount: '10.00' })).status).toBe(400);
  expect((await refund(id, { currency: 'JPY', amount: '10' })).status).toBe(303);
  expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([10]);
});

test('a lost response is a page that states what to do, and the same form finds out', async () => {
  const id = await pay();
  await sandbox.control('PUT', '/faults', {
    requests: [
      { fault: 'extra_fields', method: 'POST', path: '/refunds/list' },
      { fault: 'cut_before', method: 'POST', path: '/refunds' },
    ],
  });
  const { status, html } = await refund(id, { amount: '10.00' });
  expect(status).toBe(504);
  expect(html).toContain('The same request finds out, and sends nothing if the refund exists.');
  await sandbox.control('DELETE', '/faults');
  expect((await refund(id, { amount: '10.00' })).status).toBe(303);
  expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([1000]);
});

test('a refund with a result that the database does not record is a page of an unknown outcome', async () => {
  const id = await pay();
  const allowRows = await refuseRows(db, 'audit', "new.result <> 'requested'");
  const { status, html } = await refund(id, { amount: '10.00' }).finally(allowRows);
  expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([1000]);
  expect(status).toBe(504);
  expect(html).toMatch(/The outcome is unknown: .* Attempt \d+ in the audit log\./);
});

test('a role that may not refund sees who may, and cannot', async () => {
  const id = await pay();
  const operator = await openPages(tallyhook, operatorToken);
  const { html } = await operator.get(`/payments/${id}`);
  expect(html).toContain('Refund: your role may not do this. Roles that may: treasurer, admin.');
  expect((await refund(id, { amount: '10.00' }, operator)).status).toBe(403);
  expect(await refundsOf(id)).toEqual([]);
});

test('a payment is retrieved from the service on demand', async () => {
  const id = await pay();
  await sandbox.call('POST', '/refunds', { payment_id: id, refund_id: `r_${id}`, amount: 500 });
  const done = await treasurer.post(`/resources/payment/${id}/refresh`, {});
  expect(done.status).toBe(303);
  const { html } = await treasurer.get(done.location ?? '');
  expect(html).toContain('The page shows the state at the service.');
  const unknown = await treasurer.post('/resources/refund/ref_none/refresh', {});
  expect(new URL(unknown.location ?? '', 'http://console').searchParams.get('notice')).toContain(
    'The service does not have it',
  );
});
