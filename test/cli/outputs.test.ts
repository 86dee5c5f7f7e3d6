/**
 * Every command that prints JSON prints what it declares in src/cli/outputs.ts. `runTallyhook` compares each
 * output of any test; here each command is called until it has one.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { COMMAND_OUTPUTS } from '../../src/cli/outputs.ts';
import { insertRun } from '../../src/reconcile/store/runs.ts';
import { alertOf } from '../support/alerts.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { chainJournal } from '../support/chain.ts';
import { runTallyhook } from '../support/cli.ts';
import { checkOutput, forgetOutputs, seenOutputs } from '../support/commandOutput.ts';
import {
  createSandboxDatabase,
  createTestDatabase,
  type TestDatabase,
} from '../support/database.ts';
import { unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { type Environment, settingsFor, spawnProgram } from '../support/program.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let sandboxDb: TestDatabase;
let sandbox: TestSandbox;
let setup: AuthorizationTestSetup;
let env: Environment;
let folder: string;
let body: string;

beforeAll(async () => {
  forgetOutputs();
  db = await createTestDatabase();
  sandboxDb = await createSandboxDatabase();
  sandbox = await startTestSandbox();
  setup = await setUpAuthorizations(sandbox, db);
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-outputs-'));
  body = join(folder, 'body.json');
  writeFileSync(body, '{}');
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    ADMIN_PORT: '18081',
    ARCHIVE_URL: pathToFileURL(folder).href,
  });
});
afterAll(async () => {
  await sandbox.close();
  await db.drop();
  await sandboxDb.drop();
  rmSync(folder, { recursive: true });
});

const DECIDED = ['--reason', 'a test', '--by', 'ada'];
const pay = () => setup.authorize({ capture_method: 'automatic' });

async function dispute(): Promise<string> {
  const opened = { payment_id: await pay(), amount: 5400 };
  const { body: created } = await sandbox.call('POST', '/_sandbox/disputes', opened);
  await setup.applyWebhooks();
  return created.dispute_id;
}

async function payout(): Promise<string> {
  const request = {
    amount: 2500,
    currency: 'EUR',
    payout_type: 'bank',
    confirm: true,
    payout_method_id: 'pm_stored',
  };
  const { body: created } = await sandbox.call('POST', '/payouts/create', request);
  await setup.applyWebhooks();
  return created.payout_id;
}

async function failedPayout(): Promise<string> {
  const id = await payout();
  await sandbox.call('POST', `/_sandbox/payouts/${id}/move`, { status: 'failed' });
  await setup.applyWebhooks();
  return id;
}

async function deadEvent(): Promise<string> {
  const [number = 0] = await receive(db, [paymentEvent({})]);
  await testApplier(db).markDead(number, 5, 'connection reset');
  return String(number);
}

async function alert(): Promise<string> {
  const subject = `payment:${unique('pay')}`;
  const active = [alertOf({ rule: 'over_capture', subject, paymentId: 'pay_1' })];
  await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: ['over_capture'], active }]));
  return await numberOf(`select id from alerts where subject = '${subject}'`);
}

/** The `id` of the only row of a statement. */
async function numberOf(sql: string): Promise<string> {
  const [row] = await db.query<{ id: number }>(sql);
  return String(row?.id);
}

const message = (): Promise<string> =>
  numberOf(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     values ('${unique('msg')}', 'log', 'alert', '{"kind":"test","at":"2026-11-01T00:00:00.000Z"}', 'delivered', now(), now(), now())
     returning number as id`,
  );

const openAttempt = (): Promise<string> =>
  numberOf(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     values (now() - interval '1 hour', 'cli', 'max', 'admin', 'max@till', 'payment.refund',
             'payment', 'pay_1', 'requested')
     returning id`,
  );

const session = (): Promise<string> =>
  numberOf(
    `insert into console_sessions (digest, token_digest, holder, started_at, last_seen_at, expires_at)
     values (sha256('session'), sha256('token'), 'ada', now(), now(), now() + interval '1 day')
     returning id`,
  );

const finding = (): Promise<string> =>
  numberOf(
    `insert into findings (class, subject, detail) values ('over_refund', '${unique('payment:')}', '{}')
     returning id`,
  );

async function replay(): Promise<string> {
  await deadEvent();
  await runTallyhook(['replays', 'start', '--state', 'dead', '--yes', ...DECIDED], { env });
  return await numberOf('select max(id) as id from replay_runs');
}

async function run(): Promise<string> {
  const { id } = await insertRun(db, {
    stream: 'payouts',
    mode: 'full',
    cause: 'night',
    isDryRun: false,
    fromAt: new Date(0),
    toAt: new Date(1_000),
  });
  return String(id);
}

const list = () => ['--limit', '5'];
const none = () => [];

type Words = readonly string[];

/** Arguments of each command, in the order in which they are called. */
const EXAMPLES: Readonly<Record<string, () => Words | Promise<Words>>> = {
  migrate: none,
  sign: () => [body],
  send: () => [body, '--url', `${sandbox.baseUrl}/health`],
  'retention show': none,
  // While events wait, it does.
  'retention run': none,
  trigger: () => ['payment_succeeded', '--order', 'ord_json'],
  'orders list': () => ['--totals'],
  'orders show': async () => [await pay(), '--recorded'],
  'orders parts': async () => [await pay()],
  'orders explain': async () => [await pay()],
  'payments list': () => ['--totals'],
  'payments refund': async () => [await pay(), '--yes', ...DECIDED],
  'refunds list': list,
  'disputes list': list,
  'disputes evidence': async () => [await dispute()],
  'disputes submit': async () => [await dispute(), '--field', 'receipt=x', '--yes', ...DECIDED],
  'disputes upload': async () => {
    const file = join(folder, 'proof.pdf');
    writeFileSync(file, '%PDF-1.7 proof of delivery');
    return [await dispute(), file, '--by', 'ada'];
  },
  'disputes accept': async () => [await dispute(), '--yes', ...DECIDED],
  'payouts list': async () => [(await payout()) && '--totals'],
  'payouts retry': async () => [await failedPayout(), '--yes', ...DECIDED],
  'payouts cancel': async () => [await payout(), '--yes', ...DECIDED],
  'payouts fulfill': async () => [await payout(), '--yes', ...DECIDED],
  'authorizations list': async () => {
    await setup.check.checkOne(await setup.authorize(), true);
    return [];
  },
  'authorizations capture': async () => [
    await setup.authorize(),
    '--amount',
    '1000',
    '--yes',
    ...DECIDED,
  ],
  'authorizations cancel': async () => [await setup.authorize(), '--yes', ...DECIDED],
  refresh: async () => [await pay()],
  'events list': list,
  'events show': () => ['1'],
  'events variants': () => ['1'],
  'events replay': async () => [await deadEvent(), '--dead'],
  'events discard': async () => [await deadEvent(), ...DECIDED],
  find: async () => [await pay()],
  'alerts list': async () => [(await alert()) && '--all'],
  'alerts show': async () => [await alert()],
  'alerts ack': async () => [await alert(), ...DECIDED],
  'alerts snooze': async () => [await alert(), '--for', '4h'],
  'alerts assign': async () => [await alert(), '--to', 'Bea', ...DECIDED],
  'alerts test': none,
  'messages list': async () => [(await message()) && '--limit', '5'],
  'messages show': async () => [await message()],
  'messages resend': async () => [await message(), ...DECIDED],
  reconcile: () => ['--stream', 'payments'],
  'reconciliations list': list,
  'reconciliations stop': async () => [await run()],
  'replays start': async () => {
    await deadEvent();
    return ['--state', 'dead', '--yes', ...DECIDED];
  },
  'replays show': async () => [await replay()],
  'replays stop': async () => [await replay()],
  'replays list': list,
  'findings list': list,
  'findings accept': async () => [await finding(), '99999999', ...DECIDED],
  'audit list': list,
  'audit close': async () => [await openAttempt(), '--outcome', 'failed', ...DECIDED],
  erase: async () => ['--payment', await pay(), '--yes', ...DECIDED],
  'erasures list': list,
  'erasures check': () => ['no such value'],
  'sessions list': async () => [(await session()) && '--limit', '5'],
  'sessions end': async () => [await numberOf('select id from console_sessions'), ...DECIDED],
  'tokens create': () => ['--name', 'till', '--role', 'viewer'],
  'tokens list': list,
  'tokens revoke': () => ['till'],
  status: none,
  open: none,
  doctor: none,
  processes: none,
  queues: none,
  'schedule list': none,
  'schedule run': () => ['sweep', ...DECIDED],
  settings: () => ['--all'],
  pause: () => DECIDED,
  resume: none,
  balances: none,
  statement: () => ['--month', '2026-10', '--format', 'json'],
  'chain head': async () => {
    await chainJournal(db);
    return [];
  },
  close: () => ['2025-01', '--with-exceptions', ...DECIDED],
  reopen: () => ['2025-01', ...DECIDED],
  'closings list': none,
  'transfers list': () => ['--totals'],
  'settle import': () => {
    const [file, source] = [join(folder, 'report.csv'), join(folder, 'source.json')];
    writeFileSync(
      file,
      'Batch,Type,Payment,Date,Currency,Gross,Fee\nST-1,charge,pay_nowhere,2026-10-05,EUR,5.00,0.10\n',
    );
    const columns = {
      settlement: 'Batch',
      type: 'Type',
      reference: 'Payment',
      day: 'Date',
      currency: 'Currency',
      gross: 'Gross',
      fee: 'Fee',
    };
    const types = { charge: 'payment' };
    writeFileSync(source, JSON.stringify({ name: 'reports', format: 'csv', columns, types }));
    return [file, '--source', source];
  },
  'settle list': list,
  'settle show': () => ['1'],
  'settle unmatched': none,
  'settle match': () => ['1', 'adjustment', '--reason', 'a test'],
  'settle unmatch': () => ['1', '--reason', 'a test'],
  verify: none,
  'archive list': none,
  'archive verify': none,
  'archive import': () => ['messages', ...DECIDED],
};

test.each(Object.entries(EXAMPLES))('tallyhook %s', async (name, argumentsOf) => {
  const json = COMMAND_OUTPUTS[name]?.given === undefined ? ['--json'] : [];
  const exit = await runTallyhook([...name.split(' '), ...(await argumentsOf()), ...json], { env });
  expect(seenOutputs, `${exit.stdout}${exit.stderr}`).toContain(name);
});

describe('commands that run until a signal', () => {
  test.each<[string, readonly string[], string]>([
    ['start', ['--roles', 'receiver'], '"webhook_url"'],
    ['tail', ['--last', '3'], '"event_id"'],
    ['listen', ['--after', '1', '--forward-to', 'TARGET'], '"duration_ms"'],
    ['sandbox', [], '"control_url"'],
  ])('tallyhook %s', async (name, options, text) => {
    const args = [name, ...options, '--json'].map((word) =>
      word === 'TARGET' ? `${sandbox.baseUrl}/health` : word,
    );
    const more = { ADMIN_PORT: '0', SANDBOX_PORT: '0', DATA_DIR: folder, HEALTH_PORT: '0' };
    const own = settingsFor(sandboxDb.url, { ...more, PAYMENTS_MERCHANT_ID: undefined });
    const program = spawnProgram('bin/tallyhook.js', args, {
      env: name === 'sandbox' ? own : { ...env, ...more },
    });
    await waitFor(
      `${name} to print ${text}`,
      () => program.stdout().includes(text) && program.stdout().endsWith('\n'),
    );
    program.kill('SIGTERM');
    checkOutput(args, await program.exit);
    expect(seenOutputs).toContain(name);
  });
});

/** They are expensive, and their own tests compare the output. */
const SEEN_ELSEWHERE: Readonly<Record<string, string>> = { demo: 'demo.test.ts' };

test('every command that prints JSON was seen', () => {
  for (const [name, file] of Object.entries(SEEN_ELSEWHERE)) {
    expect(readFileSync(join(import.meta.dirname, file), 'utf8')).toContain(
      `checkOutput(['${name}', '--json']`,
    );
  }
  const all = [...seenOutputs, ...Object.keys(SEEN_ELSEWHERE)];
  expect(all.toSorted()).toEqual(Object.keys(COMMAND_OUTPUTS).toSorted());
});

test('another shape is found', () => {
  const printed = (value: unknown) => ({ code: 0, stdout: JSON.stringify(value) });
  const check = (args: readonly string[], value: unknown) => () =>
    checkOutput([...args, '--json'], printed(value));
  const state = { paused: true, by: 'ada', reason: 'x' };
  expect(check(['pause'], state)).not.toThrow();
  expect(check(['pause'], { ...state, more: 1 })).toThrow(/pause --json printed/);
  expect(check(['pause'], { paused: true })).toThrow(/pause --json printed/);
  expect(() => checkOutput(['pause', '--json'], { code: 0, stdout: `{}\n{}` })).toThrow(/JSON/);
  expect(check(['no', 'such'], state)).toThrow(/declares no output/);
});
