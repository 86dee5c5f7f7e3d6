/** Authorizations over the admin API, and orders that are refreshed before they are returned. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, type Body, createApi } from '../support/api.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
let watched: AuthorizationTestSetup;
let tallyhook: TestTallyhook;
let keyless: TestTallyhook;
let api: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  watched = await setUpAuthorizations(sandbox, db);
  const account = { PAYMENTS_MERCHANT_ID: sandbox.merchantId };
  tallyhook = await startTallyhook({
    db,
    roles: ['console'],
    env: { ...account, PAYMENTS_BASE_URL: sandbox.baseUrl, PAYMENTS_API_KEY: sandbox.apiKey },
  });
  keyless = await startTallyhook({ db, roles: ['console'], env: account });
  api = createApi(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await keyless.close();
  await sandbox.close();
  await db.drop();
});

const orderOf = async (paymentId: string): Promise<string> => {
  const rows = await db.query<{ id: string }>(
    `select o.order_id as id from orders o join resources r using (order_key) where r.id = $1`,
    [paymentId],
  );
  return rows[0]?.id ?? '';
};

test('authorizations are listed nearest deadline first, page by page, until they are captured', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    ids.push(await watched.authorize());
    await watched.advance(60_000);
  }
  await watched.check.run();
  const seen: Body[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await api.get(`/api/v1/authorizations?limit=2${cursor}`);
    expect(status).toBe(200);
    seen.push(...body.authorizations);
    if (body.next_cursor === null) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(seen.map(({ payment_id: id }) => id)).toEqual(ids);
  const [first] = ids;
  const { body: payment } = await sandbox.call('GET', `/payments/${first}`);
  expect(seen[0]).toMatchObject({
    order_id: await orderOf(first ?? ''),
    status: 'requires_capture',
    currency: 'USD',
    amount_capturable: 6540,
    capture_before: new Date(payment.capture_before).toISOString(),
    last_reminder_hours: null,
  });
  await sandbox.call('POST', `/payments/${first}/capture`, {});
  await watched.applyWebhooks();
  const { body } = await api.get('/api/v1/authorizations');
  expect(body.authorizations.map(({ payment_id: id }: Body) => id)).toEqual(ids.slice(1));
  expect((await api.get('/api/v1/authorizations?cursor=nonsense')).status).toBe(400);
});

describe('an order with refresh=1', () => {
  const refreshed = (id: string) => api.get(`/api/v1/orders/${id}?refresh=1`);

  test('has the current state of the service before any webhook was received', async () => {
    const paymentId = await watched.authorize();
    const orderId = await orderOf(paymentId);
    await sandbox.call('POST', `/payments/${paymentId}/capture`, {});
    const old = await api.get(`/api/v1/orders/${orderId}`);
    expect(old.body).toMatchObject({ status: 'authorized', refresh: null });
    const { body } = await refreshed(orderId);
    expect(body).toMatchObject({ status: 'paid', refresh: { outcome: 'fresh', reason: null } });
  });

  test('is found by its payment before any observation of it', async () => {
    const orderId = unique('ord');
    const { body: payment } = await sandbox.call(
      'POST',
      '/payments',
      cardPayment({ metadata: { order_id: orderId } }),
    );
    expect((await api.get(`/api/v1/orders/${payment.payment_id}`)).status).toBe(404);
    const { body } = await refreshed(payment.payment_id);
    expect(body).toMatchObject({ order_id: orderId, status: 'paid' });
    expect((await refreshed('unknown_order')).status).toBe(404);
  });

  const payWithoutWebhook = async (fields: object): Promise<string> =>
    (await sandbox.call('POST', '/payments', cardPayment(fields))).body.payment_id;

  test.each([
    ['by rows that name it', 4_321, {}],
    ['by amount and currency in rows with five fields', 5_321, { lists: { short_rows: true } }],
  ])('is found %s while it is only registered', async (_, amount, faults) => {
    const orderId = unique('ord');
    await api.put(`/api/v1/orders/${orderId}`, { amount, currency: 'USD' });
    const nothing = await refreshed(orderId);
    expect(nothing.body).toMatchObject({ status: 'registered', refresh: { outcome: 'unknown' } });
    await payWithoutWebhook({ amount: amount + 1, metadata: { order_id: unique('other') } });
    const paymentId = await payWithoutWebhook({ amount, metadata: { order_id: orderId } });
    await sandbox.control('PUT', '/faults', faults);
    const { body } = await refreshed(orderId);
    await sandbox.control('DELETE', '/faults');
    expect(body).toMatchObject({
      status: 'paid',
      parts: [{ id: paymentId }],
      expected: { comparison: 'paid' },
      refresh: { outcome: 'fresh' },
    });
  });

  test('is found while it is only registered, by a payment with the id of the order', async () => {
    const orderId = unique('ord');
    await api.put(`/api/v1/orders/${orderId}`, { amount: 6540, currency: 'USD' });
    await payWithoutWebhook({ payment_id: orderId, metadata: { order_id: orderId } });
    expect((await refreshed(orderId)).body).toMatchObject({
      status: 'paid',
      parts: [{ id: orderId }],
    });
  });

  test('that is unknown is a 404 if the service confirms it, and a 503 if the service fails', async () => {
    await sandbox.control('PUT', '/faults', { requests: [{ fault: 'server_error' }] });
    for (const path of ['orders', 'payments']) {
      const unavailable = await api.get(`/api/v1/${path}/unknown_order?refresh=1`);
      expect(unavailable.status).toBe(503);
      expect(unavailable.headers.get('retry-after')).not.toBeNull();
    }
    await sandbox.control('DELETE', '/faults');
    for (const path of ['orders', 'payments']) {
      expect((await api.get(`/api/v1/${path}/unknown_order?refresh=1`)).status).toBe(404);
      expect((await api.get(`/api/v1/${path}/no%20such%20id?refresh=1`)).status).toBe(404);
    }
  });

  test('has the known state and the reason if the service fails or hangs, or without an API key', async () => {
    const paymentId = await watched.authorize();
    const orderId = await orderOf(paymentId);
    const withFault = async (fault: object): Promise<Body> => {
      await sandbox.control('PUT', '/faults', { requests: [{ path: '/payments', ...fault }] });
      const { status, body } = await refreshed(orderId);
      await sandbox.control('DELETE', '/faults');
      expect(status).toBe(200);
      return body;
    };
    const known = { order_id: orderId, status: 'authorized' };
    const failing = await withFault({ fault: 'server_error' });
    expect(failing).toMatchObject({ ...known, refresh: { outcome: 'failed' } });
    const hanging = await Promise.race([
      withFault({ fault: 'timeout_after', hold_ms: 60_000 }),
      pause(20_000, 'no response', { ref: false }),
    ]);
    expect(hanging).toMatchObject({ ...known, refresh: { outcome: 'failed' } });
    expect(hanging.refresh.reason).not.toBe('');
    const off = await createApi(keyless).get(`/api/v1/orders/${orderId}?refresh=1`);
    expect(off.body).toMatchObject({ ...known, refresh: { outcome: 'off' } });
    expect((await api.get(`/api/v1/orders/${orderId}?refresh=yes`)).status).toBe(400);
  });
});

describe('a payment with refresh=1', () => {
  test('has the current state of the service, whether it was observed before or not', async () => {
    const { body: made } = await sandbox.call('POST', '/payments', cardPayment());
    const path = `/api/v1/payments/${made.payment_id}`;
    expect((await api.get(path)).status).toBe(404);
    const { body } = await api.get(`${path}?refresh=1`);
    expect(body).toMatchObject({
      payment_id: made.payment_id,
      status: 'succeeded',
      amount_captured: 6540,
      refresh: { outcome: 'fresh', reason: null },
    });
    const held = await watched.authorize();
    await sandbox.call('POST', `/payments/${held}/capture`, {});
    const known = `/api/v1/payments/${held}`;
    expect((await api.get(known)).body).toMatchObject({
      status: 'requires_capture',
      refresh: null,
    });
    expect((await api.get(`${known}?refresh=1`)).body).toMatchObject({ status: 'succeeded' });
    expect((await createApi(keyless).get(`${known}?refresh=1`)).body).toMatchObject({
      refresh: { outcome: 'off' },
    });
  });
});
