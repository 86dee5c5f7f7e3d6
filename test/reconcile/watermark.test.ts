/** A watermark ahead of the service's clock, and comparisons of nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { FIRST_SPAN_MS } from '../../src/reconcile/openRun.ts';
import { usableWatermark } from '../../src/reconcile/watermark.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  silentLog,
  type TestDatabase,
} from '../support/database.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';

const TAIL = { cause: 'tail', lane: 'discovery' } as const;

/** The amount makes the payout fail as soon as it is sent. */
const FAILING_PAYOUT = {
  amount: 7710,
  currency: 'EUR',
  payout_type: 'bank',
  payout_method_data: {
    bank_transfer: {
      payout_method_type: 'sepa',
      iban: 'DE89370400440532013000',
      bic: 'ABCDEFGH',
    },
  },
  confirm: true,
  auto_fulfill: true,
};

let service: TestDatabase;
let sandbox: TestSandbox;
let db: TestDatabase;

beforeEach(async () => {
  [service, db] = await Promise.all([createSandboxDatabase(), createTestDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
});
afterEach(async () => {
  await sandbox.close();
  await Promise.all([service.drop(), db.drop()]);
});

async function makePayments(count: number, createdMs: number): Promise<void> {
  const payments = Array.from({ length: count }, (_, n) => ({
    id: `pay_${createdMs}_${n}`,
    createdMs: createdMs + n * 1_000,
    modifiedMs: createdMs + n * 1_000,
    status: 'succeeded',
    currency: 'USD',
    amount: 100,
  }));
  await insertPayments(service, sandbox, payments);
}

const watermark = async () => {
  const rows = await db.query<{ at: Date | null }>(
    `select watermark_at as at from reconcile_streams where stream = 'payments'`,
  );
  return rows[0]?.at ?? null;
};

/** Moves all runs and the watermark into the past, as if that time had passed. */
async function passTime(ms: number): Promise<void> {
  await db.query(
    `update reconcile_runs set from_at = from_at - $1 * interval '1 ms', to_at = to_at - $1 * interval '1 ms'`,
    [ms],
  );
  await db.query(
    `update reconcile_streams set watermark_at = watermark_at - $1 * interval '1 ms'`,
    [ms],
  );
}

/** Leaves the watermark of a run during which the service's clock was three days ahead. */
async function runUnderWrongClock(): Promise<void> {
  await db.query(
    `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at, finished_at)
     select 'payments', 'full', 'tail', false, 'done', watermark_at - interval '30 minutes',
            now() + interval '3 days', now() + interval '3 days', now()
       from reconcile_streams where stream = 'payments'`,
  );
  await db.query(
    `update reconcile_streams set watermark_at = now() + interval '3 days' where stream = 'payments'`,
  );
}

describe('a watermark ahead of the service’s clock', () => {
  test('is set back by the next run, which reads the skipped span and raises an alert', async () => {
    const { run } = testReconciler({ db, service: sandbox });
    await makePayments(1, Date.now() - 24 * HOUR_MS);
    expect(await run(TAIL)).toMatchObject({ state: 'done', repaired: 1 });
    await passTime(6 * HOUR_MS);
    const trustedMs = Number(await watermark());
    await runUnderWrongClock();
    await makePayments(14, Date.now() - 3 * HOUR_MS);

    const report = await run(TAIL);
    expect(report).toMatchObject({ state: 'done', found: 14, repaired: 14, remaining: 0 });
    // From the last run with a correct clock, less the overlap. It is not a first import.
    expect(report.fromAt).toEqual(new Date(trustedMs - 30 * MINUTE_MS));
    expect(await watermark()).toEqual(report.toAt);
    expect(
      await db.query(`select rule, subject, state from alerts where rule = 'watermark_ahead'`),
    ).toEqual([{ rule: 'watermark_ahead', subject: 'list:payments', state: 'resolved' }]);
    const findings = await db.query(
      `select state, detail->>'set_to' as "setTo" from findings where class = 'watermark_ahead'`,
    );
    expect(findings).toEqual([{ state: 'closed', setTo: new Date(trustedMs).toISOString() }]);
  });

  // Neither joins the run of the schedule before it, so what lies between them was not read.
  test.each([
    ['a person’s run', 'operator', false],
    ['a dry run', 'tail', true],
  ])('is not set back to the end of %s', async (_what, cause, isDryRun) => {
    const { run } = testReconciler({ db, service: sandbox });
    expect(await run(TAIL)).toMatchObject({ state: 'done' });
    await passTime(6 * HOUR_MS);
    const trustedMs = Number(await watermark());
    await db.query(
      `insert into reconcile_runs (stream, mode, cause, is_dry_run, state, from_at, to_at, position_at, finished_at)
       select 'payments', 'full', $1, $2, 'done', now() - interval '2 hours', now() - interval '1 hour',
              now() - interval '1 hour', now()`,
      [cause, isDryRun],
    );
    await runUnderWrongClock();
    await makePayments(1, Date.now() - 3 * HOUR_MS);
    const report = await run(TAIL);
    expect(report).toMatchObject({ state: 'done', repaired: 1 });
    expect(report.fromAt).toEqual(new Date(trustedMs - 30 * MINUTE_MS));
  });

  test('keeps its alert until a run has continued from there', async () => {
    const { run } = testReconciler({ db, service: sandbox });
    await run(TAIL);
    await passTime(6 * HOUR_MS);
    await runUnderWrongClock();
    await makePayments(1, Date.now() - 3 * HOUR_MS);
    await sandbox.control('PUT', '/faults', {
      requests: [{ fault: 'server_error', path: '/payments/pay_' }],
    });
    expect(await run(TAIL)).toMatchObject({ state: 'failed' });
    const states = () =>
      db.query(`select state from alerts where rule = 'watermark_ahead' order by id`);
    expect(await states()).toEqual([{ state: 'open' }]);
    await sandbox.control('DELETE', '/faults');
    expect(await run(TAIL)).toMatchObject({ state: 'done', repaired: 1 });
    expect(await states()).toEqual([{ state: 'resolved' }]);
  });

  test('is removed without a trusted run, and the next run reads as far back as a first import', async () => {
    const { run } = testReconciler({ db, service: sandbox });
    await db.query(`update reconcile_streams set watermark_at = now() + interval '3 days'`);
    await makePayments(14, Date.now() - 30 * 24 * HOUR_MS);
    expect(await run(TAIL)).toMatchObject({ state: 'done', found: 14, repaired: 14 });
    expect(Number(await watermark())).toBeLessThan(Date.now());
  });

  test('is removed without a trusted run, and changes of an imported list raise their alerts afterwards', async () => {
    const { run } = testReconciler({ db, service: sandbox });
    const first = await run({ ...TAIL, stream: 'payouts' });
    expect(first).toMatchObject({ state: 'done', found: 0 });
    // With its clock set back by two days, the service dates changes before the installation.
    const wrongClock = { clock_offset_ms: -48 * HOUR_MS };
    await sandbox.control('PUT', '/faults', wrongClock);
    await sandbox.call('POST', '/payouts/create', FAILING_PAYOUT);
    await sandbox.advance(2 * MINUTE_MS);
    // The run that removes the watermark fails before it sets another one.
    const requests = [{ fault: 'server_error', path: '/payouts/payout_' }];
    await sandbox.control('PUT', '/faults', { ...wrongClock, requests });
    expect(await run({ ...TAIL, stream: 'payouts' })).toMatchObject({ state: 'failed' });
    await sandbox.control('PUT', '/faults', wrongClock);

    const report = await run({ stream: 'payouts' });
    expect(report).toMatchObject({ state: 'done', found: 1, repaired: 1 });
    expect(report.toAt.getTime() - report.fromAt.getTime()).toBe(FIRST_SPAN_MS);
    expect(await db.query(`select rule from alerts where subject like 'payout:%'`)).toEqual([
      { rule: 'payout_failed' },
    ]);
    expect(await db.query('select is_history as "isHistory" from change_log')).toEqual([
      { isHistory: false },
    ]);
  });

  test('is set back by one of two processes that saw it, and what that one has read since stays read', async () => {
    const { run } = testReconciler({ db, service: sandbox });
    await run(TAIL);
    await passTime(6 * HOUR_MS);
    await runUnderWrongClock();
    const wrong = await watermark();
    expect(await run(TAIL)).toMatchObject({ state: 'done' });
    const corrected = await watermark();
    const known = { stream: 'payments', watermarkAt: wrong, serviceMs: Date.now() } as const;
    await usableWatermark({ db, log: silentLog }, { ...known, isDryRun: false });
    expect(await watermark()).toEqual(corrected);
  });

  test('is not changed by a dry run, which still reads from the correct position', async () => {
    const { run } = testReconciler({ db, service: sandbox });
    await db.query(`update reconcile_streams set watermark_at = now() + interval '3 days'`);
    await makePayments(14, Date.now() - 3 * HOUR_MS);
    const before = await watermark();
    expect(await run({ isDryRun: true })).toMatchObject({ found: 14, remaining: 14 });
    expect(await watermark()).toEqual(before);
    expect(await db.query('select from findings')).toEqual([]);
  });
});

describe('a comparison without rows', () => {
  test('over an empty span fails with a reason, and the next run does not resume it', async () => {
    const { run, metrics } = testReconciler({ db, service: sandbox });
    const failed = await run({ fromMs: Date.now() + 24 * HOUR_MS });
    expect(failed).toMatchObject({ state: 'failed', remaining: 0, rowsCompared: 0 });
    expect(failed.failure).toMatch(/^nothing was compared: the span begins at 20/);
    const page = await metrics.render();
    expect(page).toContain('tallyhook_reconcile_runs_total{outcome="equal"} 0');
    expect(page).toContain('tallyhook_reconcile_runs_total{outcome="failed"} 1');
    expect(await run()).toMatchObject({ state: 'done' });
  });

  test('over a span in which neither side has a row is empty, not equal', async () => {
    const { run, metrics } = testReconciler({ db, service: sandbox });
    expect(await run()).toMatchObject({ state: 'done', rowsCompared: 0 });
    const page = await metrics.render();
    expect(page).toContain('tallyhook_reconcile_runs_total{outcome="equal"} 0');
    expect(page).toContain('tallyhook_reconcile_runs_total{outcome="empty"} 1');
  });
});
