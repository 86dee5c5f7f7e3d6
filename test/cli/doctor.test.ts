/** `tallyhook doctor` for healthy and faulty installations. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localSecret } from '../../src/config/localSecrets.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { SECRET, unique } from '../support/events.ts';
import {
  type Environment,
  type Exit,
  runTallyhookProcess,
  settingsFor,
} from '../support/program.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { createTestToken, revokeTestToken } from '../support/tokens.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
let env: Environment;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  await sandbox.control('PUT', '/webhook', { url: WEBHOOK_URL, secret: SECRET });
  env = settingsFor(db.url, {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  });
});
afterAll(async () => {
  await sandbox.close();
  await db.drop();
});

/** Nothing listens there: these tests check settings and send nothing. */
const WEBHOOK_URL = 'http://127.0.0.1:9/webhooks';

interface Report {
  readonly healthy: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly state: string;
    readonly result: string;
    readonly remedy: string | null;
  }[];
}

/** @param run a process where the clock is replaced */
async function examine(
  more: Environment = {},
  run = runTallyhook,
): Promise<{ exit: Exit; report: Report }> {
  const exit = await run(['doctor', '--json'], { env: { ...env, ...more } });
  return { exit, report: JSON.parse(exit.stdout) as Report };
}

const named = ({ checks }: Report, name: string) => checks.find((check) => check.name === name);

test('a rate limit that is used up is not called a service that is unavailable', async () => {
  const request = { fault: 'rate_limit', times: 2, path: '/health' };
  await sandbox.control('PUT', '/faults', { requests: [request] });
  const { exit, report } = await examine();
  await sandbox.control('DELETE', '/faults');
  expect(exit.code).toBe(6);
  expect(named(report, 'API key')).toMatchObject({
    state: 'failed',
    result: 'the rate limit of the service is used up',
  });
});

test('a healthy installation without webhooks passes every check but that of their arrival', async () => {
  const { exit, report } = await examine();
  expect(exit).toMatchObject({ code: 0, stderr: '' });
  const states = Object.fromEntries(report.checks.map(({ name, state }) => [name, state]));
  expect(states).toEqual({
    settings: 'ok',
    database: 'ok',
    replication: 'ok',
    pooler: 'ok',
    'session settings': 'ok',
    'transaction ids': 'ok',
    'database clock': 'ok',
    migrations: 'ok',
    'database rights': 'ok',
    account: 'ok',
    reconciliation: 'ok',
    'pending events': 'ok',
    'days of bodies': 'ok',
    'copy of bodies': 'ok',
    verify: 'ok',
    chain: 'ok',
    attempts: 'ok',
    tokens: 'ok',
    queue: 'ok',
    'webhook secrets': 'ok',
    'admin token': 'ok',
    'secret files': 'ok',
    encryption: 'ok',
    'private ports': 'ok',
    'API key': 'ok',
    'key and address': 'ok',
    clock: 'ok',
    watermarks: 'ok',
    'business profile': 'ok',
    'webhook address': 'ok',
    'signing secret': 'ok',
    'webhook events': 'ok',
    // Rule 1 of judge.ts: what did not happen yet does not pass.
    'webhook arrival': 'not_checked',
  });
  // The text output has the same checks, with remedies.
  const { stdout } = await runTallyhook(['doctor'], { env });
  expect(stdout).toMatch(/^ok {4}database +reachable, PostgreSQL 1\d\.\d+$/m);
  expect(stdout).toMatch(/^ok {4}webhook secrets +1 secret, strong enough: [0-9a-f]{8}$/m);
  expect(stdout).toMatch(/^ok {4}signing secret +\S+ signs with secret 1 of WEBHOOK_SECRETS$/m);
  const all = report.checks.length;
  expect(stdout.endsWith(`\n${all - 1} ok, 0 warnings, 0 failed, 1 not checked.\n`), stdout).toBe(
    true,
  );
});

test('a pause is reported with its author and reason, and is not ended', async () => {
  await runTallyhook(['pause', '--reason', 'the service moves', '--by', 'Ada'], { env });
  const { exit, report } = await examine();
  expect(named(report, 'reconciliation')).toEqual({
    name: 'reconciliation',
    state: 'warning',
    result: expect.stringMatching(/^Ada paused it at 20.*Z: the service moves$/),
    remedy: expect.stringContaining('npx tallyhook resume'),
  });
  expect(exit.code).toBe(0);
  expect(await runTallyhook(['resume'], { env })).toMatchObject({ code: 0 });
  expect(named((await examine()).report, 'reconciliation')).toMatchObject({ state: 'ok' });
});

test('a token that expires within two weeks is named', async () => {
  const dayMs = 24 * 60 * 60_000;
  await createTestToken(db, { name: 'till', role: 'shop', expiresInMs: 13 * dayMs });
  await createTestToken(db, { name: 'later', role: 'viewer', expiresInMs: 15 * dayMs });
  await createTestToken(db, { name: 'past', role: 'viewer', expiresInMs: 0 });
  await createTestToken(db, { name: 'gone', role: 'viewer', expiresInMs: dayMs });
  await revokeTestToken(db, 'gone');
  const { exit, report } = await examine();
  expect(exit.code).toBe(0);
  expect(named(report, 'tokens')).toEqual({
    name: 'tokens',
    state: 'warning',
    result: expect.stringMatching(/^tokens expire, .*: till \(shop\) at 20\S+Z$/),
    remedy: expect.stringContaining('npx tallyhook tokens create'),
  });
  await revokeTestToken(db, 'till');
  expect(named((await examine()).report, 'tokens')).toMatchObject({ state: 'ok' });
});

test('a role that lacks rights fails the check, with the GRANT to run', async () => {
  await db.query('revoke insert on pending from tallyhook_receiver');
  await db.query('revoke usage on schema bullmq from tallyhook_receiver');
  const { exit, report } = await examine();
  await db.query('grant insert on pending to tallyhook_receiver');
  await db.query('grant usage on schema bullmq to tallyhook_receiver');
  expect(exit.code).toBe(6);
  const check = named(report, 'database rights');
  expect(check).toMatchObject({
    state: 'failed',
    result: 'tallyhook_receiver lacks rights on 2 objects',
  });
  expect(check?.remedy).toContain('grant insert on public.pending to tallyhook_receiver;');
  expect(check?.remedy).toContain('grant usage on schema bullmq to tallyhook_receiver;');
});

test('a user with the rights of no role fails the check, with the role to grant', async () => {
  const user = unique('reader');
  await db.query(`create role ${user} login password 'secret' in role pg_read_all_data`);
  const url = new URL(db.url);
  [url.username, url.password] = [user, 'secret'];
  const { exit, report } = await examine({ DATABASE_URL: url.href });
  await db.query(`drop role ${user}`);
  expect(exit.code).toBe(6);
  const check = named(report, 'database rights');
  expect(check).toMatchObject({
    state: 'failed',
    result: `the database user ${user} has the rights of no role`,
  });
  expect(check?.remedy).toContain(`grant tallyhook_app to ${user}`);
});

test('a watermark in the future fails, with a remedy', async () => {
  await db.query(
    `update reconcile_streams set watermark_at = now() + interval '3 days' where stream = 'refunds'`,
  );
  const { exit, report } = await examine();
  await db.query('update reconcile_streams set watermark_at = null');
  expect(exit.code).toBe(6);
  expect(named(report, 'watermarks')).toEqual({
    name: 'watermarks',
    state: 'failed',
    result: expect.stringMatching(/new rows are not compared: refunds up to 20/),
    remedy: expect.stringContaining('npx tallyhook reconcile'),
  });
});

test('a difference between the clocks of machine and database is a warning, and a failure above a minute', async () => {
  const shift = pathToFileURL(join(packageRoot(), 'test/support/shiftedDate.mjs')).href;
  const NODE_OPTIONS = `--import ${shift}`;
  const examineAt = (shiftMs: number) =>
    examine({ NODE_OPTIONS, CLOCK_SHIFT_MS: String(shiftMs) }, runTallyhookProcess);
  const late = await examineAt(-30_000);
  expect(named(late.report, 'database clock')).toMatchObject({ state: 'warning' });
  expect(named(late.report, 'database clock')?.result).toMatch(/\d+ s behind the database's/);
  const ahead = await examineAt(180_000);
  expect(ahead.exit.code).toBe(6);
  expect(named(ahead.report, 'database clock')).toMatchObject({ state: 'failed' });
});

test('a business profile with another webhook URL or secret is reported', async () => {
  const elsewhere = await examine({
    WEBHOOK_PUBLIC_URL: 'https://hooks.shop.example/webhooks',
    WEBHOOK_SECRETS: 'a-secret-of-nobody-0123456789abcdef',
  });
  expect(elsewhere.exit.code).toBe(6);
  expect(named(elsewhere.report, 'webhook address')).toMatchObject({ state: 'failed' });
  expect(named(elsewhere.report, 'webhook address')?.remedy).toContain(
    'https://hooks.shop.example/webhooks',
  );
  expect(named(elsewhere.report, 'signing secret')).toMatchObject({ state: 'failed' });
  for (const secret of [SECRET, 'a-secret-of-nobody-0123456789abcdef']) {
    expect(elsewhere.exit.stdout).not.toContain(secret);
  }

  const { report } = await examine({
    WEBHOOK_PUBLIC_URL: WEBHOOK_URL,
    WEBHOOK_SECRETS: `a-secret-of-nobody-0123456789abcdef,${SECRET}`,
  });
  expect(named(report, 'webhook address')?.result).toContain('which is this receiver');
  expect(named(report, 'signing secret')?.result).toMatch(
    /signs with secret 2 of WEBHOOK_SECRETS$/,
  );

  await sandbox.control('PUT', '/webhook', { url: null });
  const nowhere = await examine();
  await sandbox.control('PUT', '/webhook', { url: WEBHOOK_URL });
  expect(named(nowhere.report, 'webhook address')?.result).toMatch(
    /no address, so no webhook is sent/,
  );
});

test('an embedded database that cannot start states what to do, which is not at DATABASE_URL', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyhook-doctor-'));
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'notes.txt'), '');
  const { report } = await examine({ DATABASE_URL: undefined, DATA_DIR: dataDir });
  await rm(dataDir, { recursive: true });
  expect(named(report, 'database')).toMatchObject({
    state: 'failed',
    result: expect.stringContaining('contains no PostgreSQL cluster'),
    remedy: expect.not.stringContaining('DATABASE_URL'),
  });
});

test('a read-only server is not reported as one that cannot be reached', async () => {
  const other = await createTestDatabase();
  const name = new URL(other.url).pathname.slice(1);
  await other.query(`alter database "${name}" set default_transaction_read_only = on`);
  const { report } = await examine({ DATABASE_URL: other.url }).finally(other.drop);
  expect(named(report, 'database')).toMatchObject({
    state: 'failed',
    result: expect.stringMatching(/^accepts no writes \(.*default_transaction_read_only is on/),
    remedy: expect.not.stringContaining('DATABASE_URL'),
  });
});

test('one secret in two settings counts once', async () => {
  const { report } = await examine({ SANDBOX_WEBHOOK_SECRET: SECRET });
  expect(named(report, 'webhook secrets')?.result).toMatch(/^1 secret, strong enough: [^,]+$/);
});

test('a sandbox signs with its own secret, which a receiver without it does not know', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tallyhook-doctor-'));
  const secret = localSecret(dataDir, 'sandbox-webhook-secret');
  await sandbox.control('PUT', '/webhook', { url: WEBHOOK_URL, secret });
  const apart = await examine({ DATA_DIR: dataDir });
  const shared = await examine({ DATA_DIR: dataDir, SANDBOX_WEBHOOK_SECRET: secret });
  await sandbox.control('PUT', '/webhook', { url: WEBHOOK_URL, secret: SECRET });
  await rm(dataDir, { recursive: true });
  expect(apart.exit.code).toBe(6);
  expect(named(apart.report, 'signing secret')).toEqual({
    name: 'signing secret',
    state: 'failed',
    result: expect.stringContaining('signs with a secret that the receiver does not know'),
    remedy: expect.stringContaining('SANDBOX_WEBHOOK_SECRET'),
  });
  expect(apart.exit.stdout).not.toContain(secret);
  expect(named(shared.report, 'signing secret')).toMatchObject({ state: 'ok' });
});

test('webhooks of the sandbox that do not arrive are reported, even if all settings agree', async () => {
  // Time moves only between the payments, so that no delivery is retried.
  const nowMs = Date.now();
  const sender = await startTestSandbox({ clock: { nowMs: () => nowMs } });
  const ledger = await createTestDatabase();
  const tallyhook = await startTallyhook({ db: ledger, roles: ['receiver'] });
  const service = {
    DATABASE_URL: ledger.url,
    PAYMENTS_BASE_URL: sender.baseUrl,
    PAYMENTS_API_KEY: sender.apiKey,
  };
  const arrivalAfter = async (target: { readonly url: string; readonly secret?: string }) => {
    await sender.control('PUT', '/webhook', target);
    await sender.advance(1_000);
    await sender.call('POST', '/payments', cardPayment());
    await sender.control('POST', '/settle');
    const { report } = await examine(service);
    const { state, result, remedy } = named(report, 'webhook arrival') ?? {};
    return `${state}: ${result} → ${remedy}`;
  };
  const refused = await arrivalAfter({
    url: tallyhook.webhookUrl,
    secret: 'a-secret-of-nobody-0123456789abcdef',
  });
  const unreachable = await arrivalAfter({ url: WEBHOOK_URL, secret: SECRET });
  const elsewhere = await arrivalAfter({ url: sender.listener.url });
  const arrived = await arrivalAfter({ url: tallyhook.webhookUrl });
  const interrupted = await arrivalAfter({ url: WEBHOOK_URL });
  await tallyhook.close();
  await sender.close();
  await ledger.drop();
  expect(refused).toMatch(/^failed: .*HTTP 401.* → .*SANDBOX_WEBHOOK_SECRET/);
  expect(unreachable).toMatch(/^failed: .*no response.* → Start the receiver/);
  expect(elsewhere).toMatch(/^failed: .*is not in the inbox.* → .*PORT/);
  expect(arrived).toMatch(/^ok: .*is in the inbox → null$/);
  expect(interrupted).toMatch(/^warning: .*no response; 2 of the last 5 were acknowledged → /);
});

test('hidden and missing profiles are reported', async () => {
  const other = await examine({ PAYMENTS_PROFILE_ID: 'pro_other' });
  expect(other.exit.code).toBe(6);
  expect(named(other.report, 'business profile')?.result).toMatch(
    /^the account has no profile pro_other; it has /,
  );
  expect(named(other.report, 'webhook address')).toMatchObject({ state: 'not_checked' });

  const absent = await examine({ PAYMENTS_MERCHANT_ID: 'merchant_unknown' });
  expect(absent.exit.code).toBe(0);
  expect(named(absent.report, 'business profile')).toMatchObject({ state: 'not_checked' });
  expect(named(absent.report, 'business profile')?.result).toContain('HTTP 404');
});

test('an unknown key and a revoked one are distinguished', async () => {
  const unknown = await examine({ PAYMENTS_API_KEY: 'snd_nobody_made_this_one' });
  expect(unknown.exit.code).toBe(6);
  expect(named(unknown.report, 'API key')).toMatchObject({
    state: 'failed',
    result: 'the service does not know the key',
  });
  const { api_key: apiKey } = await sandbox.control('POST', '/api_keys', { kind: 'secret' });
  await sandbox.control('POST', '/api_keys/revoke', { api_key: apiKey });
  const revoked = await examine({ PAYMENTS_API_KEY: apiKey });
  expect(revoked.exit.code).toBe(6);
  expect(named(revoked.report, 'API key')).toMatchObject({
    state: 'failed',
    result: 'the key was revoked',
    remedy: 'Create a new key at the service, set PAYMENTS_API_KEY, and restart.',
  });
  for (const secret of [apiKey, 'snd_nobody_made_this_one']) {
    expect(unknown.exit.stdout + revoked.exit.stdout).not.toContain(secret);
  }
});

test('an unreachable service is reported, and checks that depend on it do not pass', async () => {
  const { exit, report } = await examine({ PAYMENTS_BASE_URL: 'http://127.0.0.1:9' });
  expect(exit.code).toBe(6);
  expect(named(report, 'API key')).toMatchObject({ state: 'failed' });
  expect(named(report, 'API key')?.remedy).toContain('PAYMENTS_BASE_URL (http://127.0.0.1:9)');
  expect(named(report, 'clock')).toMatchObject({
    state: 'not_checked',
    result: 'the service did not respond, or sent no Date header',
  });
});

test('a production key is not used with a sandbox URL', async () => {
  const { exit, report } = await examine({
    PAYMENTS_API_KEY: 'prd_0123456789abcdef',
    PAYMENTS_MERCHANT_ID: 'merchant_real',
  });
  expect(exit.code).toBe(6);
  expect(named(report, 'key and address')).toMatchObject({ state: 'failed' });
});

test('connections in clear text and open ports are warnings', async () => {
  const { exit, report } = await examine({
    REDIS_URL: 'redis://:hunter2@queue.invalid:6379',
    ADMIN_HOST: '0.0.0.0',
  });
  expect(named(report, 'encryption')).toMatchObject({
    state: 'warning',
    result: 'REDIS_URL connects to queue.invalid without TLS',
  });
  expect(named(report, 'private ports')).toMatchObject({
    state: 'warning',
    result: 'ADMIN_HOST opens the admin port at 0.0.0.0',
  });
  expect(exit.stdout).not.toContain('hunter2');
});

test('a database that is unavailable, not migrated or of another account is reported', async () => {
  const unavailable = await examine({ DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
  expect(unavailable.exit.code).toBe(6);
  expect(named(unavailable.report, 'database')).toMatchObject({ state: 'failed' });
  expect(named(unavailable.report, 'database')?.remedy).toMatch(/Check DATABASE_URL/);
  expect(named(unavailable.report, 'migrations')).toMatchObject({ state: 'not_checked' });
  expect(named(unavailable.report, 'queue')).toMatchObject({
    state: 'failed',
    result: expect.stringMatching(/^the database is unavailable \(/),
  });
  const { stdout } = await runTallyhook(['doctor'], {
    env: { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' },
  });
  expect(stdout).toContain('?     migrations       not checked: no database\n');
  expect(stdout.split('Fix the database check first.')).toHaveLength(2);
  expect(stdout).not.toContain('the database cannot be reached');
  // Checks that do not need the database still ran.
  expect(named(unavailable.report, 'API key')).toMatchObject({ state: 'ok' });

  const old = await createTestDatabase();
  await old.query('delete from migrations where id > 5');
  const behind = await examine({ DATABASE_URL: old.url });
  await old.drop();
  expect(behind.exit.code).toBe(6);
  expect(named(behind.report, 'migrations')).toMatchObject({
    state: 'failed',
    remedy: 'Run: npx tallyhook migrate',
  });

  await db.query(`insert into installation (merchant_id) values ('merchant_other')`);
  const foreign = await examine();
  await db.query('delete from installation');
  expect(foreign.exit.code).toBe(6);
  expect(named(foreign.report, 'account')?.result).toMatch(/belongs to merchant_other/);
});

test('a missing value is reported with its setting', async () => {
  const { exit, report } = await examine({
    PAYMENTS_API_KEY: undefined,
    PAYMENTS_BASE_URL: undefined,
    WEBHOOK_SECRETS: undefined,
  });
  expect(exit.code).toBe(6);
  expect(named(report, 'API key')).toMatchObject({ state: 'warning' });
  expect(named(report, 'webhook secrets')).toMatchObject({
    state: 'failed',
    remedy: 'Set WEBHOOK_SECRETS.',
  });
});

test('all invalid settings are named, without their secrets', async () => {
  const { exit, report } = await examine({ PORT: 'http', WEBHOOK_SECRETS: 'hunter2' });
  expect(exit.code).toBe(6);
  expect(report).toMatchObject({ healthy: false, checks: [{ name: 'settings' }] });
  expect(named(report, 'settings')?.result).toMatch(/PORT[\s\S]*WEBHOOK_SECRETS/);
  expect(exit.stdout).not.toContain('hunter2');
  expect(exit.stdout).not.toContain(SECRET);
});

test('events that wait while no process applies them are counted, with the age of the oldest and what to start', async () => {
  await db.query(
    `with event as (
       insert into webhook_events (event_id, body, body_sha256, received_at)
       values ('evt_aged', '{}', sha256('{}'), now())
       returning id)
     insert into pending (webhook_event_id, since, enqueue_at)
     select id, now() - interval '6 hours', now() from event`,
  );
  const { exit, report } = await examine();
  await db.query('delete from pending');
  expect(exit.code).toBe(6);
  expect(named(report, 'pending events')).toEqual({
    name: 'pending events',
    state: 'failed',
    // A range of 100 seconds: the other checks come first.
    result: expect.stringMatching(
      /^1 event waits to be applied, the oldest for 216\d\d s, and no process has the role events$/,
    ),
    remedy: 'Run: npx tallyhook start --roles events',
  });
});

test('one warning is counted as one', async () => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
  const { code, stdout } = await runTallyhook(['doctor'], { env });
  expect(code).toBe(6);
  expect(stdout).toContain(' ok, 1 warning, ');
});
