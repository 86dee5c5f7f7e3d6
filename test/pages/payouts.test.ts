/** Payouts paid again, cancelled and fulfilled from the console, over the sandbox. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { closeAttempt } from '../../src/audit/recordAudit.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import type { Body } from '../support/serviceApi.ts';
import { tablesWith } from '../support/tablesWith.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';

const ADA = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;
const IBAN = 'DE89370400440532013000';
const HOLDER = 'Ada Q. Payee';

let db: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
let setup: AuthorizationTestSetup;
let tallyhook: TestTallyhook;
let treasurer: PageViewer;
let operator: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  proxy = await startRecordingProxy(sandbox.baseUrl);
  setup = await setUpAuthorizations(sandbox, db);
  const env = {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: proxy.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  };
  const tess = await createTestToken(db, { name: 'tess', role: 'treasurer' });
  const oli = await createTestToken(db, { name: 'oli', role: 'operator' });
  tallyhook = await startTallyhook({ db, roles: ['console'], env });
  treasurer = await openPages(tallyhook, tess);
  operator = await openPages(tallyhook, oli);
});
afterAll(async () => {
  await tallyhook.close();
  await proxy.close();
  await sandbox.close();
  await db.drop();
});
beforeEach(() => sandbox.control('DELETE', '/faults'));

const STORED = { payout_type: 'bank', payout_method_id: 'pm_stored' };
const sepa = { payout_method_type: 'sepa', iban: IBAN, bic: 'COBADEFFXXX' };
const TYPED = { payout_type: 'bank', payout_method_data: { bank_transfer: sepa } };

/** A payout that waits to be sent, and is in the ledger. */
async function payout(fields: object): Promise<string> {
  const request = { amount: 2500, currency: 'EUR', confirm: true, customer: { id: 'cus_1' } };
  const { body } = await sandbox.call('POST', '/payouts/create', { ...request, ...fields });
  await treasurer.post(`/resources/payout/${body.payout_id}/refresh`, {});
  return body.payout_id;
}

async function failedPayout(fields: object): Promise<string> {
  const id = await payout(fields);
  await sandbox.call('POST', `/_sandbox/payouts/${id}/move`, { status: 'failed' });
  await setup.applyWebhooks();
  return id;
}

const seen = { expected_amount: '2500', currency: 'EUR', amount: '25.00', reason: 'account fixed' };
const retry = (id: string, fields: object = {}, viewer = treasurer) =>
  viewer.post(`/payouts/${id}/retry`, { ...seen, ...fields });
const remote = async (id: string): Promise<Body> =>
  (await sandbox.call('GET', `/payouts/${id}`)).body;
const againOf = async (id: string): Promise<readonly Body[]> => {
  const filter = { merchant_order_reference_id: `again_${id}` };
  return (await sandbox.call('POST', '/payouts/list', filter)).body.data;
};
const fault = (kind: string) =>
  sandbox.control('PUT', '/faults', {
    requests: [{ fault: kind, method: 'POST', path: '/payouts/create' }],
  });

test('a failed payout is paid again to its stored account, once, and both are linked', async () => {
  const id = await failedPayout({
    ...STORED,
    merchant_order_reference_id: 'rent',
    metadata: { a: 'b' },
  });
  const page = await treasurer.get(`/payouts/${id}`);
  expect(page.html).toContain('The payee does not have');
  expect((await treasurer.get(`/payouts/${id}/retry`)).html).toContain(
    'Nothing needs to be typed.',
  );
  expect((await retry(id, { amount: '25.01' })).status).toBe(400);
  expect((await retry(id, {}, operator)).status).toBe(403);
  const both = await Promise.all([retry(id), retry(id)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([303, 409]);
  expect((await retry(id)).html).toContain('was paid again before');
  const [created, ...others] = await againOf(id);
  expect(others).toEqual([]);
  expect(created).toMatchObject({
    amount: 2500,
    currency: 'EUR',
    customer_id: 'cus_1',
    payout_method_id: 'pm_stored',
    metadata: { a: 'b', pays_again: id, first_reference: 'rent' },
  });
  expect((await treasurer.get(`/payouts/${id}`)).html).toContain(`Paid again by`);
  expect((await treasurer.get(`/payouts/${created?.payout_id}`)).html).toContain('Replaces');
  expect((await treasurer.get(`/payouts/${id}/retry`)).status).toBe(409);
});

test('a new payout that fails at once is not reported as paid, also after a lost response', async () => {
  const [responded, lost] = [await failedPayout(STORED), await failedPayout(STORED)];
  proxy.rewrite = (body) => body.replaceAll('"requires_fulfillment"', '"failed"');
  const noticeOf = async (id: string): Promise<string> => {
    const { status, location } = await retry(id);
    expect(status).toBe(303);
    return new URL(location ?? '', 'http://console').searchParams.get('notice') ?? '';
  };
  expect(await noticeOf(responded)).toMatch(/ is failed: the payee does not have the money/);
  await fault('cut_after');
  expect(await noticeOf(lost)).toMatch(/ is failed: the payee does not have the money/);
  proxy.rewrite = (body) => body;
});

test('details of an account are typed, sent, and nowhere in Tallyhook', async () => {
  const id = await failedPayout(TYPED);
  const { html } = await treasurer.get(`/payouts/${id}/retry`);
  expect(html).toContain('name="iban"');
  expect(html).not.toContain(IBAN);
  expect((await retry(id)).html).toContain('no stored account');
  const details = { method: 'sepa', iban: IBAN, bic: 'COBADEFFXXX', account_holder_name: HOLDER };
  expect((await retry(id, { ...details, bic: '' })).status).toBe(400);
  await fault('unknown_code');
  expect((await retry(id, details)).html).not.toContain(IBAN);
  await sandbox.control('DELETE', '/faults');
  const done = await retry(id, details);
  expect([done.status, done.location]).toEqual([303, expect.stringContaining('/payouts/')]);
  await setup.applyWebhooks();
  expect(await againOf(id)).toHaveLength(1);
  expect(await tablesWith(db, id)).not.toEqual([]);
  expect(await tablesWith(db, IBAN)).toEqual([]);
  expect(await tablesWith(db, HOLDER)).toEqual([]);
});

test('a request that was carried out without a response is found, and a lost one is not repeated', async () => {
  const [carriedOut, lost] = [await failedPayout(STORED), await failedPayout(STORED)];
  await fault('cut_after');
  expect((await retry(carriedOut)).status).toBe(303);
  expect(await againOf(carriedOut)).toHaveLength(1);
  await fault('cut_before');
  expect((await retry(lost)).status).toBe(504);
  await sandbox.control('DELETE', '/faults');
  const again = await retry(lost);
  expect([again.status, await againOf(lost)]).toEqual([409, []]);
  expect(again.html).toContain('so that nobody is paid twice');
  const uncertain = await failedPayout(STORED);
  await db.query(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     values (now() - interval '61 minutes', 'token', 'tess', 'treasurer', '127.0.0.1', 'payout.retry',
             'payout', $1, 'unknown')`,
    [uncertain],
  );
  expect((await retry(uncertain)).status).toBe(303);
});

test('a payout is not paid twice after an interrupted attempt was closed as unknown', async () => {
  const id = await failedPayout(STORED);
  const [row] = await db.query<{ id: number }>(
    `insert into audit (recorded_at, actor_kind, actor_name, actor_role, actor_origin, action,
                        subject_kind, subject_id, result)
     values (now() - interval '6 minutes', 'token', 'tess', 'treasurer', '127.0.0.1', 'payout.retry',
             'payout', $1, 'requested')
     returning id`,
    [id],
  );
  const closed = await db.transaction((tx) =>
    closeAttempt(tx, ADA, { number: row?.id ?? 0, result: 'unknown', reason: 'not listed yet' }),
  );
  expect(closed.outcome).toBe('closed');
  const again = await retry(id);
  expect([again.status, await againOf(id)]).toEqual([409, []]);
  expect(again.html).toContain('so that nobody is paid twice');
});

test('an attempt with an unknown outcome counts, however many were refused since', async () => {
  const id = await failedPayout(STORED);
  await fault('cut_before');
  expect((await retry(id)).status).toBe(504);
  await sandbox.control('DELETE', '/faults');
  await db.query(
    `insert into audit (actor_kind, actor_name, actor_role, actor_origin, action, subject_kind,
                        subject_id, result)
     select 'token', 'a-program', 'treasurer', '127.0.0.1', 'payout.retry', 'payout', $1, 'refused'
       from generate_series(1, 300)`,
    [id],
  );
  expect([(await retry(id)).status, await againOf(id)]).toEqual([409, []]);
});

test('a payout that waits is sent or cancelled, and one that changed is left as it is', async () => {
  const [sent, cancelled] = [await payout(STORED), await payout(STORED)];
  const now = { ...seen, status: 'requires_fulfillment' };
  const { amount: _typed, ...unconfirmed } = now;
  expect((await treasurer.get(`/payouts/${sent}`)).html).toContain('Send the money');
  expect((await treasurer.post(`/payouts/${sent}/fulfill`, { ...now, amount: '1' })).status).toBe(
    400,
  );
  expect((await treasurer.post(`/payouts/${sent}/fulfill`, now)).status).toBe(303);
  expect((await remote(sent)).status).toBe('success');
  expect((await treasurer.post(`/payouts/${sent}/fulfill`, now)).status).toBe(409);
  expect((await treasurer.post(`/payouts/${cancelled}/cancel`, unconfirmed)).status).toBe(303);
  expect((await remote(cancelled)).status).toBe('cancelled');
  const { html } = await treasurer.get(`/payouts/${sent}`);
  expect(html).not.toContain('Cancel the payout');
  expect((await retry(sent)).html).toContain('it is success');
});
