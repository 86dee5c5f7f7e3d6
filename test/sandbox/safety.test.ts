/** The sandbox does not start beside a real ledger, and rejects requests from browser pages. */

import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultRoles } from '../../src/assembly/roles.ts';
import { merchantIdOf } from '../../src/assembly/settings.ts';
import { start } from '../../src/assembly/start.ts';
import { loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { OperatorError } from '../../src/platform/errors.ts';
import { SANDBOX_MERCHANT_ID } from '../../src/sandbox/account.ts';
import { startSandbox } from '../../src/sandbox/startSandbox.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { MERCHANT_ID } from '../support/events.ts';
import { settingsFor, spawnProgram, webhookUrlOf } from '../support/program.ts';
import { startTestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { startTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

const folder = mkdtempSync(join(tmpdir(), 'tallyhook-safety-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sandboxAt = (databaseUrl: string) =>
  startSandbox({
    databaseUrl,
    port: 0,
    apiKey: 'snd_0123456789abcdef',
    webhook: { secret: 'secret-0123456789abcdef' },
    log: silentLog,
  });

const hasSchema = async (): Promise<boolean> => {
  const [row] = await db.query<{ present: boolean }>(
    `select to_regnamespace('sandbox') is not null as present`,
  );
  return row?.present ?? false;
};

const stamp = (merchantId: string) =>
  db.query('insert into installation (merchant_id) values ($1)', [merchantId]);

describe('a database with the ledger of a real merchant', () => {
  beforeEach(() => stamp(MERCHANT_ID));

  test('stops the start of the sandbox, which creates nothing in it', async () => {
    const rejected = sandboxAt(db.url);
    await expect(rejected).rejects.toThrow(OperatorError);
    await expect(rejected).rejects.toThrow(/ledger of merchant merchant_test.*DATABASE_URL/);
    expect(await hasSchema()).toBe(false);
  });

  test.each([[['sandbox']], [['start', '--roles', 'receiver,events,sandbox']]])(
    'ends `tallyhook %j` with the reason and code 4',
    async (args) => {
      const env = settingsFor(db.url, { SANDBOX_PORT: '0', DATA_DIR: folder });
      const program = spawnProgram('bin/tallyhook.js', args, { env });
      // Without the error it would run forever.
      await Promise.race([
        program.exit,
        waitFor('the program to end or to run', () => / is running/.test(program.stdout())),
      ]);
      program.kill('SIGKILL');
      const { code, stderr } = await program.exit;
      expect({ code, stderr }).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(
          /ledger of merchant merchant_test, so the sandbox does not start/,
        ),
      });
      expect(await hasSchema()).toBe(false);
    },
  );

  test('ends the role alone with the reason', async () => {
    const env = { SANDBOX_PORT: '0', DATA_DIR: folder };
    const rejected = startTallyhook({ db, env, roles: ['sandbox'] });
    await expect(rejected).rejects.toThrow(OperatorError);
    await expect(rejected).rejects.toThrow(/ledger of merchant merchant_test.*does not start/);
    expect(await hasSchema()).toBe(false);
  });

  test('is used by `start` without a sandbox', async () => {
    const program = spawnProgram('bin/tallyhook.js', ['start'], {
      env: settingsFor(db.url, { SANDBOX_PORT: '0', DATA_DIR: folder }),
    });
    await webhookUrlOf(program);
    await waitFor('the banner', () => program.stdout().includes('Queues'));
    expect(program.stdout()).not.toMatch(/sandbox/i);
    expect(await hasSchema()).toBe(false);
    program.kill('SIGTERM');
    await program.exit;
  });
});

test('the ledger of a real merchant does not start in a database that a sandbox has used', async () => {
  await (await sandboxAt(db.url)).close();
  const rejected = startTallyhook({ db });
  await expect(rejected).rejects.toThrow(OperatorError);
  await expect(rejected).rejects.toThrow(/sandbox has used this database.*merchant_test/);
  const [row] = await db.query('select merchant_id from installation');
  expect(row).toBeUndefined();
});

test('sandbox and ledger share a database for the account of the sandbox only', async () => {
  const env = { PAYMENTS_MERCHANT_ID: SANDBOX_MERCHANT_ID, SANDBOX_PORT: '0', DATA_DIR: folder };
  const tallyhook = await startTallyhook({ db, env, roles: ['receiver', 'events', 'sandbox'] });
  const body = JSON.stringify(
    cardPayment({ payment_id: 'shared', metadata: { order_id: 'ord_shared' } }),
  );
  await fetch(`${tallyhook.sandbox?.baseUrl}/payments`, {
    method: 'POST',
    headers: { 'api-key': tallyhook.sandbox?.apiKey ?? '' },
    body,
  });
  await waitFor('the order in the ledger', async () => {
    const rows = await db.query<{ status: string }>('select status from orders');
    return rows[0]?.status === 'paid';
  });
  await tallyhook.close();
  await (await sandboxAt(db.url)).close();
});

test('a second sandbox does not start in the same database', async () => {
  const first = await sandboxAt(db.url);
  await expect(sandboxAt(db.url)).rejects.toThrow(/Another sandbox uses this database/);
  await first.close();
  await (await sandboxAt(db.url)).close();
});

describe('a sandbox that loses the session of its lock', () => {
  const holders = async (): Promise<readonly number[]> => {
    const rows = await db.query<{ pid: number }>(
      `select pid from pg_locks
        where locktype = 'advisory' and granted
          and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows.map(({ pid }) => pid);
  };
  const cut = (pid: number | undefined) => db.query('select pg_terminate_backend($1)', [pid]);

  test('acquires it again, so that a second sandbox still cannot start', async () => {
    const first = await sandboxAt(db.url);
    const [before] = await holders();
    await cut(before);
    await waitFor('the lock to be held again', async () => {
      const [after] = await holders();
      return after !== undefined && after !== before;
    });
    await expect(sandboxAt(db.url)).rejects.toThrow(/Another sandbox uses this database/);
    await first.close();
    await expect(first.ended).resolves.toBeUndefined();
    await waitFor('the lock to be free', async () => (await holders()).length === 0);
  });

  test('ends with the reason when another sandbox acquired it first', async () => {
    const env = settingsFor(db.url, { SANDBOX_PORT: '0', DATA_DIR: folder });
    const running = await start(loadConfig(env), new Set(['sandbox'] as const), {
      machine: systemClock,
      log: silentLog,
    });
    const [before] = await holders();
    await db.session(async (session) => {
      // It queues for the lock, so that it acquires it first.
      const locked = session.query(`select pg_advisory_lock(hashtext('tallyhook sandbox'))`);
      await waitFor('the other session to queue', async () => {
        const rows = await db.query(`select 1 from pg_locks where not granted`);
        return rows.length > 0;
      });
      await cut(before);
      await locked;
      await expect(running.ended).rejects.toThrow(/Another sandbox uses this database/);
    });
    await running.close();
  });
});

describe('settings', () => {
  const config = (env: Record<string, string>) => loadConfig(env);

  test('without settings the sandbox runs; with a database, key, base URL or account it does not', () => {
    expect(defaultRoles(config({}))).toContain('sandbox');
    for (const env of [
      { DATABASE_URL: 'postgres://localhost/ledger' },
      { PAYMENTS_API_KEY: 'snd_abc' },
      { PAYMENTS_BASE_URL: 'https://payments.example' },
      { PAYMENTS_MERCHANT_ID: 'merchant_real' },
    ]) {
      expect(defaultRoles(config(env))).not.toContain('sandbox');
    }
  });

  test('a key requires an account, and a production key one that is not the sandbox’s', () => {
    expect(merchantIdOf(config({}))).toBe(SANDBOX_MERCHANT_ID);
    expect(() => merchantIdOf(config({ PAYMENTS_API_KEY: 'prd_abc' }))).toThrow(
      /PAYMENTS_MERCHANT_ID is not set. With PAYMENTS_API_KEY/,
    );
    const mixed = { PAYMENTS_API_KEY: 'prd_abc', PAYMENTS_MERCHANT_ID: SANDBOX_MERCHANT_ID };
    expect(() => merchantIdOf(config(mixed))).toThrow(/production key/);
  });

  test('the sandbox does not start with a production key', async () => {
    const settings = config({
      DATABASE_URL: db.url,
      PAYMENTS_API_KEY: 'prd_abc',
      SANDBOX_PORT: '0',
      DATA_DIR: folder,
    });
    const rejected = start(settings, new Set(['sandbox'] as const), {
      machine: systemClock,
      log: silentLog,
    });
    await expect(rejected).rejects.toThrow(/production key/);
    expect(await hasSchema()).toBe(false);
  });
});

describe('browsers', () => {
  /** `fetch` would not let a test forge these headers, which is the point of trusting them. */
  const send = (url: string, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end('{"ms":0}');
    });

  test('requests from a page of another origin or host are rejected; requests of programs are not', async () => {
    const sandbox = await startTestSandbox();
    const url = `${sandbox.baseUrl}/_sandbox/clock/advance`;
    const { host, port } = new URL(sandbox.baseUrl);
    expect(await send(url, {})).toBe(200);
    expect(await send(url, { host: `localhost:${port}` })).toBe(200);
    expect(await send(url, { origin: `http://${host}` })).toBe(200);
    expect(await send(url, { host: `shop.example:${port}` })).toBe(403);
    expect(await send(url, { host: `127.0.0.1.shop.example:${port}` })).toBe(403);
    expect(await send(url, { origin: 'https://shop.example' })).toBe(403);
    expect(await send(url, { origin: 'null' })).toBe(403);
    await sandbox.close();
  });
});
