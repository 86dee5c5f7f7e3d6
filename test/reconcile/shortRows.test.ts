/**
 * Services with few fields in events and list rows: values missing from a row are retrieved, additional ones
 * are stored, and unknown values never count as equal. With the sandbox over HTTP.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { sleep } from '../../src/platform/sleep.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRefresh } from '../../src/reconcile/refresh.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  silentLog,
  type TestDatabase,
} from '../support/database.ts';
import { eventBody } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { type TestReconciler, testReconciler } from '../support/reconciler.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { type InsertedPayment, insertPayments } from '../support/sandboxPayments.ts';

let sandbox: TestSandbox;
let service: TestDatabase;
let db: TestDatabase;
let proxy: RecordingProxy;
let reconciler: TestReconciler;
let span: { fromMs: number; toMs: number };

beforeEach(async () => {
  [service, db] = await Promise.all([createSandboxDatabase(), createTestDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  proxy = await startRecordingProxy(sandbox.baseUrl);
  reconciler = testReconciler({ db, service: { ...sandbox, baseUrl: proxy.baseUrl } });
  span = { fromMs: Date.now() - 9 * DAY_MS, toMs: Date.now() };
  await sandbox.control('PUT', '/faults', { lists: { short_rows: true } });
});
afterEach(async () => {
  await proxy.close();
  await sandbox.close();
  await Promise.all([service.drop(), db.drop()]);
});

const idOf = (n: number): string => `pay_short_${process.pid}_${n}`;

/** Creates payments over eight days at the service; the newest is more than a day old. */
async function makePayments(count: number): Promise<readonly InsertedPayment[]> {
  const made = Array.from({ length: count }, (_, n): InsertedPayment => {
    const createdMs = Date.now() - DAY_MS - Math.floor(((n + 0.5) * 8 * DAY_MS) / count);
    const status = n % 2 === 0 ? 'succeeded' : 'partially_captured_and_capturable';
    return { id: idOf(n), createdMs, modifiedMs: createdMs, status, currency: 'EUR', amount: 1000 };
  });
  await insertPayments(service, sandbox, made);
  return made;
}

/** Changes a payment at the service, without a webhook. */
async function setState(n: number, state: object, status?: string): Promise<void> {
  await service.query(
    `update sandbox.resources
        set state = state || $2::jsonb, status = coalesce($3, status),
            modified_at = now()
      where id = $1`,
    [
      idOf(n),
      JSON.stringify({
        ...state,
        ...(status && { status }),
        modified_at: new Date().toISOString(),
      }),
      status ?? null,
    ],
  );
}

/** Applies an event with few fields. */
async function applyShortEvent(n: number, status: string, more: object = {}): Promise<void> {
  const object = { payment_id: idOf(n), status, amount: 1000, currency: 'EUR', ...more };
  const body = eventBody(object, {
    merchantId: sandbox.merchantId,
    eventType: status === 'succeeded' ? 'payment_succeeded' : 'payment_cancelled',
  });
  await applyEach(db, testApplier(db, sandbox.merchantId), [body]);
}

async function stateOf(n: number) {
  const [row] = await db.query(
    `select status, captured_minor as captured, uncertainties, is_check_wanted as wanted,
            created_at is not null as dated
       from resources where id = $1`,
    [idOf(n)],
  );
  return row;
}

async function isCalibrated(): Promise<boolean> {
  const rows = await db.query<{ at: Date | null }>(
    `select sums_calibrated_at as at from reconcile_streams where stream = 'payments'`,
  );
  return rows[0]?.at !== null;
}

const openFindings = () => db.query(`select class, subject from findings where state = 'open'`);

function refresh() {
  return createRefresh({
    db,
    retrieve: reconciler.retrieve,
    clock: systemClock,
    metrics: createReconcileMetrics(createMetrics()),
    log: silentLog,
    sleep,
  });
}

/** Captures 3.00 of 10.00 at the service and cancels the rest. */
async function cancelRest(n: number, fields: object = {}): Promise<void> {
  const captured = { capture_method: 'manual_multiple', amount_received: 300 };
  await setState(n, { ...captured, amount_capturable: 0, ...fields }, 'cancelled');
}

test('a cancelled payment without a captured amount is retrieved by refresh', async () => {
  await makePayments(1);
  await cancelRest(0);
  await applyShortEvent(0, 'cancelled');
  expect(await stateOf(0)).toMatchObject({
    captured: 0,
    uncertainties: ['unstated_capture'],
    wanted: true,
  });
  await refresh().round(new AbortController().signal);
  expect(await stateOf(0)).toMatchObject({ status: 'cancelled', captured: 300, uncertainties: [] });
});

test('a cancelled payment without a captured amount is a difference of a run over short rows', async () => {
  await makePayments(1);
  await cancelRest(0);
  await applyShortEvent(0, 'cancelled');
  const report = await reconciler.run(span);
  expect(report).toMatchObject({ found: 1, repaired: 1, remaining: 0 });
  expect(await stateOf(0)).toMatchObject({ status: 'cancelled', captured: 300, uncertainties: [] });
  const { requests } = proxy;
  const before = requests.length;
  expect(await reconciler.run(span)).toMatchObject({ found: 0, remaining: 0 });
  expect(requests.slice(before).filter(({ path }) => path.includes(idOf(0)))).toEqual([]);
});

test('a cancelled payment without a captured amount is retrieved by a run even if a killed worker had claimed its check', async () => {
  await makePayments(1);
  await cancelRest(0);
  await applyShortEvent(0, 'cancelled');
  await db.query(`update resources set next_check_at = now() + interval '15 minutes'`);

  const { state, remaining } = await reconciler.run(span);

  expect({ state, remaining }).toEqual({ state: 'done', remaining: 0 });
  expect(await stateOf(0)).toMatchObject({ status: 'cancelled', captured: 300 });
});

const orderOf = async (n: number): Promise<string | undefined> => {
  const rows = await db.query<{ orderKey: string }>(
    'select order_key as "orderKey" from resources where id = $1',
    [idOf(n)],
  );
  return rows[0]?.orderKey;
};

test('a payment that was not found when it was retrieved is retrieved by a run over short rows', async () => {
  await applyShortEvent(0, 'succeeded');
  await refresh().round(new AbortController().signal);
  expect(proxy.requests.filter(({ path }) => path.endsWith(`/${idOf(0)}`))).toHaveLength(1);
  expect(await orderOf(0)).toBe(`payment:${idOf(0)}`);
  await makePayments(1);
  expect(await reconciler.run(span)).toMatchObject({ state: 'done', remaining: 0 });
  expect(await orderOf(0)).toBe(`order:ord_${idOf(0)}`);
  expect(await stateOf(0)).toMatchObject({ captured: 1000, uncertainties: [] });
});

test('a second partial capture without an event is found by a run over short rows', async () => {
  const status = 'partially_captured_and_capturable';
  await makePayments(2);
  await setState(1, { amount_received: 300, amount_capturable: 700 });
  await applyShortEvent(1, status, { amount_received: 300, amount_capturable: 700 });
  await setState(1, { amount_received: 500, amount_capturable: 500 });

  await reconciler.run(span);

  expect(await stateOf(1)).toMatchObject({ status, captured: 500 });
});

// By the contract, a capture of a part ends `succeeded`, too, and its second event may never be sent.
test.each([
  ['is found', 1000, 'manual_multiple', DAY_MS],
  ['of a hold that ended days ago is not sought', 300, 'manual_multiple', -2 * DAY_MS],
  ['of a hold that can be captured once is not sought', 300, 'manual', DAY_MS],
])(
  'a second capture of a succeeded payment %s in a run over short rows',
  async (_, captured, capture_method, leftMs) => {
    const hold = { capture_method, capture_before: new Date(Date.now() + leftMs).toISOString() };
    const first = { ...hold, amount_received: 300, amount_capturable: 700 };
    await makePayments(1);
    await setState(0, first);
    await applyShortEvent(0, 'succeeded', first);
    await setState(0, { amount_received: 1000, amount_capturable: 0 });
    expect(await reconciler.run(span)).toMatchObject({ remaining: 0 });
    expect(await stateOf(0)).toMatchObject({ status: 'succeeded', captured });
  },
);

test.each([
  ['short', { amount_capturable: undefined, modified_at: undefined }],
  ['full', { amount_capturable: undefined }],
])(
  'a captured part of a hold without an event is found by a run over %s rows without the amount left to capture',
  async (_, omitted) => {
    await sandbox.control('DELETE', '/faults');
    const client = createClient({ baseUrl: proxy.baseUrl, apiKey: sandbox.apiKey });
    const { list } = client.payments;
    const payments: typeof client.payments = {
      ...client.payments,
      list: async (filter, options) => {
        const page = await list(filter, options);
        return { ...page, items: page.items.map((row) => ({ ...row, ...omitted })) };
      },
    };
    reconciler = testReconciler({ db, service: sandbox, use: { ...client, payments } });
    await makePayments(1);
    const hold = { amount_received: 0, amount_capturable: 1000 };
    await setState(0, { ...hold, capture_method: 'manual_multiple' }, 'requires_capture');
    await reconciler.run(span);
    expect(await stateOf(0)).toMatchObject({ status: 'requires_capture', captured: 0 });
    await setState(0, { amount_received: 300, amount_capturable: 700 });
    expect(await reconciler.run(span)).toMatchObject({ state: 'done', remaining: 0 });
    expect(await stateOf(0)).toMatchObject({ status: 'requires_capture', captured: 300 });
  },
);

test('a payment without a captured amount in its response is retrieved only once', async () => {
  await makePayments(1);
  await cancelRest(0, { amount_received: null });
  await applyShortEvent(0, 'cancelled');
  await refresh().round(new AbortController().signal);
  const [row] = await db.query(
    `select is_check_wanted as wanted, next_check_at as next from resources`,
  );
  expect(row).toEqual({ wanted: false, next: null });
});

test('rows without amounts do not invalidate correct sums: the candidates are retrieved', async () => {
  await makePayments(24);
  expect(await reconciler.run(span)).toMatchObject({ found: 24, remaining: 0, sums: 'agreed' });
  await setState(11, { amount_received: 400, amount_capturable: 600 });
  const totals = await reconciler.run({ ...span, mode: 'totals' });
  expect(totals).toMatchObject({ sums: 'differed', found: 1, repaired: 1, remaining: 0 });
  expect(await stateOf(11)).toMatchObject({ captured: 400 });
  expect(await isCalibrated()).toBe(true);
  expect(await reconciler.run({ ...span, mode: 'totals' })).toMatchObject({ sums: 'agreed' });
});

test('a full run over rows without amounts does not invalidate correct sums', async () => {
  await makePayments(24);
  await reconciler.run(span);
  // Changes on the day used for calibration, the latest closed one.
  await db.query('update reconcile_streams set sums_calibrated_at = null');
  for (let n = 1; n < 12; n += 2) await setState(n, { amount_received: 400 });
  expect(await reconciler.run(span)).toMatchObject({ sums: 'agreed', remaining: 0 });
  expect(await isCalibrated()).toBe(true);
});

test('rows add the created time missing from events, so that totals include the payment, and a rebuild agrees', async () => {
  const made = await makePayments(10);
  for (const [n, { status, modifiedMs }] of made.entries()) {
    if (status !== 'succeeded') continue;
    const modifiedAt = new Date(modifiedMs).toISOString();
    await applyShortEvent(n, status, { amount_received: 1000, modified_at: modifiedAt });
  }
  const totals = await reconciler.run({ ...span, mode: 'totals' });
  // The other five are new. The ones reported by events are equal and were not retrieved.
  expect(totals).toMatchObject({ found: 5, repaired: 5, remaining: 0 });
  expect(proxy.requests.filter(({ path }) => path.endsWith(`/${idOf(0)}`))).toEqual([]);
  expect(await openFindings()).toEqual([]);
  expect(await stateOf(0)).toMatchObject({ captured: 1000, uncertainties: [], dated: true });
  const snapshots = `select content from snapshots where resource_id = $1 and source = 'list'`;
  expect(await db.query(snapshots, [idOf(0)])).toEqual([
    { content: { createdMicros: expect.any(Number) } },
  ]);
  expect(await reconciler.run({ ...span, mode: 'totals' })).toMatchObject({
    found: 0,
    remaining: 0,
  });
  const verified = await verifyLedger(db, { merchantId: sandbox.merchantId, rebuild: true });
  expect(verified.checks.filter(({ failures }) => failures > 0)).toEqual([]);
});

test('a void with nothing received is repaired without a finding', async () => {
  await sandbox.control('DELETE', '/faults');
  await makePayments(1);
  expect(await reconciler.run(span)).toMatchObject({ repaired: 1, remaining: 0 });
  await setState(0, { amount_received: 0 }, 'cancelled_post_capture');
  expect(await reconciler.run(span)).toMatchObject({ found: 1, repaired: 1, remaining: 0 });
  expect(await reconciler.run(span)).toMatchObject({ found: 0, remaining: 0 });
  expect(await stateOf(0)).toMatchObject({ status: 'cancelled_post_capture', captured: 1000 });
  expect(await db.query('select class from findings')).toEqual([]);
});
