/** Several processes and one run: one of them executes it, and no other moves it back or ends it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type PaymentServiceClient } from '../../src/client/index.ts';
import { DAY_MS, HOUR_MS } from '../../src/platform/time.ts';
import type { RunReport } from '../../src/reconcile/run.ts';
import type { RunRequest } from '../../src/reconcile/runContext.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';
import { waitFor } from '../support/waitFor.ts';

const PAYMENTS = 400;

let db: TestDatabase;
let service: TestDatabase;
let sandbox: TestSandbox;
let endMs: number;
beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), createSandboxDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  endMs = Date.now() - HOUR_MS;
  await insertPayments(
    service,
    sandbox,
    Array.from({ length: PAYMENTS }, (_, n) => {
      const createdMs = endMs - (n * DAY_MS) / PAYMENTS;
      const made = { id: `pay_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
      return { ...made, currency: 'USD', amount: 100 + n };
    }),
  );
});
afterEach(async () => {
  await sandbox.close();
  await Promise.all([db.drop(), service.drop()]);
});

interface HeldRun {
  readonly report: Promise<RunReport>;
  /** Requested pages so far. */
  readonly pages: () => number;
  readonly release: () => void;
}

/** Starts a run in another process: it writes one checkpoint, and waits for the next window until it is released. */
async function startHeld(request: Partial<RunRequest>): Promise<HeldRun> {
  const retry = { maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1 };
  const client = createClient({ ...sandbox, retry });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let [pages, isHeld, hasCheckpoint] = [0, false, false];
  let firstStart: string | undefined;
  const list: PaymentServiceClient['payments']['list'] = async (filter, options) => {
    pages += 1;
    const start = filter?.limit === 1 ? undefined : filter?.created_gte;
    firstStart ??= start;
    if (start !== firstStart) {
      isHeld = true;
      await released;
    }
    return await client.payments.list(filter, options);
  };
  const use = { ...client, payments: { ...client.payments, list } };
  const onProgress = () => {
    hasCheckpoint = true;
  };
  const report = testReconciler({ db, service: sandbox, use }).run(request, { onProgress });
  report.catch(() => undefined);
  await waitFor('the run to wait for its second window', () => isHeld && hasCheckpoint);
  return { report, pages: () => pages, release };
}

const rows = () => db.query('select * from reconcile_runs order by id');

describe('a run that two processes execute', () => {
  test('is kept by the one that writes the next checkpoint, and the other ends before its next request', async () => {
    const first = await startHeld({ cause: 'tail' });
    const second = await testReconciler({ db, service: sandbox }).run({ cause: 'tail' });
    const ended = await rows();
    const pages = first.pages();
    first.release();
    const report = await first.report;
    expect(second).toMatchObject({ state: 'done', remaining: 0 });
    expect(report).toEqual(second);
    expect(await rows()).toEqual(ended);
    expect(first.pages()).toBe(pages);
  });

  test('does not fail when the process that lost it fails', async () => {
    const first = await startHeld({ cause: 'tail' });
    await testReconciler({ db, service: sandbox }).run({ cause: 'tail' });
    const ended = await rows();
    await sandbox.control('PUT', '/faults', {
      requests: [{ fault: 'server_error', path: '/payments' }],
    });
    first.release();
    await first.report;
    expect(await rows()).toEqual(ended);
  });
});

describe('a person who names no span', () => {
  test('gets the newest one, while another process imports a longer one', async () => {
    const fromMs = endMs - 200 * DAY_MS;
    const imported = await startHeld({ fromMs });
    const newest = await testReconciler({ db, service: sandbox }).run();
    imported.release();
    const done = await imported.report;
    expect(newest.id).not.toBe(done.id);
    expect(newest.toAt.getTime() - newest.fromAt.getTime()).toBe(120 * DAY_MS);
    expect(done).toMatchObject({ state: 'done', fromAt: new Date(fromMs), remaining: 0 });
  });

  test('does not hide the checkpoint of a killed import from the one who repeats it', async () => {
    const fromMs = endMs - 200 * DAY_MS;
    const killing = new AbortController();
    const { run } = testReconciler({ db, service: sandbox });
    const onProgress = () => killing.abort(new Error('killed'));
    await expect(run({ fromMs }, { signal: killing.signal, onProgress })).rejects.toThrow();
    const newest = await run();
    const resumed = await run({ fromMs });
    expect([newest, resumed]).toMatchObject([
      { id: 2, state: 'done' },
      { id: 1, state: 'done' },
    ]);
  });

  test('continues the first import that was killed', async () => {
    const killing = new AbortController();
    const { run } = testReconciler({ db, service: sandbox });
    const onProgress = () => killing.abort(new Error('killed'));
    await expect(run({}, { signal: killing.signal, onProgress })).rejects.toThrow();
    expect(await run()).toMatchObject({ id: 1, state: 'done' });
  });
});
