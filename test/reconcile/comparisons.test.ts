/**
 * The differences that a run finds in the sandbox: which are retrieved, repaired or remain, and how far the
 * watermark advances.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type PaymentServiceClient } from '../../src/client/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { type TestReconciler, testReconciler } from '../support/reconciler.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { type InsertedPayment, insertPayments } from '../support/sandboxPayments.ts';

let service: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
let db: TestDatabase;
let reconciler: TestReconciler;
let nowMs: number;
beforeEach(async () => {
  [service, db] = await Promise.all([createSandboxDatabase(), createTestDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  proxy = await startRecordingProxy(sandbox.baseUrl);
  const { apiKey } = sandbox;
  reconciler = testReconciler({ db, service: { baseUrl: proxy.baseUrl, apiKey } });
  nowMs = Date.now();
});
afterEach(async () => {
  await proxy.close();
  await sandbox.close();
  await Promise.all([service.drop(), db.drop()]);
});

function madePayment(id: string, fields: Partial<InsertedPayment> = {}): InsertedPayment {
  const createdMs = nowMs - 2 * HOUR_MS;
  const modifiedMs = createdMs + MINUTE_MS;
  return {
    id,
    createdMs,
    modifiedMs,
    status: 'succeeded',
    currency: 'USD',
    amount: 100,
    ...fields,
  };
}

/** Reconciliation with a service of which retrieves return a payment as it was before it succeeded. */
async function laggingReconciler(id: string): Promise<{ readonly lagging: TestReconciler }> {
  const { apiKey } = sandbox;
  const client = createClient({ baseUrl: proxy.baseUrl, apiKey });
  const use: PaymentServiceClient = {
    ...client,
    payments: {
      ...client.payments,
      retrieve: async (...given) => ({
        ...(await client.payments.retrieve(...given)),
        status: 'processing',
        amount_received: 0,
        modified_at: new Date(nowMs - 2 * HOUR_MS).toISOString(),
      }),
    },
  };
  expect((await use.payments.retrieve(id)).status).toBe('processing');
  return { lagging: testReconciler({ db, service: { baseUrl: proxy.baseUrl, apiKey }, use }) };
}

/** Applies an event about a payment, regardless of what the service has. */
async function applyEvent(id: string, fields: object = {}): Promise<void> {
  const body = eventBody(
    paymentObject({
      payment_id: id,
      amount: 100,
      amount_received: 100,
      created: new Date(nowMs - 2 * HOUR_MS).toISOString(),
      modified_at: new Date(nowMs - 2 * HOUR_MS).toISOString(),
      ...fields,
    }),
    { merchantId: sandbox.merchantId },
  );
  await applyEach(db, testApplier(db, sandbox.merchantId), [body]);
}

const range = (count: number) => Array.from({ length: count }, (_, place) => place);
const retrieves = () =>
  proxy.requests.filter(({ method, path }) => method === 'GET' && /^\/payments\/pay_/.test(path));
const openFindings = () =>
  db.query(`select class, subject from findings where state = 'open' order by class, subject`);

describe('differences of one window', () => {
  test.each([
    [10, 10],
    [11, 0],
  ])(
    'are repaired by one retrieve each while they are few: %i of them by %i',
    async (count, retrieved) => {
      await insertPayments(
        service,
        sandbox,
        range(count).map((n) => madePayment(`pay_${n}`)),
      );
      const report = await reconciler.run();
      expect(report).toMatchObject({ state: 'done', found: count, repaired: count, remaining: 0 });
      expect(retrieves()).toHaveLength(retrieved);
    },
  );

  test('are not repaired by a retrieve that contradicts the ledger and is not confirmed', async () => {
    await applyEvent('pay_less', { amount: 100, amount_received: 100 });
    const lower = { amount: 60, modifiedMs: nowMs - HOUR_MS };
    await insertPayments(service, sandbox, [madePayment('pay_less', lower)]);
    const report = await reconciler.run();
    expect(report).toMatchObject({ state: 'done', found: 1, repaired: 0, remaining: 1 });
    expect(report.differences).toMatchObject([
      { subject: 'payment:pay_less', outcome: 'remaining' },
    ]);
    expect(await openFindings()).toContainEqual({
      class: 'stale_local',
      subject: 'payment:pay_less',
    });
  });
});

test('a difference with a retrieve that is older than its row is not repaired, and is retrieved again', async () => {
  await applyEvent('pay_lag', { status: 'processing', amount_received: 0 });
  await insertPayments(service, sandbox, [madePayment('pay_lag')]);
  const { lagging } = await laggingReconciler('pay_lag');
  const report = await lagging.run();
  expect(report).toMatchObject({ state: 'done', found: 1, repaired: 0, remaining: 1 });
  expect(await openFindings()).toEqual([{ class: 'stale_local', subject: 'payment:pay_lag' }]);
  const wanted = () => db.query('select id from resources where is_check_wanted');
  expect(await wanted()).toEqual([{ id: 'pay_lag' }]);
  const ref = { kind: 'payment', id: 'pay_lag' } as const;
  await lagging.retrieve(ref, { lane: 'refresh' });
  expect(await wanted()).toEqual([{ id: 'pay_lag' }]);
  await reconciler.retrieve(ref, { lane: 'refresh' });
  expect(await wanted()).toEqual([]);
  const again = await reconciler.run({ fromMs: nowMs - DAY_MS });
  expect(again).toMatchObject({ state: 'done', found: 0 });
  expect(await openFindings()).toEqual([]);
});

describe('a resource in the ledger that the list does not have', () => {
  test.each([20, 21])(
    'is retrieved individually if there are at most twenty: %i of them',
    async (count) => {
      for (const n of range(count)) await applyEvent(`pay_${n}`);
      const report = await reconciler.run();
      const classes = new Set(report.differences.map((difference) => difference.class));
      if (count === 20) {
        expect(retrieves()).toHaveLength(20);
        expect(report.remaining).toBe(20);
        expect([...classes]).toEqual(['missing_remote']);
      } else {
        // So many are a fault of the list and not of the payments.
        expect(retrieves()).toEqual([]);
        expect(report.remaining).toBe(1);
        expect([...classes]).toEqual(['list_unstable']);
      }
    },
  );

  test('makes the list unstable after more differences than a report keeps', async () => {
    const lost = range(250).map((n) =>
      madePayment(`pay_lost_${n}`, { createdMs: nowMs - 5 * DAY_MS, modifiedMs: nowMs - DAY_MS }),
    );
    await insertPayments(service, sandbox, lost);
    for (const n of range(21)) await applyEvent(`pay_${n}`);
    const report = await reconciler.run();
    expect(report).toMatchObject({ state: 'done', found: 251, repaired: 250, remaining: 1 });
    expect(await openFindings()).toEqual([{ class: 'list_unstable', subject: 'list:payments' }]);
  });

  test('is no difference if the service has it', async () => {
    await applyEvent('pay_elsewhere');
    await applyEvent('pay_gone');
    // The service lists it on another day, outside of the run's span.
    const elsewhere = { createdMs: nowMs - 20 * DAY_MS };
    await insertPayments(service, sandbox, [madePayment('pay_elsewhere', elsewhere)]);
    const report = await reconciler.run({ fromMs: nowMs - DAY_MS });
    expect(retrieves()).toHaveLength(2);
    expect(report.differences).toMatchObject([
      { class: 'missing_remote', subject: 'payment:pay_gone' },
    ]);
  });
});

describe('the span of a run', () => {
  const watermarkMs = async (): Promise<number | undefined> =>
    (
      await db.query<{ at: Date | null }>(
        `select watermark_at as at from reconcile_streams where stream = 'payments'`,
      )
    )[0]?.at?.getTime();

  test('ends a minute before the service’s time, because newer rows may not be listed yet', async () => {
    await insertPayments(service, sandbox, [
      madePayment('pay_young', { createdMs: nowMs - 30_000, modifiedMs: nowMs - 30_000 }),
    ]);
    const report = await reconciler.run({ toMs: nowMs + HOUR_MS });
    expect(Date.now() - report.toAt.getTime()).toBeGreaterThanOrEqual(MINUTE_MS);
    expect(report).toMatchObject({ state: 'done', found: 0 });
    expect(await watermarkMs()).toBe(report.toAt.getTime());
  });

  test('advances the watermark only in full runs, and never moves it back', async () => {
    const first = await reconciler.run({ toMs: nowMs - 5 * HOUR_MS });
    const firstMs = nowMs - 5 * HOUR_MS;
    expect(first.state).toBe('done');
    expect(await watermarkMs()).toBe(firstMs);

    const byTotals = await reconciler.run({ mode: 'totals', fromMs: nowMs - DAY_MS });
    expect(byTotals.state).toBe('done');
    expect(await watermarkMs(), 'after a run by totals').toBe(firstMs);
    const dry = await reconciler.run({ isDryRun: true, fromMs: nowMs - DAY_MS });
    expect(dry.state).toBe('done');
    expect(await watermarkMs(), 'after a dry run').toBe(firstMs);
    const past = { fromMs: nowMs - 30 * DAY_MS, toMs: nowMs - 29 * DAY_MS };
    expect((await reconciler.run(past)).state).toBe('done');
    expect(await watermarkMs(), 'after a run over the past').toBe(firstMs);
    const beyondGap = { fromMs: firstMs + 1, toMs: nowMs - HOUR_MS };
    expect((await reconciler.run(beyondGap)).state).toBe('done');
    expect(await watermarkMs(), 'after a run that left a gap').toBe(firstMs);
    const joined = { fromMs: firstMs, toMs: nowMs - 2 * HOUR_MS };
    expect((await reconciler.run(joined)).state).toBe('done');
    expect(await watermarkMs(), 'after a run that joins it').toBe(nowMs - 2 * HOUR_MS);
  });
});
