/**
 * The service is unreachable for an hour, beginning during a run. The waits of the refresh loop advance
 * the clock, so that its backoff fills the hour.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { createReconcileHandler } from '../../src/reconcile/jobs.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { createRefresh, type Refresh } from '../../src/reconcile/refresh.ts';
import { isPaused } from '../../src/reconcile/store/pauses.ts';
import { readPausedRuns } from '../../src/reconcile/store/runs.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  silentLog,
  type TestDatabase,
} from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';
import { cardPaymentOf } from '../support/sandboxRequests.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const TAIL_EVERY = 5 * MINUTE_MS;
const WITHOUT_WEBHOOK = 400;
const WITH_WEBHOOK = 12;

let service: TestDatabase;
let sandbox: TestSandbox;
let db: TestDatabase;
let tallyhook: TestTallyhook;
let aheadMs: number;
const clock = { nowMs: () => Date.now() + aheadMs };

beforeEach(async () => {
  aheadMs = 0;
  [service, db] = await Promise.all([createSandboxDatabase(), createTestDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  tallyhook = await startTallyhook({
    db,
    roles: ['receiver', 'events'],
    env: { WEBHOOK_SECRETS: SANDBOX_SECRET, PAYMENTS_MERCHANT_ID: sandbox.merchantId },
  });
});
afterEach(async () => {
  await tallyhook.close();
  await sandbox.close();
  await Promise.all([service.drop(), db.drop()]);
});

/** Webhooks that the sandbox has sent and that have not been delivered. */
async function heldWebhooks(): Promise<(() => Promise<number>)[]> {
  await sandbox.control('POST', '/settle');
  return sandbox.listener.received.map(({ body, signature }) => async () => {
    const reply = await tallyhook.deliver(body, { 'X-Webhook-Signature-512': signature ?? '' });
    return reply.status;
  });
}

const openFindings = () =>
  db.query(`select subject from findings where state = 'open' order by subject`);
const runs = () =>
  db.query<{ id: number; state: string; failure: string | null; position: Date; to: Date }>(
    `select id, state, failure, position_at as position, to_at as "to" from reconcile_runs
      where stream = 'payments' order by id`,
  );
const statuses = () =>
  db.query(
    `select status, count(*) as count from resources where id like 'known_%' group by status`,
  );

async function makePayments(): Promise<void> {
  const endMs = Date.now() - 10 * MINUTE_MS;
  const silent = Array.from({ length: WITHOUT_WEBHOOK }, (_, n) => {
    const createdMs = endMs - n * 20_000;
    const made = { id: `silent_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
    return { ...made, currency: 'USD', amount: 100 };
  });
  await insertPayments(service, sandbox, silent);
  for (let n = 0; n < WITH_WEBHOOK; n += 1) {
    const request = cardPaymentOf('processing', undefined, { payment_id: `known_${n}` });
    await sandbox.call('POST', '/payments', request);
  }
}

/** Runs rounds of refresh for an hour, with other work during their waits. */
async function passAnHour(
  refreshWith: (sleep: () => Promise<void>) => Refresh,
  each: () => Promise<void>,
) {
  const over = new AbortController();
  await refreshWith(async () => {
    await each();
    if (aheadMs >= HOUR_MS) over.abort();
  }).loop(over.signal);
}

test('an hour without the service ends runs with a reason, loses no webhook, and is repaired automatically', async () => {
  await makePayments();
  const deliveries = await heldWebhooks();
  const late = deliveries.splice(WITH_WEBHOOK / 2);
  for (const deliver of deliveries) expect(await deliver()).toBe(200);
  const reconciler = testReconciler({ db, service: sandbox, clock });
  const handle = createReconcileHandler({
    reconcile: (request) => reconciler.run(request),
    isPaused: () => isPaused(db),
    readPausedRuns: () => readPausedRuns(db),
    signal: new AbortController().signal,
  });
  const tail = () =>
    handle({
      name: 'tail',
      data: { name: 'tail', slotMs: clock.nowMs() },
      wasAbandoned: false,
      isLastAttempt: false,
    });

  // The service becomes unreachable during a run.
  let cut: Promise<unknown> | undefined;
  const onProgress = () => {
    cut ??= sandbox.control('PUT', '/faults', { requests: [{ fault: 'cut_before' }] });
  };
  const ended = await reconciler.run({ cause: 'tail' }, { onProgress });
  await cut;
  expect(ended).toMatchObject({ state: 'failed', failure: expect.stringMatching(/\w/) });
  expect(await openFindings()).toEqual([{ subject: 'service:payments' }]);

  const waits: number[] = [];
  let nextTailMs = 0;
  const refreshWith = (sleep: () => Promise<void>): Refresh =>
    createRefresh({
      db,
      retrieve: reconciler.retrieve,
      clock,
      metrics: createReconcileMetrics(createMetrics()),
      log: silentLog,
      sleep: async (delayMs) => {
        waits.push(delayMs);
        aheadMs += delayMs;
        await sleep();
      },
    });
  await passAnHour(refreshWith, async () => {
    expect(await late.shift()?.()).toSatisfy((status) => status === 200 || status === undefined);
    if (aheadMs < nextTailMs) return;
    nextTailMs = aheadMs + TAIL_EVERY;
    await expect(tail()).rejects.toThrow();
  });

  // Every webhook was persisted and applied, no event is dead, and retries backed off.
  expect(late).toEqual([]);
  await waitFor('the late webhooks to be applied', async () => {
    const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
    return row?.waiting === 0;
  });
  expect(await statuses()).toEqual([{ status: 'processing', count: WITH_WEBHOOK }]);
  expect(await db.query('select * from dead_events')).toEqual([]);
  expect(await openFindings()).toEqual(
    ['disputes', 'payments', 'payouts', 'refresh', 'refunds'].map((source) => ({
      subject: `service:${source}`,
    })),
  );
  const [stopped, ...others] = await runs();
  expect(others).toEqual([]);
  expect(stopped).toMatchObject({ id: ended.id, state: 'failed', position: ended.positionAt });
  expect(waits.filter((waitMs) => waitMs > 2_000).length).toBeLessThan(25);

  // The service is reachable again, and the webhooks of that hour are lost.
  await sandbox.control('PUT', '/webhook', { url: null });
  await sandbox.advance(HOUR_MS);
  await sandbox.control('DELETE', '/faults');
  await tail();
  const [resumed] = await runs();
  expect(resumed).toMatchObject({ id: ended.id, state: 'done', failure: null });
  // The next round closes the finding, even though nothing is due any more.
  await refreshWith(() => Promise.resolve()).round(new AbortController().signal);
  expect(await openFindings()).toEqual([]);
  // The resumed run covered only its own span; the next one covers the time since.
  await tail();
  expect(await statuses()).toEqual([{ status: 'succeeded', count: WITH_WEBHOOK }]);
  const held = await db.query('select count(*) as count from resources where status is not null');
  expect(held).toEqual([{ count: WITHOUT_WEBHOOK + WITH_WEBHOOK }]);
});
