/**
 * Amounts that change while counts stay equal are found by the sums of the service's analytics. Sums that
 * are wrong, unavailable or not calibrated change nothing. A proxy can respond in place of analytics.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { type TestReconciler, testReconciler } from '../support/reconciler.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { type InsertedPayment, insertPayments } from '../support/sandboxPayments.ts';

const DAYS = 8;
const PER_DAY = 6;
const ANALYTICS = '/analytics/v1/merchant/metrics/payments';

let sandbox: TestSandbox;
let service: TestDatabase;
let db: TestDatabase;
let proxy: RecordingProxy;
let reconciler: TestReconciler;
let span: { fromMs: number; toMs: number };

beforeAll(async () => {
  service = await createSandboxDatabase();
  sandbox = await startTestSandbox({ databaseUrl: service.url });
});
afterAll(async () => {
  await sandbox.close();
  await service.drop();
});
beforeEach(async () => {
  db = await createTestDatabase();
  proxy = await startRecordingProxy(sandbox.baseUrl);
  reconciler = testReconciler({ db, service: { ...sandbox, baseUrl: proxy.baseUrl } });
  span = { fromMs: Date.now() - (DAYS + 1) * DAY_MS, toMs: Date.now() };
  await insertPayments(service, sandbox, history());
  await service.query(
    `update sandbox.resources
        set state = state || '{"amount_received": 40, "amount_capturable": 60}'
      where status = 'partially_captured_and_capturable'`,
  );
});
afterEach(async () => {
  await proxy.close();
  await service.query('delete from sandbox.resources');
  await db.drop();
});

/** Payments of several days; the newest is more than a day old. */
function history(): readonly InsertedPayment[] {
  return Array.from({ length: DAYS * PER_DAY }, (_, n) => {
    const createdMs = Date.now() - DAY_MS - Math.floor(((n + 0.5) * DAY_MS) / PER_DAY);
    const status = ['succeeded', 'partially_captured_and_capturable', 'failed'][n % 3] ?? '';
    const currency = n % 2 === 0 ? 'EUR' : 'USD';
    return { id: idOf(n), createdMs, modifiedMs: createdMs, status, currency, amount: 100 };
  });
}

function idOf(n: number): string {
  return `pay_sums_${process.pid}_${n}`;
}

function isPayment(value: unknown, id: string): value is object {
  return typeof value === 'object' && (value as { payment_id?: unknown } | null)?.payment_id === id;
}

/** Captures more without a webhook. Status, currency and all counts stay equal. */
async function captureMore(n: number): Promise<void> {
  const now = new Date().toISOString();
  await service.query(
    `update sandbox.resources
        set modified_at = $2::timestamptz,
            state = state || jsonb_build_object('amount_received', 70, 'amount_capturable', 30,
                                                'modified_at', $2::text)
      where id = $1`,
    [idOf(n), now],
  );
}

async function capturedOf(n: number): Promise<number | undefined> {
  const rows = await db.query<{ minor: number }>(
    `select captured_minor as minor from resources where id = $1`,
    [idOf(n)],
  );
  return rows[0]?.minor;
}

async function isCalibrated(): Promise<boolean> {
  const rows = await db.query<{ at: Date | null }>(
    `select sums_calibrated_at as at from reconcile_streams where stream = 'payments'`,
  );
  return rows[0]?.at !== null;
}

const openFindings = () => db.query(`select class, subject from findings where state = 'open'`);
const fullRun = () => reconciler.run(span);
const totalsRun = (request = {}) => reconciler.run({ ...span, ...request, mode: 'totals' });
const sumRequests = () => proxy.requests.filter(({ path }) => path === ANALYTICS).length;

test('a full run without differences calibrates the sums, and totals then agree with one request', async () => {
  expect(await fullRun()).toMatchObject({ sums: 'agreed', remaining: 0 });
  expect(await isCalibrated()).toBe(true);
  const before = sumRequests();
  const report = await totalsRun();
  expect(report).toMatchObject({ sums: 'agreed', found: 0, rowsCompared: 0 });
  expect(sumRequests() - before).toBe(1);
});

test('amounts that changed while counts stayed equal are found by day, and only those days are listed', async () => {
  await fullRun();
  await captureMore(10);
  await captureMore(25);
  const found = await totalsRun();
  expect(found).toMatchObject({ sums: 'differed', found: 2, repaired: 2, remaining: 0 });
  expect(found.rowsCompared).toBeLessThanOrEqual(2 * PER_DAY);
  expect([await capturedOf(10), await capturedOf(25)]).toEqual([70, 70]);
  expect(await totalsRun()).toMatchObject({ sums: 'agreed', found: 0 });
  expect(await openFindings()).toEqual([]);
});

test('an amount that was changed in the ledger is found, too', async () => {
  await fullRun();
  await db.query(
    `update resources set captured_minor = captured_minor + 1 where kind = 'payment' and id = $1`,
    [idOf(10)],
  );
  expect(await totalsRun()).toMatchObject({ sums: 'differed', found: 1, repaired: 1 });
  expect(await capturedOf(10)).toBe(40);
});

test('a dry run reports changed amounts and changes nothing', async () => {
  await fullRun();
  await captureMore(10);
  const report = await totalsRun({ isDryRun: true });
  expect(report).toMatchObject({ sums: 'differed', found: 1, repaired: 0, remaining: 1 });
  expect(report.differences).toEqual([
    { class: 'stale_local', subject: `payment:${idOf(10)}`, outcome: 'would_repair' },
  ]);
  expect([await capturedOf(10), await isCalibrated()]).toEqual([40, true]);
});

test('sums that never agreed are not requested', async () => {
  await fullRun();
  await db.query('update reconcile_streams set sums_calibrated_at = null');
  await captureMore(10);
  const before = sumRequests();
  expect(await totalsRun()).toMatchObject({ sums: 'not_calibrated', found: 0, rowsCompared: 0 });
  expect(sumRequests()).toBe(before);
  expect(await openFindings()).toEqual([]);
});

test('a day with differences calibrates nothing', async () => {
  await fullRun();
  await db.query('update reconcile_streams set sums_calibrated_at = null');
  await captureMore(10);
  const before = sumRequests();
  expect(await reconciler.run({ ...span, isDryRun: true })).toMatchObject({
    remaining: 1,
    sums: null,
  });
  expect(sumRequests()).toBe(before);
  expect(await isCalibrated()).toBe(false);
});

test('a dry run without differences requests no sums', async () => {
  await fullRun();
  const before = sumRequests();
  expect(await reconciler.run({ ...span, isDryRun: true })).toMatchObject({ found: 0, sums: null });
  expect(sumRequests()).toBe(before);
});

test('a difference that stays calibrates nothing', async () => {
  // Neither its row nor the response to a retrieve can be read.
  const unreadable = (_key: string, value: unknown): unknown =>
    isPayment(value, idOf(10)) ? { ...value, amount: 65.4 } : value;
  proxy.rewrite = (body) => JSON.stringify(JSON.parse(body), unreadable);
  expect(await fullRun()).toMatchObject({ state: 'done', remaining: 1, sums: null });
  expect(await isCalibrated()).toBe(false);
});

test('a run that was killed calibrates nothing when it is resumed: it listed the day long ago', async () => {
  const wanted = { ...span, toMs: span.toMs - DAY_MS };
  await db.query('update reconcile_streams set page_limit = 5');
  const killing = new AbortController();
  const killed = reconciler.run(wanted, {
    signal: killing.signal,
    onProgress: () => killing.abort(new Error('killed')),
  });
  await expect(killed).rejects.toThrow();
  const resumed = await reconciler.run(wanted);
  expect(resumed).toMatchObject({ id: 1, state: 'done', remaining: 0, sums: null });
  expect(await reconciler.run(wanted)).toMatchObject({ id: 2, state: 'done', sums: 'agreed' });
});

describe('sums that are wrong after they were calibrated', () => {
  const breakSums = () =>
    proxy.standIns.set(ANALYTICS, {
      status: 200,
      body: {
        queryData: [{ currency: 'EUR', payment_processed_amount: 1 }],
        metaData: [],
      },
    });

  test('take a few requests and one listed day, and are not used again until they agree', async () => {
    await fullRun();
    const clean = await totalsRun();
    breakSums();
    const report = await totalsRun();
    expect(report).toMatchObject({ sums: 'disproved', state: 'done', found: 0, remaining: 0 });
    expect(report.rowsCompared).toBeLessThanOrEqual(PER_DAY);
    expect(report.requests - clean.requests).toBeLessThanOrEqual(12);
    expect(await openFindings()).toEqual([]);
    expect(await totalsRun()).toMatchObject({ sums: 'not_calibrated' });

    proxy.standIns.delete(ANALYTICS);
    expect(await totalsRun()).toMatchObject({ sums: 'not_calibrated' });
    expect(await fullRun()).toMatchObject({ sums: 'agreed' });
    expect(await totalsRun()).toMatchObject({ sums: 'agreed' });
  });

  test('are also no longer used after a full run', async () => {
    await fullRun();
    breakSums();
    expect(await fullRun()).toMatchObject({ sums: 'disproved', state: 'done', remaining: 0 });
    expect(await isCalibrated()).toBe(false);
  });
});

test.each([
  ['are missing', 404, { error: { type: 'invalid_request', code: 'IR_05', message: 'no' } }],
  ['are missing, without an error envelope', 404, 'no such page'],
  [
    'are forbidden for this key',
    403,
    { error: { type: 'invalid_request', code: 'AU_03', message: 'no' } },
  ],
  ['are refused', 400, { error: { type: 'invalid_request', code: 'IR_04', message: 'no' } }],
  ['are rate limited', 429, { error: { type: 'api', code: 'RL_01', message: 'no' } }],
  ['fail', 500, { error: { type: 'api_error', code: 'HE_00', message: 'no' } }],
  ['are garbage', 200, 'garbage'],
  ['are rows of something else', 200, { queryData: [{ shoe: 1 }], metaData: [] }],
])('analytics that %s change nothing', async (_, status, body) => {
  await fullRun();
  await captureMore(10);
  proxy.standIns.set(ANALYTICS, { status, body });
  expect(await totalsRun()).toMatchObject({ sums: 'unavailable', state: 'done', found: 0 });
  expect(await isCalibrated()).toBe(true);
  expect(await openFindings()).toEqual([]);
  proxy.standIns.delete(ANALYTICS);
  expect(await totalsRun()).toMatchObject({ sums: 'differed', found: 1, repaired: 1 });
});

test.each(['totals', 'full'] as const)(
  'the other lists are compared without sums, which are those of payments: %s',
  async (mode) => {
    await fullRun();
    const before = sumRequests();
    const reports = await Promise.all(
      (['refunds', 'disputes', 'payouts'] as const).map((stream) =>
        reconciler.run({ ...span, stream, mode }),
      ),
    );
    expect(reports.map(({ sums }) => sums)).toEqual([null, null, null]);
    expect(sumRequests()).toBe(before);
  },
);
