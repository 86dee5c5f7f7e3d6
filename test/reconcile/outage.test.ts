/**
 * The service is away for an hour, every request cut off, from the middle of a run on. Time is moved by
 * the waits of the refresh loop itself, so that its own backoff fills the hour.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { createReconcileHandler } from '../../src/reconcile/jobs.ts';
import { createReconcileMetrics } from '../../src/reconcile/metrics.ts';
import { isPaused } from '../../src/reconcile/pause.ts';
import { createRefresh, type Refresh } from '../../src/reconcile/refresh.ts';
import { readPausedRuns } from '../../src/reconcile/store/runs.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';
import { cardPaymentOf } from '../support/sandboxRequests.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const TAIL_EVERY = 5 * MINUTE_MS;
/** A busy machine needs its time. */
const TIMEOUT_MS = 180_000;
const UNTOLD = 1_000;
const TOLD = 12;

let service: TestDatabase;
let sandbox: TestSandbox;
let db: TestDatabase;
let tallyhook: TestTallyhook;
let aheadMs: number;
const clock = { nowMs: () => Date.now() + aheadMs };

beforeEach(async () => {
  aheadMs = 0;
  [service, db] = await Promise.all([createTestDatabase(), createTestDatabase()]);
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

/** Webhooks that the sandbox sent and that have not been delivered yet. */
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
    `select status, count(*) as count from resources where id like 'told_%' group by status`,
  );

async function makePayments(): Promise<void> {
  const endMs = Date.now() - 10 * MINUTE_MS;
  const untold = Array.from({ length: UNTOLD }, (_, n) => {
    const createdMs = endMs - n * 20_000;
    const made = { id: `untold_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
    return { ...made, currency: 'USD', amount: 100 };
  });
  await insertPayments(service, sandbox, untold);
  for (let n = 0; n < TOLD; n += 1) {
    const request = cardPaymentOf('processing', undefined, { payment_id: `told_${n}` });
    await sandbox.call('POST', '/payments', request);
  }
}

/** Rounds of refresh, with what else happens while they wait. */
async function passAnHour(
  refreshWith: (pause: () => Promise<void>) => Refresh,
  each: () => Promise<void>,
) {
  const over = new AbortController();
  await refreshWith(async () => {
    await each();
    if (aheadMs >= HOUR_MS) over.abort();
  }).loop(over.signal);
}

test(
  'an hour without the service ends runs with their reason, costs nothing that arrives, and heals by itself',
  async () => {
    await makePayments();
    const deliveries = await heldWebhooks();
    const late = deliveries.splice(TOLD / 2);
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
        data: { errand: 'tail', slotMs: clock.nowMs() },
        wasAbandoned: false,
        isLastAttempt: false,
      });

    // It goes away in the middle of a run.
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
    const refreshWith = (pause: () => Promise<void>): Refresh =>
      createRefresh({
        db,
        retrieve: reconciler.retrieve,
        clock,
        metrics: createReconcileMetrics(createMetrics()),
        log: silentLog,
        pause: async (delayMs) => {
          waits.push(delayMs);
          aheadMs += delayMs;
          await pause();
        },
      });
    await passAnHour(refreshWith, async () => {
      expect(await late.shift()?.()).toSatisfy((status) => status === 200 || status === undefined);
      if (aheadMs < nextTailMs) return;
      nextTailMs = aheadMs + TAIL_EVERY;
      await expect(tail()).rejects.toThrow();
    });

    // What arrived was taken and applied; nothing was given up, and nobody asked more and more often.
    expect(late).toEqual([]);
    await waitFor('the late webhooks to be applied', async () => {
      const [row] = await db.query<{ waiting: number }>('select count(*) as waiting from pending');
      return row?.waiting === 0;
    });
    expect(await statuses()).toEqual([{ status: 'processing', count: TOLD }]);
    expect(await db.query('select * from dead_events')).toEqual([]);
    expect(await openFindings()).toEqual(
      ['disputes', 'payments', 'payouts', 'refresh', 'refunds'].map((asker) => ({
        subject: `service:${asker}`,
      })),
    );
    const [stopped, ...others] = await runs();
    expect(others).toEqual([]);
    expect(stopped).toMatchObject({ id: ended.id, state: 'failed', position: ended.positionAt });
    expect(waits.filter((waitMs) => waitMs > 2_000).length).toBeLessThan(25);

    // Back again; the webhooks of that hour are lost.
    await sandbox.control('PUT', '/webhook', { url: null });
    await sandbox.advance(HOUR_MS);
    await sandbox.control('DELETE', '/faults');
    await tail();
    const [resumed] = await runs();
    expect(resumed).toMatchObject({ id: ended.id, state: 'done', failure: null });
    // Whatever process comes next, and though a webhook or a run has settled what was asked for.
    await refreshWith(() => Promise.resolve()).round(new AbortController().signal);
    expect(await openFindings()).toEqual([]);
    // The run that was ended covered its own span only; the next covers what came since.
    await tail();
    expect(await statuses()).toEqual([{ status: 'succeeded', count: TOLD }]);
    const held = await db.query('select count(*) as count from resources where status is not null');
    expect(held).toEqual([{ count: UNTOLD + TOLD }]);
  },
  TIMEOUT_MS,
);
