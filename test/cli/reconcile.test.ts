/** `tallyhook reconcile`, the role of that name, and runs in the admin API. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/platform/time.ts';
import { awaitWebhooks } from '../../src/reconcile/store/awaited.ts';
import { insertRun } from '../../src/reconcile/store/runs.ts';
import { type Api, type Body, createApi } from '../support/api.ts';
import { runTallyhook } from '../support/cli.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { type Environment, type Exit, settingsFor, spawnProgram } from '../support/program.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { insertPayments } from '../support/sandboxPayments.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const PAYMENTS = 30;

let db: TestDatabase;
let service: TestDatabase;
let sandbox: TestSandbox;
let env: Environment;
/** Payments are created one hour apart, the last one at this time. */
let endMs: number;

beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), createSandboxDatabase()]);
  sandbox = await startTestSandbox({ databaseUrl: service.url });
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  });
  endMs = Date.now() - HOUR_MS;
  const payments = Array.from({ length: PAYMENTS }, (_, n) => {
    const createdMs = endMs - n * HOUR_MS;
    const made = { id: `pay_${n}`, createdMs, modifiedMs: createdMs, status: 'succeeded' };
    return { ...made, currency: 'USD', amount: 100 + n };
  });
  await insertPayments(service, sandbox, payments);
});
afterEach(async () => {
  await sandbox.close();
  await Promise.all([db.drop(), service.drop()]);
});

const reconcile = (...args: readonly string[]): Promise<Exit> =>
  runTallyhook(['reconcile', ...args], { env });
const held = () =>
  db.query<{ id: string }>(`select id from resources where status is not null order by created_at`);
const runsOf = ({ stdout }: Exit) =>
  (JSON.parse(stdout) as { reconciliations: readonly object[] }).reconciliations;

/** Adds a payment to the ledger that the service does not have. */
async function addUnknownPayment(id: string): Promise<void> {
  const body = eventBody(
    paymentObject({
      payment_id: id,
      created: new Date(endMs - HOUR_MS / 2).toISOString(),
      modified_at: new Date(endMs).toISOString(),
    }),
    { merchantId: sandbox.merchantId },
  );
  await applyEach(db, testApplier(db, sandbox.merchantId), [body]);
}

describe('reconcile', () => {
  test('names a single change in the singular', async () => {
    await awaitWebhooks(db, 'refunds', [
      { ref: { kind: 'refund', id: 'ref_1' }, changedAt: new Date() },
    ]);
    const { stdout } = await reconcile('--stream', 'refunds');
    expect(stdout).toContain('the webhooks of 1 change may still arrive');
  });

  test('prints its size first, repairs every list and exits with 0, and finds no difference the second time', async () => {
    const first = await reconcile();
    expect(first.stderr).toMatch(/^payments: about 30 rows, \d+ requests/m);
    // The rate limit permits far more requests in a minute.
    expect(first.stderr).not.toContain('at least');
    expect(first.stdout).toMatch(/payments: equal \(.* UTC to .* UTC\)/);
    expect(first.stdout).toMatch(
      /30 rows compared by \d+ requests: 30 found, 30 repaired, 0 missed webhooks/,
    );
    for (const list of ['refunds', 'disputes', 'payouts']) {
      expect(first.stdout).toContain(`${list}: nothing to compare`);
    }
    expect(first.code).toBe(0);
    expect(await held()).toHaveLength(PAYMENTS);
    const from = new Date(endMs - 3 * HOUR_MS).toISOString();
    const second = await reconcile('--json', '--from', from);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    expect(runsOf(second)).toMatchObject(
      ['payments', 'refunds', 'disputes', 'payouts'].map((stream) => ({
        stream,
        mode: 'full',
        cause: 'operator',
        state: 'done',
        found: 0,
        remaining: 0,
      })),
    );
  });

  test('shows that it waits for the rate limit before it has an estimate', async () => {
    await db.query(
      `update rate_budget set requests_limit = 100, remaining = 0, reset_at = now() + interval '60 seconds'`,
    );
    const program = spawnProgram('bin/tallyhook.js', ['reconcile', '--stream', 'payments'], {
      env,
    });
    try {
      await waitFor('the reason of the wait', () =>
        program.stderr().includes('payments: waiting: the rate limit of the service is used up'),
      );
      expect(program.stderr()).not.toContain('about');
    } finally {
      program.kill('SIGKILL');
      await program.exit;
    }
  });

  test('with --dry-run prints what it would repair, exits with 6 and changes nothing', async () => {
    const exit = await reconcile('--stream', 'payments', '--dry-run');
    expect(exit.code).toBe(6);
    expect(exit.stdout).toContain('payments: 30 differences remain');
    expect(exit.stdout).toContain('would be repaired: missing_local payment:pay_3');
    expect(await held()).toEqual([]);
    expect(await db.query('select id from findings')).toEqual([]);
    expect(
      await db.query('select stream from reconcile_streams where watermark_at is not null'),
    ).toEqual([]);
  });

  test('exits with 5 and names the run where another process continues it', async () => {
    await db.query(
      `create function continue_run() returns trigger language plpgsql as $$
         begin update reconcile_runs set windows = 1 where id = new.id; return null; end $$`,
    );
    await db.query(
      `create trigger other_process after insert on reconcile_runs
         for each row execute function continue_run()`,
    );
    const exit = await reconcile('--stream', 'payments');
    expect(exit.code).toBe(5);
    expect(exit.stdout).toMatch(/^payments: another process continues run 1$/m);
    expect(await db.query('select state, windows from reconcile_runs')).toEqual([
      { state: 'running', windows: 1 },
    ]);
  });

  test('exits with 2 while a difference remains, in both modes', async () => {
    await reconcile('--stream', 'payments');
    await addUnknownPayment('pay_invented');
    const from = new Date(endMs - 3 * HOUR_MS).toISOString();
    const args = ['--stream', 'payments', '--from', from];
    const full = await reconcile(...args);
    expect(full.code).toBe(6);
    expect(full.stdout).toContain('remaining: missing_remote payment:pay_invented');
    const totals = await reconcile(...args, '--mode', 'totals', '--json');
    expect(totals.code).toBe(6);
    expect(runsOf(totals)).toMatchObject([{ mode: 'totals', state: 'done' }]);
  });

  test('reads only what was created from --from to --to', async () => {
    const from = new Date(endMs - 4.5 * HOUR_MS).toISOString();
    const to = new Date(endMs - 1.5 * HOUR_MS).toISOString();
    const exit = await reconcile('--stream', 'payments', '--from', from, '--to', to);
    expect(exit.code).toBe(0);
    expect(await held()).toEqual([{ id: 'pay_4' }, { id: 'pay_3' }, { id: 'pay_2' }]);
    // A range in the past does not advance the watermark, so that it leaves no gap.
    const nonsense = await reconcile('--from', 'yesterday-ish');
    expect(nonsense).toMatchObject({ code: 2, stdout: '' });
  });

  test('exits with 3 if no list has a row, and with 5 for an empty range', async () => {
    const empty = await reconcile('--stream', 'refunds');
    expect(empty).toMatchObject({ code: 3 });
    expect(empty.stdout).toContain('refunds: nothing to compare, neither side has a row');
    const late = await reconcile('--from', new Date(Date.now() + 24 * HOUR_MS).toISOString());
    expect(late).toMatchObject({ code: 5 });
    expect(late.stdout).toContain('payments: not compared: nothing was compared');
    for (const { stdout } of [empty, late]) expect(stdout).not.toContain('equal');
  });

  test('exits with 1 and the reason if the service fails before or during a run', async () => {
    const { api_key: apiKey } = await sandbox.control('POST', '/api_keys', { kind: 'secret' });
    await sandbox.control('POST', '/api_keys/revoke', { api_key: apiKey });
    const refused = await runTallyhook(['reconcile'], {
      env: { ...env, PAYMENTS_API_KEY: apiKey },
    });
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toMatch(
      /cannot be reached or refused the request: .*AU_02.*tallyhook doctor/s,
    );

    const fault = { fault: 'garbage', path: '/payments/pay_' };
    await sandbox.control('PUT', '/faults', { requests: [fault, { ...fault, path: '/refunds' }] });
    const within = await reconcile('--stream', 'refunds');
    expect(within).toMatchObject({ code: 5 });
    expect(await held()).toEqual([]);
    expect(await db.query('select class, subject from findings order by id')).toEqual(
      ['payments', 'refunds', 'disputes', 'payouts'].map((stream) => ({
        class: 'service_unusable',
        subject: `service:${stream}`,
      })),
    );

    const keyless = { ...env, PAYMENTS_API_KEY: undefined, PAYMENTS_BASE_URL: undefined };
    const off = await runTallyhook(['reconcile'], { env: keyless });
    expect(off.code).toBe(2);
    expect(off.stderr).toMatch(/Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY/);
  });

  test('continues after a rejected list, names it, and exits with 5', async () => {
    await sandbox.control('PUT', '/faults', { requests: [{ fault: 'garbage', path: '/refunds' }] });
    const exit = await reconcile();
    expect(exit.code).toBe(5);
    expect(exit.stdout).toMatch(/payments: equal/);
    expect(exit.stdout).toMatch(/refunds: not compared: .+/);
    expect(exit.stdout).toMatch(/disputes: nothing to compare/);
    expect(exit.stdout).toMatch(/payouts: nothing to compare/);
    const again = await reconcile('--json');
    expect(again.code).toBe(5);
    expect(JSON.parse(again.stdout)).toMatchObject({
      reconciliations: [{ stream: 'payments' }, { stream: 'disputes' }, { stream: 'payouts' }],
      refused: [{ stream: 'refunds', reason: expect.any(String) }],
    });
    const { stdout } = await runTallyhook(['reconcile', '--help'], { env });
    expect(stdout).toMatch(/5 a list could not be compared/);
  });
});

test('reconciliations lists the runs and stops one that has not ended', async () => {
  const fromAt = new Date(endMs - HOUR_MS);
  const run = { stream: 'payouts', mode: 'full', cause: 'night', isDryRun: false } as const;
  const { id } = await insertRun(db, { ...run, fromAt, toAt: new Date(endMs) });
  const command = (...args: readonly string[]) =>
    runTallyhook(['reconciliations', ...args], { env });
  const stopped = await command('stop', String(id), '--by', 'ada');
  expect(stopped).toMatchObject({ code: 0, stdout: `Run ${id} (payouts) is stopped.\n` });
  const again = await command('stop', String(id));
  expect(again.code).toBe(4);
  expect(again.stderr).toContain('has ended already: it is stopped');
  expect((await command('stop', '99999999')).stderr).toContain('There is no run 99999999');
  expect(runsOf(await command('list', '--json'))[0]).toMatchObject({
    number: id,
    verdict: 'stopped',
    stopped_by: 'ada',
  });
});

test('the roles scheduler and reconcile repair differences, and the admin API lists their runs', async () => {
  const program = spawnProgram(
    'bin/tallyhook.js',
    ['start', '--roles', 'scheduler,reconcile,console'],
    { env },
  );
  try {
    await waitFor('every list to be read', async () => {
      const done = await db.query(
        `select stream from reconcile_runs where cause = 'tail' and state = 'done'`,
      );
      return done.length >= 4;
    });
  } finally {
    program.kill('SIGTERM');
  }
  expect(await program.exit).toMatchObject({ code: 0 });
  expect(await held()).toHaveLength(PAYMENTS);

  const running = await startTallyhook({
    db,
    roles: ['console'],
    env: { PAYMENTS_MERCHANT_ID: sandbox.merchantId },
  });
  try {
    await expectRuns(createApi(running));
  } finally {
    await running.close();
  }
});

async function expectRuns(api: Api): Promise<void> {
  const { body } = await api.get('/api/v1/reconciliations?stream=payments&limit=100');
  const tail = body.reconciliations.find(({ cause }: Body) => cause === 'tail');
  expect(tail).toMatchObject({
    stream: 'payments',
    mode: 'full',
    state: 'done',
    remaining: 0,
    missed_webhooks: 0,
    failure: null,
  });
  // The schedule that ran first repaired them.
  const repaired = body.reconciliations.map((run: Body) => run.repaired);
  expect(repaired.reduce((sum: number, count: number) => sum + count, 0)).toBe(PAYMENTS);
  const newest = await api.get('/api/v1/reconciliations?limit=2');
  const [one, other] = newest.body.reconciliations;
  expect(one.number).toBeGreaterThan(other.number);
  const next = await api.get(`/api/v1/reconciliations?limit=2&cursor=${newest.body.next_cursor}`);
  expect(next.body.reconciliations[0].number).toBeLessThan(other.number);
  expect((await api.get('/api/v1/reconciliations?stream=customers')).status).toBe(400);
}
