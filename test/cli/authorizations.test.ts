/** Commands that send requests to the service, each in its own process, with the sandbox. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { type Environment, type Exit, settingsFor } from '../support/program.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
let watched: AuthorizationTestSetup;
let env: Environment;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  watched = await setUpAuthorizations(sandbox, db);
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

const run = (...args: readonly string[]): Promise<Exit> => runTallyhook(args, { env });
const json = ({ stdout }: Exit) => JSON.parse(stdout) as Record<string, unknown>;
const retrieve = async (id: string) => (await sandbox.call('GET', `/payments/${id}`)).body;

async function revokedKey(): Promise<string> {
  const { api_key: apiKey } = await sandbox.control('POST', '/api_keys', { kind: 'secret' });
  await sandbox.control('POST', '/api_keys/revoke', { api_key: apiKey });
  return apiKey;
}

describe('authorizations', () => {
  test('are listed with the remaining amount and the deadline', async () => {
    const id = await watched.authorize();
    await watched.check.run();
    const { authorizations } = json(await run('authorizations', 'list', '--json'));
    const before = (await retrieve(id)).capture_before;
    expect(authorizations).toContainEqual(
      expect.objectContaining({
        payment_id: id,
        amount_capturable: 6540,
        currency: 'USD',
        capture_before: new Date(before).toISOString(),
      }),
    );
    expect((await run('authorizations', 'list')).stdout).toMatch(
      new RegExp(`${id} .*65\\.40 USD.* [67] days +requires_capture`),
    );
    expect(json(await run('authorizations', 'list', '--within', '48', '--json'))).toEqual({
      authorizations: [],
      next_cursor: null,
    });
  });

  test('are captured partially or fully, and the ledger has the state of the service afterwards', async () => {
    const id = await watched.authorize();
    const exit = await run('authorizations', 'capture', id, '--amount', '1000', '--yes', '--json');
    expect(exit.code).toBe(0);
    expect(json(exit)).toMatchObject({ outcome: 'done', status: 'partially_captured' });
    expect(await retrieve(id)).toMatchObject({ amount_received: 1000 });
    const rows = await db.query('select status, captured_minor from resources where id = $1', [id]);
    expect(rows).toEqual([{ status: 'partially_captured', captured_minor: 1000 }]);
  });

  test('are cancelled, which releases the hold', async () => {
    const id = await watched.authorize();
    const exit = await run('authorizations', 'cancel', id, '--reason', 'sold out', '--yes');
    expect(exit).toMatchObject({ code: 0, stderr: '' });
    expect(exit.stdout).toMatch(/Done\.\nThe status at the service is cancelled\./);
    expect(await retrieve(id)).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'sold out',
    });
  });

  test('are not captured without confirmation, above the held amount, or after a cancellation', async () => {
    const id = await watched.authorize();
    const unconfirmed = await run('authorizations', 'capture', id);
    expect(unconfirmed).toMatchObject({ code: 4, stdout: '' });
    expect(unconfirmed.stderr).toMatch(
      /Capture 65\.40 USD of pay_.*There is no terminal for a prompt: use --yes/,
    );
    const tooMuch = await run('authorizations', 'capture', id, '--amount', '6541', '--yes');
    expect(tooMuch).toMatchObject({ code: 4 });
    expect(tooMuch.stderr).toMatch(/At most 65\.40 USD of .* can be captured/);
    expect(await retrieve(id)).toMatchObject({ status: 'requires_capture' });
    await sandbox.call('POST', `/payments/${id}/cancel`, {});
    const late = await run('authorizations', 'capture', id, '--yes');
    expect(late).toMatchObject({ code: 4 });
    expect(late.stderr).toMatch(/its status at the service is cancelled/);
  });

  test('are not captured with a revoked key, and the message names the command to run', async () => {
    const id = await watched.authorize();
    const { code, stderr } = await runTallyhook(['authorizations', 'capture', id, '--yes'], {
      env: { ...env, PAYMENTS_API_KEY: await revokedKey() },
    });
    expect(code).toBe(5);
    expect(stderr).toMatch(/AU_02/);
    expect(stderr).toMatch(/tallyhook doctor/);
    expect(await retrieve(id)).toMatchObject({ status: 'requires_capture' });
  });

  test('are retrieved after a lost response: done if the service confirms it, otherwise exit code 2', async () => {
    const [done, open] = [await watched.authorize(), await watched.authorize()];
    const cancelWith = async (id: string, fault: string): Promise<Exit> => {
      const requests = [{ fault, method: 'POST', path: `/payments/${id}` }];
      await sandbox.control('PUT', '/faults', { requests });
      return await run('authorizations', 'cancel', id, '--yes', '--json');
    };
    const executed = await cancelWith(done, 'cut_after');
    const notExecuted = await cancelWith(open, 'cut_before');
    await sandbox.control('DELETE', '/faults');
    expect(executed.code).toBe(0);
    expect(json(executed)).toMatchObject({ outcome: 'done', status: 'cancelled' });
    expect(notExecuted.code).toBe(7);
    expect(json(notExecuted)).toMatchObject({ outcome: 'unknown', status: 'requires_capture' });
  });
});

describe('refresh', () => {
  test('shows the changes, and none the second time', async () => {
    const id = await watched.authorize();
    await sandbox.call('POST', `/payments/${id}/capture`, {});
    const first = await run('refresh', id);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain(`payment ${id}: status requires_capture → succeeded`);
    expect(first.stdout).toContain(`payment ${id}: amount_captured 0 → 6540`);
    expect((await run('refresh', id)).stdout).toBe(`payment ${id}: unchanged.\n`);
  });

  test('accepts an order, and retrieves resources that were never observed', async () => {
    const { body } = await sandbox.call('POST', '/refunds', {
      payment_id: await capturedPayment(),
      amount: 100,
    });
    const result = await run('refresh', body.refund_id, '--json');
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(json(result)).toMatchObject({ resources: [{ kind: 'refund', outcome: 'applied' }] });
    const again = await run('refresh', body.refund_id, '--kind', 'refund', '--json');
    expect(json(again)).toMatchObject({ resources: [{ kind: 'refund', outcome: 'applied' }] });
    const unknown = await run('refresh', 'unknown_id');
    expect(unknown).toMatchObject({ code: 3 });
    expect(unknown.stderr).toMatch(/Neither the ledger nor the service knows unknown_id/);
    const [order] = await db.query<{ id: string }>(
      `select o.order_id as id from orders o join resources r using (order_key) where r.id = $1`,
      [body.payment_id],
    );
    const all = json(await run('refresh', order?.id ?? '', '--json'));
    expect(all).toMatchObject({
      resources: [
        { kind: 'payment', outcome: 'applied' },
        { kind: 'refund', outcome: 'applied' },
      ],
    });
  });

  test('finds the payment of an order that was never observed', async () => {
    const orderId = unique('ord');
    const { body } = await sandbox.call(
      'POST',
      '/payments',
      cardPayment({ metadata: { order_id: orderId } }),
    );
    const result = await run('refresh', orderId, '--json');
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(json(result)).toMatchObject({
      resources: [{ kind: 'payment', id: body.payment_id, outcome: 'applied' }],
    });
  });

  test('changes nothing if the service does not have the resource or rejects the key', async () => {
    const missing = await run('refresh', 'pay_nowhere', '--kind', 'payment', '--json');
    expect(missing.code).toBe(5);
    expect(json(missing)).toMatchObject({ resources: [{ outcome: 'missing' }] });
    const id = await watched.authorize();
    const exit = await runTallyhook(['refresh', id], {
      env: { ...env, PAYMENTS_API_KEY: await revokedKey() },
    });
    expect(exit).toMatchObject({ code: 5 });
    expect(exit.stdout).toMatch(/AU_02.*Nothing was changed/);
  });

  test('names the missing settings without a key', async () => {
    const { code, stderr } = await runTallyhook(['refresh', 'pay_1'], {
      env: { ...env, PAYMENTS_API_KEY: undefined, PAYMENTS_BASE_URL: undefined },
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/PAYMENTS_BASE_URL and PAYMENTS_API_KEY/);
  });
});

async function capturedPayment(): Promise<string> {
  const id = await watched.authorize();
  await sandbox.call('POST', `/payments/${id}/capture`, {});
  await watched.applyWebhooks();
  return id;
}
