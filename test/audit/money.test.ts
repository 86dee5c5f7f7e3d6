/** Who moved money: captures and cancellations by the command line and the admin API, over the sandbox. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { captureOrCancelAs, inspectHold } from '../../src/actions/captureOrCancel.ts';
import { createAdminApiClient } from '../../src/adminApi/index.ts';
import { createAuthorizationService } from '../../src/authorizations/createAuthorizationService.ts';
import { createClient } from '../../src/client/index.ts';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { type Api, type Body, createApi } from '../support/api.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Environment, type Exit, settingsFor, spawnProgram } from '../support/program.ts';
import { refuseRows } from '../support/refusedRows.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
let setup: AuthorizationTestSetup;
let env: Environment;
let tallyhook: TestTallyhook;
let keyless: TestTallyhook;
let token: string;
let treasurer: Api;
let operator: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  setup = await setUpAuthorizations(sandbox, db);
  const account = { PAYMENTS_MERCHANT_ID: sandbox.merchantId };
  const service = { PAYMENTS_BASE_URL: sandbox.baseUrl, PAYMENTS_API_KEY: sandbox.apiKey };
  env = settingsFor(db.url, { ...account, ...service });
  tallyhook = await startTallyhook({ db, roles: ['console'], env: { ...account, ...service } });
  keyless = await startTallyhook({ db, roles: ['console'], env: account });
  token = await createTestToken(db, { name: 'tess', role: 'treasurer' });
  treasurer = createApi(tallyhook, token);
  operator = createApi(tallyhook, await createTestToken(db, { name: 'oli', role: 'operator' }));
});
afterAll(async () => {
  await tallyhook.close();
  await keyless.close();
  await sandbox.close();
  await db.drop();
});
beforeEach(() => sandbox.control('DELETE', '/faults'));

const run = (...args: readonly string[]): Promise<Exit> => runTallyhook(args, { env });

/** The entries about a payment, oldest first. */
async function entriesOf(id: string): Promise<readonly Body[]> {
  const { body } = await treasurer.get(`/api/v1/audit?subject=payment:${id}`);
  return body.entries.toReversed();
}

const retrieve = async (id: string): Promise<Body> =>
  (await sandbox.call('GET', `/payments/${id}`)).body;

const decided = { expected_amount: 6540, currency: 'USD', reason: 'shipped' };
const post = (id: string, action: 'capture' | 'cancel', body: object = decided, api = treasurer) =>
  api.post(`/api/v1/authorizations/${id}/${action}`, body);

const ADA = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;

function serviceOf() {
  const client = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
  const account = { merchantId: sandbox.merchantId, profileId: undefined };
  return createAuthorizationService(
    { db, client, clock: setup.clock, account },
    { lane: 'operator', signal: undefined },
  );
}

function faultOf(fault: string, id: string, action: string): Promise<unknown> {
  const path = `/payments/${id}/${action}`;
  return sandbox.control('PUT', '/faults', {
    requests: [{ fault, method: 'POST', path, hold_ms: 60_000 }],
  });
}

describe('a capture by the command line', () => {
  test('is recorded before and after, with who, why and what; the order shows it', async () => {
    const id = await setup.authorize();
    const exit = await run(
      'authorizations',
      'capture',
      id,
      '--amount',
      '1000',
      '--yes',
      '--json',
      '--by',
      'ada',
      '--reason',
      'first parcel',
    );
    expect(exit.code).toBe(0);
    const [requested, done, ...others] = await entriesOf(id);
    expect(others).toEqual([]);
    expect(requested).toMatchObject({
      actor: { kind: 'cli', name: 'ada', role: 'admin' },
      action: 'authorization.capture',
      order_key: expect.stringMatching(/^order:/),
      reason: 'first parcel',
      result: 'requested',
      attempt: requested?.number,
      detail: { amount: 1000, amount_capturable: 6540, currency: 'USD' },
    });
    expect(done).toMatchObject({
      actor: requested?.actor,
      result: 'done',
      attempt: requested?.number,
      detail: { ...requested?.detail, status: 'partially_captured' },
    });
    expect(JSON.parse(exit.stdout)).toMatchObject({ outcome: 'done', attempt: requested?.number });
    const { body } = await treasurer.get(`/api/v1/orders/${id}`);
    const actions = body.timeline.filter(({ type }: Body) => type === 'action');
    expect(actions.map(({ by, result }: Body) => [by, result])).toEqual([
      ['ada', 'requested'],
      ['ada', 'done'],
    ]);
  });

  test('that is killed before the response leaves an open attempt, which the log names', async () => {
    const id = await setup.authorize();
    await faultOf('timeout_after', id, 'capture');
    const program = spawnProgram(
      'bin/tallyhook.js',
      ['authorizations', 'capture', id, '--yes', '--by', 'ada'],
      { env },
    );
    await waitFor(
      'the service to capture',
      async () => (await retrieve(id)).status === 'succeeded',
    );
    program.kill('SIGKILL');
    await program.exit;
    expect((await entriesOf(id)).map(({ result }) => result)).toEqual(['requested']);
    const { stdout } = await run('audit', 'list', '--open', '--json');
    expect(JSON.parse(stdout).entries).toMatchObject([
      { action: 'authorization.capture', subject: { kind: 'payment', id }, actor: { name: 'ada' } },
    ]);
  });

  test('of more than the hold states what can be captured, and sends nothing', async () => {
    const id = await setup.authorize();
    const amount = ['--amount', '6541'];
    const exit = await run('authorizations', 'capture', id, '--yes', ...amount, '--reason', 'sent');
    expect([exit.code, exit.stderr]).toEqual([
      4,
      expect.stringContaining(`At most 65.40 USD of ${id} can be captured.`),
    ]);
    expect(await entriesOf(id)).toEqual([]);
  });

  test('that the service refuses is recorded as refused', async () => {
    const id = await setup.authorize();
    await sandbox.control('PUT', '/faults', {
      requests: [{ fault: 'unknown_code', method: 'POST', path: `/payments/${id}/cancel` }],
    });
    const exit = await run('authorizations', 'cancel', id, '--yes', '--reason', 'sold out');
    expect(exit.code).toBe(4);
    expect((await entriesOf(id)).at(-1)).toMatchObject({
      action: 'authorization.cancel',
      reason: 'sold out',
      result: 'refused',
      detail: { error: expect.any(String) },
    });
  });
});

describe('a capture by the API', () => {
  test('moves what was expected once, with the name of the token', async () => {
    const id = await setup.authorize();
    const { status, body } = await post(id, 'capture');
    const [requested, done] = await entriesOf(id);
    expect([status, body]).toEqual([
      200,
      {
        payment_id: id,
        action: 'capture',
        amount: 6540,
        currency: 'USD',
        status: 'succeeded',
        attempt: requested?.number,
      },
    ]);
    expect(done).toMatchObject({
      actor: { kind: 'token', name: 'tess', role: 'treasurer' },
      reason: 'shipped',
      result: 'done',
    });
    expect((await post(id, 'capture')).status).toBe(409);
    expect(await entriesOf(id)).toHaveLength(2);
    expect(await retrieve(id)).toMatchObject({ amount_received: 6540 });
  });

  test('captures a part, and releases a hold with its reason', async () => {
    const [part, released] = [await setup.authorize(), await setup.authorize()];
    expect((await post(part, 'capture', { ...decided, amount: 1000 })).body).toMatchObject({
      amount: 1000,
    });
    expect(await retrieve(part)).toMatchObject({ amount_received: 1000 });
    expect((await post(released, 'cancel', { ...decided, reason: 'sold out' })).status).toBe(200);
    expect(await retrieve(released)).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'sold out',
    });
  });

  const seenBy = async (id: string) => {
    const parts = { db, service: serviceOf(), check: setup.check };
    const seen = await inspectHold(parts, id);
    if (seen.outcome !== 'held') throw new Error(`${id} holds nothing`);
    const input = { paymentId: id, hold: seen.hold, amountMinor: 1000 } as const;
    return (action: 'capture' | 'cancel') => captureOrCancelAs(parts, ADA, { ...input, action });
  };

  test('of a part is carried out once if several people saw the same hold and act at the same time', async () => {
    const id = await setup.authorize({ capture_method: 'manual_multiple' });
    const act = await seenBy(id);
    const all = await Promise.all([act('capture'), act('capture'), act('capture')]);
    expect(await retrieve(id)).toMatchObject({ amount_received: 1000, amount_capturable: 5540 });
    expect(all.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect((await post(id, 'capture', { ...decided, amount: 1000 })).status).toBe(409);
    const next = { ...decided, expected_amount: 5540, amount: 1000 };
    expect((await post(id, 'capture', next)).status).toBe(200);
    expect(await retrieve(id)).toMatchObject({ amount_received: 2000 });
  });

  test('and a cancellation of the same hold are not carried out at the same time', async () => {
    const id = await setup.authorize({ capture_method: 'manual_multiple' });
    const act = await seenBy(id);
    const both = await Promise.all([act('capture'), act('cancel')]);
    expect(both.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect((await entriesOf(id)).filter(({ result }) => result === 'done')).toHaveLength(1);
  });

  test('sends nothing if the hold changed after the person saw it', async () => {
    const id = await setup.authorize({ capture_method: 'manual_multiple' });
    const act = await seenBy(id);
    expect((await post(id, 'capture', { ...decided, amount: 1000 })).status).toBe(200);
    expect(await act('capture')).toMatchObject({
      outcome: 'changed',
      now: { outcome: 'held', hold: { capturableMinor: 5540 } },
    });
    expect((await entriesOf(id)).at(-1)).toMatchObject({
      actor: { name: 'ada' },
      result: 'refused',
    });
    expect(await retrieve(id)).toMatchObject({ amount_received: 1000 });
  });

  test('waits until a capture or cancellation without a result is closed', async () => {
    const id = await setup.authorize();
    const [row] = await db.query<{ id: number }>(
      `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                          subject_kind, subject_id, result)
       values (now() - interval '1 hour', 'cli', 'max', 'admin', 'max@till', 'authorization.cancel',
               'payment', $1, 'requested')
       returning id`,
      [id],
    );
    const refused = await post(id, 'capture');
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      `Attempt ${row?.id} to capture or cancel ${id} has no result yet. Nothing was done. If its process ended, find out what became of it and record it with \`npx tallyhook audit close\`.`,
    ]);
    const byCommand = await run('authorizations', 'capture', id, '--yes', '--json');
    expect([byCommand.code, JSON.parse(byCommand.stdout)]).toMatchObject([
      4,
      { outcome: 'claimed', status: null, attempt: row?.id },
    ]);
    const outcome = ['--outcome', 'failed', '--reason', 'no cancellation at the service'];
    expect((await run('audit', 'close', String(row?.id), ...outcome)).code).toBe(0);
    expect((await post(id, 'capture')).status).toBe(200);
  });

  test.each([
    ['another amount', { expected_amount: 6541 }, 409, /65\.40 USD .* can be captured, not 65\.41/],
    ['another currency', { currency: 'EUR' }, 409, /can be captured, not 65\.40 EUR/],
    ['more than the hold', { amount: 6541 }, 400, /at most expected_amount/],
    ['no reason', { reason: ' ' }, 400, /reason/],
    ['no expected amount', { expected_amount: undefined }, 400, /expected_amount/],
  ])('is refused for %s, and nothing is recorded', async (_what, fields, status, message) => {
    const id = await setup.authorize();
    const refused = await post(id, 'capture', { ...decided, ...fields });
    expect(refused.status).toBe(status);
    expect(refused.body.error.message).toMatch(message);
    expect(await entriesOf(id)).toEqual([]);
    expect(await retrieve(id)).toMatchObject({ status: 'requires_capture' });
  });

  test('needs the role, the payment, and an API key in the process', async () => {
    const id = await setup.authorize();
    expect((await post(id, 'capture', decided, operator)).status).toBe(403);
    expect((await post('pay_none', 'capture')).status).toBe(404);
    const other = createApi(keyless, await createTestToken(db, { name: 'tom', role: 'treasurer' }));
    const off = await post(id, 'capture', decided, other);
    expect(off.status).toBe(503);
    expect(off.body.error.message).toMatch(/no API key/);
    expect(await retrieve(id)).toMatchObject({ status: 'requires_capture' });
  });

  test('of unknown outcome is a 504 that names the attempt; one that failed is safe to repeat', async () => {
    const [lost, busy] = [await setup.authorize(), await setup.authorize()];
    await faultOf('cut_before', lost, 'capture');
    const unknown = await post(lost, 'capture');
    const [requested, after] = await entriesOf(lost);
    expect(unknown.status).toBe(504);
    expect(unknown.body.error.message).toContain(`Attempt ${requested?.number} in the audit log`);
    expect(after).toMatchObject({ result: 'unknown', attempt: requested?.number });

    await faultOf('server_error', busy, 'capture');
    const failed = await post(busy, 'capture');
    expect(failed.status).toBe(503);
    expect(failed.body.error.message).toMatch(/It is safe to try again/);
    expect((await entriesOf(busy)).at(-1)).toMatchObject({ result: 'failed' });
    await sandbox.control('DELETE', '/faults');
    expect((await post(busy, 'capture')).status).toBe(200);
  });
});

describe('a refund', () => {
  /** A captured payment of 65.40 USD. */
  const pay = () => setup.authorize({ capture_method: 'automatic' });
  const wanted = { expected_amount: 6540, currency: 'USD', reason: 'returned' };
  const refund = (id: string, fields: object = {}, api = treasurer) =>
    api.post(`/api/v1/payments/${id}/refund`, { ...wanted, ...fields });
  const refundsOf = async (id: string): Promise<readonly Body[]> =>
    (await sandbox.call('POST', '/refunds/list', { payment_id: id })).body.data;
  const faultOnRefund = (fault: string) =>
    sandbox.control('PUT', '/faults', {
      requests: [
        // Paths are prefixes, and the first match counts: the list of refunds stays as it is.
        { fault: 'extra_fields', method: 'POST', path: '/refunds/list' },
        { fault, method: 'POST', path: '/refunds', hold_ms: 60_000 },
      ],
    });

  test('is recorded before and after, and the ledger has it', async () => {
    const id = await pay();
    const { status, body } = await refund(id, { amount: 1000 });
    expect([status, body]).toEqual([
      200,
      {
        payment_id: id,
        refund_id: expect.stringMatching(/^ref_[0-9a-f]{32}$/),
        amount: 1000,
        currency: 'USD',
        status: expect.any(String),
        attempt: expect.any(Number),
      },
    ]);
    expect(await entriesOf(id)).toMatchObject([
      {
        actor: { name: 'tess', role: 'treasurer' },
        action: 'payment.refund',
        reason: 'returned',
        result: 'requested',
        detail: { amount: 1000, amount_refundable: 6540, currency: 'USD' },
      },
      { result: 'done', attempt: body.attempt, detail: { refund_id: body.refund_id } },
    ]);
    const payment = await treasurer.get(`/api/v1/payments/${id}`);
    expect(payment.body.refunds).toMatchObject([{ id: body.refund_id, amount: 1000 }]);
    expect(await refundsOf(id)).toMatchObject([{ refund_id: body.refund_id, amount: 1000 }]);
  });

  test('that is submitted twice moves money once, one after the other and at the same time', async () => {
    const [first, both] = [await pay(), await pay()];
    expect((await refund(first)).status).toBe(200);
    expect((await refund(first)).status).toBe(409);
    const statuses = (await Promise.all([refund(both), refund(both), refund(both)])).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted()).toEqual([200, 409, 409]);
    for (const id of [first, both]) {
      expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([6540]);
    }
  });

  test('of the same part twice is two refunds, if the person saw the first', async () => {
    const id = await pay();
    expect((await refund(id, { amount: 1000 })).status).toBe(200);
    expect((await refund(id, { amount: 1000, expected_amount: 5540 })).status).toBe(200);
    expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([1000, 1000]);
  });

  test('of unknown outcome that was not carried out is sent again by the same request', async () => {
    const id = await pay();
    await faultOnRefund('cut_before');
    const unknown = await refund(id);
    expect(unknown.status).toBe(504);
    expect((await entriesOf(id)).at(-1)).toMatchObject({ result: 'unknown' });
    await sandbox.control('DELETE', '/faults');
    expect((await refund(id)).status).toBe(200);
    expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([6540]);
  });

  test('that was carried out and lost its response is found, and not sent again', async () => {
    const id = await pay();
    await faultOnRefund('cut_after');
    expect((await refund(id)).status).toBe(200);
    await sandbox.control('DELETE', '/faults');
    expect((await refund(id)).status).toBe(409);
    expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([6540]);
  });

  test('waits until an attempt without a result is closed', async () => {
    const id = await pay();
    const [row] = await db.query<{ id: number }>(
      `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                          subject_kind, subject_id, result)
       values (now() - interval '1 hour', 'cli', 'max', 'admin', 'max@till', 'payment.refund',
               'payment', $1, 'requested')
       returning id`,
      [id],
    );
    const refused = await refund(id);
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      `Attempt ${row?.id} to refund ${id} has no result yet. Nothing was done. If its process ended, find out what became of it and record it with \`npx tallyhook audit close\`.`,
    ]);
    const outcome = ['--outcome', 'failed', '--reason', 'no refund at the service'];
    expect((await run('audit', 'close', String(row?.id), ...outcome)).code).toBe(0);
    expect((await refund(id)).status).toBe(200);
  });

  test.each([
    ['its response is applied', 'resources', "new.kind = 'refund'", ['requested', 'unknown']],
    ['its result is recorded', 'audit', "new.result <> 'requested'", ['requested']],
  ])(
    'that was carried out has an unknown outcome if the database fails while %s',
    async (_what, table, when, results) => {
      const id = await pay();
      const allowRows = await refuseRows(db, table, when);
      const unknown = await refund(id).finally(allowRows);
      expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([6540]);
      const entries = await entriesOf(id);
      expect(entries.map(({ result }) => result)).toEqual(results);
      expect([unknown.status, unknown.body.error.message]).toEqual([
        504,
        `The outcome is unknown: could not serialize access. Attempt ${entries[0]?.number} in the audit log. Refresh payment ${id} from the service before you try again.`,
      ]);
      expect((await refund(id)).status).toBe(409);
      expect((await refundsOf(id)).map(({ amount }) => amount)).toEqual([6540]);
    },
  );

  test('that the database does not record ends a call of the client and a command as unknown', async () => {
    const [called, commanded] = [await pay(), await pay()];
    const baseUrl = `http://127.0.0.1:${tallyhook.consolePort}`;
    const client = createAdminApiClient({ baseUrl, token });
    const reason = ['--reason', 'returned', '--yes', '--json'];
    const allowRows = await refuseRows(db, 'audit', "new.result <> 'requested'");
    const [call, exit] = await Promise.all([
      client.refundPayment({ payment_id: called, ...wanted }).catch((error: unknown) => error),
      run('payments', 'refund', commanded, ...reason),
    ]).finally(allowRows);
    expect(call).toMatchObject({ name: 'AdminApiError', kind: 'outcome_unknown' });
    expect([exit.code, JSON.parse(exit.stdout)]).toMatchObject([
      7,
      { error: { class: 'unknown', message: expect.stringContaining(`payment ${commanded}`) } },
    ]);
  });

  test.each([
    ['another amount', { expected_amount: 6541 }, 409, /65\.40 USD .* can be refunded, not 65\.41/],
    ['another currency', { currency: 'EUR' }, 409, /can be refunded, not 65\.40 EUR/],
    ['more than can be refunded', { amount: 6541 }, 400, /at most expected_amount/],
    ['no reason', { reason: ' ' }, 400, /reason/],
  ])('is refused for %s, and moves nothing', async (_what, fields, status, message) => {
    const id = await pay();
    const refused = await refund(id, fields);
    expect(refused.status).toBe(status);
    expect(refused.body.error.message).toMatch(message);
    expect(await refundsOf(id)).toEqual([]);
  });

  test('needs the role, a captured payment, and an API key in the process', async () => {
    const held = await setup.authorize();
    expect((await refund(held, {}, operator)).status).toBe(403);
    const refused = await refund(held);
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      `Nothing of ${held} can be refunded: its status is requires_capture. Nothing was done.`,
    ]);
    const other = createApi(keyless, await createTestToken(db, { name: 'tim', role: 'treasurer' }));
    expect((await refund(held, {}, other)).status).toBe(503);
  });

  test('by the command line is the same', async () => {
    const id = await pay();
    const args = [
      'payments',
      'refund',
      id,
      '--amount',
      '1000',
      '--reason',
      'returned',
      '--by',
      'ada',
    ];
    const unconfirmed = await run(...args);
    expect(unconfirmed.stderr).toMatch(/Refund 10\.00 USD of .* There is no terminal/);
    const exit = await run(...args, '--yes', '--json');
    expect(exit.code).toBe(0);
    expect(JSON.parse(exit.stdout)).toMatchObject({ outcome: 'done', amount: 1000 });
    const tooMuch = await run(
      'payments',
      'refund',
      id,
      '--amount',
      '6000',
      '--reason',
      'x',
      '--yes',
    );
    expect(tooMuch.stderr).toContain('At most 55.40 USD');
  });

  test('by the command line names open and lost disputes that the ledger has in its prompt', async () => {
    const id = await pay();
    const args = ['payments', 'refund', id, '--reason', 'returned'];
    const dispute = (amount: number) =>
      sandbox.control('POST', '/disputes', { payment_id: id, amount });
    const first = await dispute(1000);
    await setup.applyWebhooks();
    const prompted = await run(...args);
    expect(prompted.stderr).toContain(
      `The payment has an open or lost dispute: ${first.dispute_id} (10.00 USD, stage dispute, status opened). ` +
        'If you refund as well, the customer can get the money twice. Refund 55.40 USD of',
    );
    const second = await dispute(5540);
    await sandbox.control('POST', `/disputes/${second.dispute_id}/move`, { status: 'lost' });
    await setup.applyWebhooks();
    const nothing = await run(...args);
    expect(nothing.stderr).toMatch(
      /has open or lost disputes: .*status opened\), .*\(55\.40 USD, stage dispute, status lost\).*Nothing of .* can be refunded: all of it is refunded, disputed, voided or of unknown amount\./,
    );
    expect(await refundsOf(id)).toEqual([]);
  });
});

test('a refresh is recorded with what became of each resource, and doctor names interrupted attempts', async () => {
  const id = await setup.authorize();
  expect((await run('refresh', id, '--by', 'ada')).code).toBe(0);
  expect((await run('refresh', 'pay_none', '--by', 'ada')).code).toBe(3);
  const { body } = await treasurer.get('/api/v1/audit?action=resource.refresh');
  expect(body.entries).toMatchObject([
    { subject: { kind: 'id', id: 'pay_none' }, result: 'failed' },
    { subject: { kind: 'id', id: 'pay_none' }, result: 'requested' },
    {
      subject: { kind: 'payment', id },
      order_key: expect.stringMatching(/^order:/),
      result: 'done',
      detail: { resources: [{ kind: 'payment', id, outcome: 'applied' }] },
    },
    { subject: { kind: 'payment', id }, result: 'requested' },
  ]);

  const attemptOf = async (): Promise<Body> => {
    const { stdout } = await run('doctor', '--json');
    return JSON.parse(stdout).checks.find(({ name }: Body) => name === 'attempts');
  };
  expect(await attemptOf()).toMatchObject({ state: 'ok' });
  await db.query(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     values (now() - interval '1 hour', 'cli', 'eve', 'admin', 'eve@till', 'authorization.capture',
             'payment', $1, 'requested')`,
    [id],
  );
  expect(await attemptOf()).toMatchObject({
    state: 'warning',
    result: expect.stringContaining(`authorization.capture of ${id} by eve`),
  });

  const [eves] = await db.query<{ id: number }>(`select id from audit where actor_name = 'eve'`);
  const close = (number: number) =>
    run(
      'audit',
      'close',
      String(number),
      '--outcome',
      'failed',
      '--reason',
      'no capture',
      '--by',
      'ada',
    );
  const attempt = eves?.id ?? 0;
  expect(await close(attempt)).toMatchObject({ code: 0 });
  expect(await attemptOf()).toMatchObject({ state: 'ok' });
  expect((await entriesOf(id)).at(-1)).toMatchObject({
    actor: { name: 'ada' },
    action: 'attempt.close',
    order_key: null,
    reason: 'no capture',
    result: 'failed',
    attempt,
    text: `Closing of an attempt of payment ${id} by ada (admin): failed. Reason: no capture.`,
    detail: { action: 'authorization.capture' },
  });
  const again = await close(attempt);
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('has a result')]);
  expect((await close(9_999_999)).stderr).toContain('There is no attempt 9999999');
});

test('an attempt that may still be running cannot be closed', async () => {
  const [row] = await db.query<{ id: number }>(
    `insert into audit (actor_kind, actor_name, actor_role, actor_origin, action, subject_kind,
                        subject_id, result)
     values ('cli', 'eve', 'admin', 'eve@till', 'authorization.capture', 'payment', 'pay_1',
             'requested')
     returning id`,
  );
  const number = String(row?.id);
  const refused = await run(
    'audit',
    'close',
    number,
    '--outcome',
    'done',
    '--reason',
    'it is done',
  );
  expect([refused.code, refused.stderr]).toEqual([
    4,
    expect.stringContaining('may still be running'),
  ]);
});

test('an attempt is closed over the API, once, by the holder of the token', async () => {
  const [row] = await db.query<{ id: number }>(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     values (now() - interval '1 hour', 'cli', 'eve', 'admin', 'eve@till', 'authorization.capture',
             'payment', 'pay_of_eve', 'requested')
     returning id`,
  );
  const path = `/api/v1/audit/${row?.id}/close`;
  const input = { outcome: 'done', reason: 'the service shows it' };
  expect((await treasurer.post(path, { ...input, outcome: 'requested' })).status).toBe(400);
  expect(await treasurer.post(path, input)).toMatchObject({
    status: 200,
    body: { closed: row?.id, outcome: 'done', reason: 'the service shows it' },
  });
  expect(await treasurer.post(path, input)).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('has a result') } },
  });
  expect((await treasurer.post('/api/v1/audit/9999999/close', input)).status).toBe(404);
  expect((await entriesOf('pay_of_eve')).at(-1)).toMatchObject({
    actor: { kind: 'token', name: 'tess' },
    action: 'attempt.close',
    result: 'done',
    attempt: row?.id,
  });
});

test('a dispute is contested with a file and accepted by the API, and the log has no evidence', async () => {
  const paymentId = await setup.authorize({ capture_method: 'automatic' });
  const opened = { payment_id: paymentId, amount: 5400 };
  const id = (await sandbox.call('POST', '/_sandbox/disputes', opened)).body.dispute_id;
  await setup.applyWebhooks();
  const base = `/api/v1/disputes/${id}`;
  const content = Buffer.from('%PDF-1.7 proof of delivery').toString('base64');
  const file = await treasurer.post(`${base}/files`, { name: 'proof.pdf', content });
  expect(file.status).toBe(200);
  const seen = { expected_amount: 5400, currency: 'USD', stage: 'dispute', reason: 'decided' };
  const evidence = { receipt: file.body.file_id, uncategorized_text: 'secret '.repeat(3_000) };
  const submitted = await treasurer.post(`${base}/evidence`, { ...seen, evidence });
  expect(submitted.body).toMatchObject({ status: 'challenged' });
  expect((await treasurer.get(`${base}/evidence`)).body.evidence).toEqual(evidence);
  const accepted = await treasurer.post(`${base}/accept`, seen);
  expect([accepted.status, accepted.body.status]).toEqual([200, 'accepted']);
  const { body } = await treasurer.get(`/api/v1/audit?subject=dispute:${id}`);
  expect(body.entries.map(({ result }: Body) => result)).toEqual(
    ['accept', 'evidence', 'upload'].flatMap(() => ['done', 'requested']),
  );
  expect(JSON.stringify(body)).not.toContain('secret');
  expect((await operator.post(`${base}/accept`, seen)).status).toBe(403);
});

test('a dispute is contested with a file by the command line', async () => {
  const paymentId = await setup.authorize({ capture_method: 'automatic' });
  const opened = { payment_id: paymentId, amount: 5400 };
  const id = (await sandbox.call('POST', '/_sandbox/disputes', opened)).body.dispute_id;
  await setup.applyWebhooks();
  const notAllowed = await run('disputes', 'upload', id, path.resolve('package.json'));
  expect([notAllowed.code, notAllowed.stderr]).toEqual([2, expect.stringContaining('not a PDF')]);
  const decided = ['--reason', 'delivered', '--yes', '--json', '--by', 'ada'];
  const field = ['--field', 'shipping_carrier=DHL', '--field', 'uncategorized_text=a=b'];
  const submitted = await run('disputes', 'submit', id, ...field, ...decided);
  expect(JSON.parse(submitted.stdout)).toMatchObject({ outcome: 'done', status: 'challenged' });
  const shown = await run('disputes', 'evidence', id, '--json');
  expect(JSON.parse(shown.stdout).evidence).toEqual({
    shipping_carrier: 'DHL',
    uncategorized_text: 'a=b',
  });
  const accepted = await run('disputes', 'accept', id, ...decided);
  expect(JSON.parse(accepted.stdout)).toMatchObject({ outcome: 'done', status: 'accepted' });
  expect((await run('disputes', 'accept', id, ...decided)).code).toBe(4);
});

test('payouts are paid again, cancelled and sent by the API and the command line', async () => {
  const create = async (fields: object = {}): Promise<string> => {
    const stored = { payout_type: 'bank', payout_method_id: 'pm_stored', confirm: true, ...fields };
    const request = { amount: 2500, currency: 'EUR', ...stored };
    const { body } = await sandbox.call('POST', '/payouts/create', request);
    await setup.applyWebhooks();
    return body.payout_id;
  };
  const fail = async (id: string): Promise<string> => {
    await sandbox.call('POST', `/_sandbox/payouts/${id}/move`, { status: 'failed' });
    await setup.applyWebhooks();
    return id;
  };
  const seen = { expected_amount: 2500, currency: 'EUR', reason: 'account fixed' };
  const retry = (id: string, body: object, api = treasurer) =>
    api.post(`/api/v1/payouts/${id}/retry`, body);
  const failed = await fail(await create());
  expect((await retry(failed, seen, operator)).status).toBe(403);
  const paid = await retry(failed, seen);
  const { new_payout_id: newId } = paid.body;
  expect([paid.status, paid.body.status]).toEqual([200, 'requires_fulfillment']);
  expect((await retry(failed, seen)).status).toBe(409);
  const now = { ...seen, status: 'requires_fulfillment' };
  const sent = await treasurer.post(`/api/v1/payouts/${newId}/fulfill`, now);
  expect([sent.status, sent.body.status]).toEqual([200, 'success']);
  // It has the amount and the currency that were seen.
  expect((await retry(newId, seen)).status).toBe(409);
  const cancelled = await treasurer.post(`/api/v1/payouts/${await create()}/cancel`, now);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  const { body } = await treasurer.get(`/api/v1/audit?subject=payout:${failed}`);
  const results = body.entries.map(({ result }: Body) => result);
  expect(results).toEqual(['refused', 'requested', 'done', 'requested']);
  const decided = ['--reason', 'account fixed', '--yes', '--json', '--by', 'ada'];
  const masked = await fail(
    await create({
      payout_method_id: undefined,
      payout_method_data: {
        bank_transfer: { payout_method_type: 'sepa', iban: 'DE89370400440532013000', bic: 'X' },
      },
    }),
  );
  const without = await run('payouts', 'retry', masked, ...decided);
  expect([without.code, JSON.parse(without.stdout).outcome]).toEqual([4, 'no_method']);
  const directory = mkdtempSync(path.join(tmpdir(), 'tallyhook-'));
  const file = path.join(directory, 'account.json');
  writeFileSync(file, '{"card":{"card_number":"4242424242424242"}}');
  const card = await run('payouts', 'retry', masked, '--method', file, ...decided);
  expect([card.code, card.stderr]).toEqual([2, expect.not.stringContaining('4242')]);
  const iban = 'DE02120300000000202051';
  const bank = { payout_method_type: 'sepa', iban, bic: 'BYLADEM1001' };
  writeFileSync(file, JSON.stringify({ bank_transfer: bank }));
  const typed = await run('payouts', 'retry', masked, '--method', file, ...decided);
  rmSync(directory, { recursive: true });
  const { outcome, new_payout_id: typedId } = JSON.parse(typed.stdout);
  expect([typed.code, outcome]).toEqual([0, 'done']);
  expect(JSON.parse((await run('payouts', 'fulfill', typedId, ...decided)).stdout).status).toBe(
    'success',
  );
  const late = await run('payouts', 'cancel', typedId, ...decided);
  expect([late.code, JSON.parse(late.stdout).outcome]).toEqual([4, 'changed']);
  const log = await db.query<{ text: string }>('select detail::text as text from audit');
  expect(log.some(({ text }) => text.includes(iban))).toBe(false);
});

test('every endpoint that moves money was called here, and its response matched its description', () => {
  const moving = ENDPOINTS.filter(({ permission }) => permission === 'move_money');
  expect(moving.length).toBeGreaterThan(0);
  expect([...treasurer.checked]).toEqual(expect.arrayContaining(moving.map(({ id }) => id)));
});
