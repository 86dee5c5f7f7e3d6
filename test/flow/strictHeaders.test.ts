/** Every server sends strict headers, on every page and for every error: none is cached, sniffed or framed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let sandbox: TestSandbox;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['receiver', 'console'] });
  sandbox = await startTestSandbox();
});
afterAll(async () => {
  await sandbox.close();
  await tallyhook.close();
  await db.drop();
});

const STRICT = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const admin = () => `http://127.0.0.1:${tallyhook.consolePort}`;
const health = () => tallyhook.healthUrl;

async function headersOf(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  expect(response.headers.has('x-powered-by')).toBe(false);
  return { status: response.status, headers: Object.fromEntries(response.headers) };
}

const POST = { method: 'POST', body: '{}' };
const AUTHORIZED = { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } };

test.each<readonly [string, number, () => string, RequestInit]>([
  ['the webhook port, an unsigned delivery', 401, () => tallyhook.webhookUrl, POST],
  ['the webhook port, another method', 405, () => tallyhook.webhookUrl, {}],
  ['the webhook port, another path', 404, () => `${tallyhook.webhookUrl}/no`, POST],
  ['the health port, metrics', 200, () => `${health()}/metrics`, {}],
  ['the health port, liveness', 200, () => `${health()}/healthz`, {}],
  ['the health port, another method', 405, () => `${health()}/healthz`, POST],
  ['the health port, another path', 404, () => `${health()}/no`, {}],
  ['the admin port, without a token', 401, () => `${admin()}/api/v1/orders`, {}],
  ['the admin port, metrics', 200, () => `${admin()}/metrics`, AUTHORIZED],
  ['the admin port, another path', 404, () => `${admin()}/api/v1/no`, AUTHORIZED],
  ['the sandbox, without a key', 401, () => `${sandbox.baseUrl}/payments/pay_1`, {}],
  ['the sandbox, another path', 404, () => `${sandbox.baseUrl}/no`, {}],
])('%s: %i', async (_, status, urlOf, init) => {
  expect(await headersOf(urlOf(), init)).toMatchObject({ status, headers: STRICT });
});

test('a delivery that is acknowledged', async () => {
  const { status, headers } = await tallyhook.deliver(eventBody(paymentObject()));
  expect({ status, headers: Object.fromEntries(headers) }).toMatchObject({
    status: 200,
    headers: STRICT,
  });
});

test('a page of the sandbox has styles and forms, and cannot be framed', async () => {
  const link = await sandbox.call('POST', '/payment_link', { amount: 900, currency: 'EUR' });
  const page = await headersOf(String(link.body.link_to_pay));
  expect(page.status).toBe(200);
  expect(page.headers).toMatchObject({
    ...STRICT,
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    // Browsers send `Origin: null` with a form of a page that has `no-referrer`.
    'referrer-policy': 'same-origin',
  });
});
