/** Scheduled reconcile jobs: one per slot, its repairs and counts, and pauses. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stopReconciliationAs } from '../../src/actions/stopReconciliation.ts';
import {
  createPostgresQueueConnections,
  createQueueBackend,
  type QueueBackend,
} from '../../src/platform/queue/index.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import {
  createReconcileHandler,
  enqueueReconcile,
  RECONCILE_QUEUE,
  type ReconcileJob,
  type ReconcileJobName,
} from '../../src/reconcile/jobs.ts';
import type { Reconcile } from '../../src/reconcile/run.ts';
import type { RunProgress } from '../../src/reconcile/runContext.ts';
import { beginPause, endPause, isPaused } from '../../src/reconcile/store/pauses.ts';
import { insertRun, pauseRun, readPausedRuns } from '../../src/reconcile/store/runs.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  silentLog,
  type TestDatabase,
} from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';
import { waitFor } from '../support/waitFor.ts';

const signal = new AbortController().signal;

let service: TestDatabase;
let sandbox: TestSandbox;
let db: TestDatabase;
let queues: QueueBackend;

beforeEach(async () => {
  [service, db] = await Promise.all([createSandboxDatabase(), createTestDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  queues = createQueueBackend(createPostgresQueueConnections(db.url, silentLog), silentLog);
});
afterEach(async () => {
  await queues.close();
  await sandbox.close();
  await Promise.all([service.drop(), db.drop()]);
});

async function makePayment(id: string, createdMs: number): Promise<void> {
  const made = { id, createdMs, modifiedMs: createdMs, status: 'succeeded', currency: 'USD' };
  await insertPayments(service, sandbox, [{ ...made, amount: 100 }]);
}

function handlerOf(run: Reconcile) {
  return createReconcileHandler({
    reconcile: run,
    isPaused: () => isPaused(db),
    readPausedRuns: () => readPausedRuns(db),
    signal,
  });
}

const jobOf = (name: ReconcileJobName, slotMs = Date.now()) => ({
  name,
  data: { name, slotMs },
  wasAbandoned: false,
  isLastAttempt: false,
});

test('a slot that two schedulers enqueue becomes one job', async () => {
  const producer = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  await enqueueReconcile(producer, 'tail', 1_000);
  await enqueueReconcile(producer, 'tail', 1_000);
  await enqueueReconcile(producer, 'tail', 2_000);
  const slots: number[] = [];
  const consumer = queues.consumer<ReconcileJob>(RECONCILE_QUEUE, 1, ({ data }) => {
    if (data.name !== 'operator') slots.push(data.slotMs);
    return Promise.resolve();
  });
  await waitFor('the last slot', () => slots.includes(2_000));
  expect(slots).toEqual([1_000, 2_000]);
  await consumer.close();
  await producer.close();
});

test('a tail is not enqueued behind ten waiting jobs, while nights and weeks are', async () => {
  const producer = queues.producer<ReconcileJob>(RECONCILE_QUEUE);
  const added: boolean[] = [];
  for (let n = 0; n < 11; n += 1) added.push(await enqueueReconcile(producer, 'tail', n));
  expect(added).toEqual([...Array.from({ length: 10 }, () => true), false]);
  expect(await enqueueReconcile(producer, 'night', 20)).toBe(true);
  expect(await enqueueReconcile(producer, 'week', 20)).toBe(true);
  expect(await producer.countJobs()).toMatchObject({ waiting: 12 });
  await producer.close();
});

test('the tail repairs missed webhooks, and counts them in the metric', async () => {
  const { run, metrics } = testReconciler({ db, service: sandbox });
  const handle = handlerOf((request) => run(request));
  await makePayment('pay_before', Date.now() - HOUR_MS);
  await handle(jobOf('tail'));
  expect(await metrics.render()).not.toMatch(/missed_webhooks_total\{[^}]*\} [1-9]/);
  // Within the overlap of half an hour, and old enough to count as missed.
  await makePayment('pay_lost', Date.now() - 10 * 60_000);
  await handle(jobOf('tail'));
  expect(await metrics.render()).toContain('tallyhook_missed_webhooks_total{stream="payments"} 1');
  const stored = await db.query('select id from resources order by id');
  expect(stored).toEqual([{ id: 'pay_before' }, { id: 'pay_lost' }]);
});

test('the nightly and weekly runs list spans that the tail has passed', async () => {
  const { run } = testReconciler({ db, service: sandbox });
  const handle = handlerOf((request) => run(request));
  await handle(jobOf('tail'));
  await makePayment('pay_3_days', Date.now() - 72 * HOUR_MS);
  await handle(jobOf('tail'));
  expect(await db.query('select id from resources')).toEqual([]);
  await handle(jobOf('night'));
  expect(await db.query('select id from resources')).toEqual([{ id: 'pay_3_days' }]);
  await makePayment('pay_60_days', Date.now() - 60 * 24 * HOUR_MS);
  await handle(jobOf('week'));
  expect(await db.query(`select id from resources where id = 'pay_60_days'`)).toHaveLength(1);
});

test('the tail of a new database imports 120 days, even after other runs', async () => {
  const { run } = testReconciler({ db, service: sandbox });
  const handle = handlerOf((request) => run(request));
  await makePayment('pay_100_days', Date.now() - 100 * 24 * HOUR_MS);
  await run({ fromMs: Date.now() - 24 * HOUR_MS });
  await handle(jobOf('night'));
  const watermarks = () =>
    db.query('select stream from reconcile_streams where watermark_at is not null');
  expect(await watermarks()).toEqual([]);
  await handle(jobOf('tail'));
  expect(await db.query('select id from resources')).toEqual([{ id: 'pay_100_days' }]);
  expect(await watermarks()).toHaveLength(4);
});

test('a retried job resumes the failed run, and does not list completed streams again', async () => {
  const { run } = testReconciler({ db, service: sandbox });
  const handle = handlerOf((request) => run(request));
  const job = jobOf('night');
  // The service fails during the run, not at its start.
  await makePayment('pay_lost', Date.now() - HOUR_MS);
  await sandbox.control('PUT', '/faults', {
    requests: [{ fault: 'server_error', path: '/payments/pay_lost' }],
  });
  await expect(handle(job)).rejects.toThrow();
  await sandbox.control('DELETE', '/faults');
  await handle(job);
  const runs = await db.query('select stream, state from reconcile_runs order by id');
  expect(runs).toEqual(
    ['payments', 'refunds', 'disputes', 'payouts'].map((stream) => ({ stream, state: 'done' })),
  );
});

test('a run that took longer than a day also resumes at its checkpoint', async () => {
  const { run } = testReconciler({ db, service: sandbox });
  await makePayment('pay_lost', Date.now() - HOUR_MS);
  await sandbox.control('PUT', '/faults', {
    requests: [{ fault: 'server_error', path: '/payments/pay_lost' }],
  });
  const failed = await run();
  expect(failed).toMatchObject({ state: 'failed' });
  await db.query(`update reconcile_runs set started_at = now() - interval '30 hours'`);
  await sandbox.control('DELETE', '/faults');
  expect(await run()).toMatchObject({ id: failed.id, state: 'done' });
});

test('a job fails while the service is unusable, and starts no run while reconciliation is paused', async () => {
  const { run } = testReconciler({ db, service: sandbox });
  const handle = handlerOf((request) => run(request));
  await sandbox.control('PUT', '/faults', {
    requests: [{ fault: 'server_error', path: '/payments' }],
  });
  await expect(handle(jobOf('tail'))).rejects.toThrow();
  const begun = await db.query('select stream from reconcile_runs order by id');
  expect(begun).toEqual([{ stream: 'refunds' }, { stream: 'disputes' }, { stream: 'payouts' }]);
  await beginPause(db, { by: 'test', reason: 'a test' });
  await handle(jobOf('tail'));
  expect(await db.query('select stream from reconcile_runs order by id')).toEqual(begun);
});

/** More than one window of a night lists. */
async function makeManyPayments(): Promise<void> {
  const endMs = Date.now() - 2 * HOUR_MS;
  const payments = Array.from({ length: 400 }, (_, n) => {
    const createdMs = endMs - n * 60_000;
    const made = { id: `pay_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
    return { ...made, currency: 'USD', amount: 100 };
  });
  await insertPayments(service, sandbox, payments);
}

test('a pause holds a run at its checkpoint, and the first slot after it resumes the run', async () => {
  await makeManyPayments();
  const { run } = testReconciler({ db, service: sandbox });
  const pauses: Promise<unknown>[] = [];
  const onProgress = () => {
    if (pauses.length === 0) pauses.push(beginPause(db, { by: 'test', reason: 'a test' }));
  };
  const night = createReconcileHandler({
    reconcile: (request) => run(request, { onProgress }),
    isPaused: () => isPaused(db),
    readPausedRuns: () => readPausedRuns(db),
    signal,
  });
  await night(jobOf('night'));
  await Promise.all(pauses);

  const nightly = () =>
    db.query<{ id: number; state: string; finished: Date | null; isPart: boolean }>(
      `select id, state, finished_at as finished, position_at > from_at and position_at < to_at as "isPart"
         from reconcile_runs where cause = 'night' and stream = 'payments'`,
    );
  const [paused] = await nightly();
  expect(paused).toMatchObject({ state: 'paused', finished: null, isPart: true });
  expect(await db.query(`select class from findings where state = 'open'`)).toEqual([]);
  await endPause(db, 'test');
  const requested: string[] = [];
  const tail = handlerOf(async (request) => {
    requested.push(`${request.stream} ${request.cause}`);
    return await run(request);
  });
  await tail(jobOf('tail'));
  expect(requested[0]).toBe('payments night');
  expect(await nightly()).toMatchObject([{ id: paused?.id, state: 'done' }]);
  expect(await db.query('select count(*) as count from resources')).toEqual([{ count: 400 }]);
  expect(await readPausedRuns(db)).toEqual([]);
});

test('a run that a pause holds can be stopped, and no slot resumes it', async () => {
  const run = { stream: 'payments', mode: 'full', cause: 'night', isDryRun: false } as const;
  const toAt = new Date();
  const { id } = await insertRun(db, { ...run, fromAt: new Date(Number(toAt) - HOUR_MS), toAt });
  await pauseRun(db, { id, windows: 0 });
  expect(await readPausedRuns(db)).toMatchObject([{ id }]);
  const person = { kind: 'cli', name: 'ada', role: 'shell', origin: 'test' } as const;
  expect(await stopReconciliationAs({ db }, person, id)).toMatchObject({ outcome: 'stopped' });
  expect(await readPausedRuns(db)).toEqual([]);
});

test('a process that lost a run does not pause it for the process that has gone on with it', async () => {
  const run = { stream: 'payments', mode: 'totals', cause: 'night', isDryRun: false } as const;
  const toAt = new Date();
  const { id } = await insertRun(db, { ...run, fromAt: new Date(Number(toAt) - HOUR_MS), toAt });
  // The checkpoint of the process that has it.
  await db.query('update reconcile_runs set windows = 1 where id = $1', [id]);
  await pauseRun(db, { id, windows: 0 });
  expect(await readPausedRuns(db)).toEqual([]);
  await pauseRun(db, { id, windows: 1 });
  expect(await readPausedRuns(db)).toMatchObject([{ id }]);
});

test('a rejected list fails the job, and the other lists are read', async () => {
  const { run } = testReconciler({ db, service: sandbox });
  const handle = handlerOf((request) => run(request));
  await sandbox.control('PUT', '/faults', {
    requests: [{ fault: 'unknown_code', path: '/refunds/list' }],
  });
  await expect(handle(jobOf('tail'))).rejects.toThrow();
  const begun = await db.query('select stream, state from reconcile_runs order by id');
  expect(begun).toEqual(
    ['payments', 'disputes', 'payouts'].map((stream) => ({ stream, state: 'done' })),
  );
});

test.each([{ isDryRun: false }, { isDryRun: true }])(
  'a stopped run ends before its next request, keeps what it compared, and is not resumed: $isDryRun',
  async ({ isDryRun }) => {
    await makeManyPayments();
    const { run } = testReconciler({ db, service: sandbox });
    const person = { kind: 'cli', name: 'ada', role: 'shell', origin: 'test' } as const;
    const stops: ReturnType<typeof stopReconciliationAs>[] = [];
    const onProgress = ({ rowsCompared }: RunProgress) => {
      if (rowsCompared === 0 || stops.length > 0) return;
      stops.push(stopReconciliationAs({ db }, person, 1));
    };
    const slotMs = Date.now();
    const night = (options: { readonly onProgress?: typeof onProgress }) =>
      handlerOf((request) => run({ ...request, isDryRun }, options))(jobOf('night', slotMs));
    await night({ onProgress });
    expect(await Promise.all(stops)).toMatchObject([{ outcome: 'stopped', run: { id: 1 } }]);
    const runs = () =>
      db.query(
        `select id, stream, state, stopped_by, position_at > from_at and position_at < to_at as "isPart",
                finished_at is not null as "isFinished", requests
           from reconcile_runs order by id`,
      );
    const ended = await runs();
    expect(ended).toMatchObject([
      { stream: 'payments', state: 'stopped', stopped_by: 'ada', isPart: true, isFinished: true },
      { stream: 'refunds', state: 'done' },
      { stream: 'disputes', state: 'done' },
      { stream: 'payouts', state: 'done' },
    ]);
    const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
      'select count(*) as count from resources',
    );
    if (isDryRun) expect(count).toBe(0);
    else expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(400);
    // A retried job of the same slot.
    await night({});
    expect(await runs()).toEqual(ended);
    expect(await stopReconciliationAs({ db }, person, 1)).toEqual({
      outcome: 'ended',
      state: 'stopped',
    });
    expect(await stopReconciliationAs({ db }, person, 99)).toEqual({ outcome: 'unknown' });
    expect(
      await db.query(`select id from audit where action = 'reconciliation.stop'`),
    ).toHaveLength(1);
  },
);
