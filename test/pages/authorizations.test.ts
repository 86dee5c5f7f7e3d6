/** Holds by deadline, and their capture and release from the console, over the sandbox. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { refuseRows } from '../support/refusedRows.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';

let db: TestDatabase;
let sandbox: TestSandbox;
let setup: AuthorizationTestSetup;
let tallyhook: TestTallyhook;
let treasurer: PageViewer;
let operator: PageViewer;

beforeAll(async () => {
  db = await createTestDatabase();
  sandbox = await startTestSandbox();
  setup = await setUpAuthorizations(sandbox, db);
  const env = {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  };
  tallyhook = await startTallyhook({ db, roles: ['console'], env });
  // Both before the first sign-in: a console knows a new token a second later.
  const treasurers = await createTestToken(db, { name: 'tess', role: 'treasurer' });
  const operators = await createTestToken(db, { name: 'oli', role: 'operator' });
  treasurer = await openPages(tallyhook, treasurers);
  operator = await openPages(tallyhook, operators);
});
afterAll(async () => {
  await tallyhook.close();
  await sandbox.close();
  await db.drop();
});
beforeEach(() => sandbox.control('DELETE', '/faults'));

const statusOf = async (id: string): Promise<string> =>
  (await sandbox.call('GET', `/payments/${id}`)).body.status;
const holdOf = (id: string, amount = 6540) => `${amount}:USD:${id}`;
const decided = { reason: 'shipped', confirmed: 'yes' };
const notice = (location: string | null) =>
  new URL(location ?? '', 'http://console').searchParams.get('notice') ?? '';

test('holds are listed with what can be captured, and lead to a page that states the sum', async () => {
  const ids = [await setup.authorize(), await setup.authorize()];
  await setup.check.run();
  const { html } = await treasurer.get('/authorizations');
  for (const id of ids) expect(html).toContain(`value="${holdOf(id)}"`);
  const query = ids.map((id) => `hold=${encodeURIComponent(holdOf(id))}`).join('&');
  const confirm = await treasurer.get(`/authorizations/confirm?action=capture&${query}`);
  expect(confirm.status).toBe(200);
  expect(confirm.html).toContain('2 holds: ');
  expect(confirm.html).toContain('130.80 <abbr>USD</abbr>');
});

test('the page of an order leads to capture or release its hold, for a role that may', async () => {
  const id = await setup.authorize({ metadata: { order_id: `ord_of_${Date.now()}` } });
  const [row] = await db.query<{ order: string }>(
    `select substring(order_key from 7) as order from resources where kind = 'payment' and id = $1`,
    [id],
  );
  const path = `/orders/${row?.order}`;
  const link = `/authorizations/confirm?action=capture&amp;hold=${encodeURIComponent(holdOf(id))}`;
  expect((await treasurer.get(path)).html).toContain(link);
  expect((await operator.get(path)).html).not.toContain('action=capture');
  const hold = holdOf(id);
  const { status } = await treasurer.post('/authorizations/capture', { ...decided, hold });
  expect(status).toBe(303);
  await setup.applyWebhooks();
  const after = (await treasurer.get(path)).html;
  expect(after).not.toContain('action=capture');
  expect(after).toContain(`href="/payments/${id}">Refund it</a>`);
  expect((await operator.get(path)).html).not.toContain('Refund it');
});

test('several holds are captured at once, and each is in the audit log', async () => {
  const ids = [await setup.authorize(), await setup.authorize()];
  const hold = ids.map((id) => holdOf(id));
  const { status, location } = await treasurer.post('/authorizations/capture', {
    ...decided,
    hold,
  });
  expect(status).toBe(303);
  for (const id of ids) {
    expect(notice(location)).toContain(`65.40 USD of ${id}`);
    expect(await statusOf(id)).toBe('succeeded');
    const entries = await db.query<{ result: string; reason: string; name: string }>(
      `select result, reason, actor_name as name from audit where subject_id = $1 order by id`,
      [id],
    );
    expect(entries.map(({ result }) => result)).toEqual(['requested', 'done']);
    expect(entries[0]).toMatchObject({ reason: 'shipped', name: 'tess' });
  }
});

test('of several holds, the notice names what was captured before an attempt that is not recorded', async () => {
  const ids = [await setup.authorize(), await setup.authorize(), await setup.authorize()];
  const [first = '', interrupted = '', last = ''] = ids;
  const when = `new.result <> 'requested' and new.subject_id = '${interrupted}'`;
  const allowRows = await refuseRows(db, 'audit', when);
  const form = { ...decided, hold: ids.map((id) => holdOf(id)) };
  const { status, location } = await treasurer
    .post('/authorizations/capture', form)
    .finally(allowRows);
  expect([status, notice(location)]).toEqual([
    303,
    expect.stringMatching(
      `Captured 65\\.40 USD of ${first}, 65\\.40 USD of ${last}\\. 1 with an unknown outcome\\. ${interrupted}: The outcome is unknown: `,
    ),
  ]);
});

test('a form that is sent twice captures once', async () => {
  const id = await setup.authorize();
  const form = { ...decided, hold: holdOf(id), amount: '10.00' };
  expect((await treasurer.post('/authorizations/capture', form)).status).toBe(303);
  const again = await treasurer.post('/authorizations/capture', form);
  expect(again.status).toBe(409);
  const { body } = await sandbox.call('GET', `/payments/${id}`);
  expect(body.amount_received).toBe(1000);
});

test('a form for a part that is sent twice at the same time captures once', async () => {
  const id = await setup.authorize({ capture_method: 'manual_multiple' });
  const form = { ...decided, hold: holdOf(id), amount: '10.00' };
  const send = () => treasurer.post('/authorizations/capture', form);
  const both = await Promise.all([send(), send()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([303, 409]);
  const { body } = await sandbox.call('GET', `/payments/${id}`);
  expect(body.amount_received).toBe(1000);
});

test('a hold is released, and one of another amount is left as it is', async () => {
  const [released, changed] = [await setup.authorize(), await setup.authorize()];
  const hold = [holdOf(released), holdOf(changed, 1)];
  const { location } = await treasurer.post('/authorizations/cancel', { ...decided, hold });
  expect(notice(location)).toContain(`Released 65.40 USD of ${released}. 1 not done.`);
  expect(await statusOf(released)).toBe('cancelled');
  expect(await statusOf(changed)).toBe('requires_capture');
});

/** The value of a hidden field `next`, as a browser sends it. */
const nextIn = (html: string) =>
  (/name="next" value="([^"]*)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');

test('a capture leads back to the page that was shown', async () => {
  const [listed, shown] = [await setup.authorize(), await setup.authorize()];
  await setup.check.run();
  const cursor = Buffer.from(JSON.stringify([new Date(0).toISOString(), 'pay'])).toString(
    'base64url',
  );
  const list = `/authorizations?cursor=${cursor}`;
  const fromList = new URLSearchParams({
    next: nextIn((await treasurer.get(list)).html),
    action: 'capture',
    hold: holdOf(listed),
  });
  const page = `/payments/${shown}?recorded=1`;
  const { html } = await treasurer.get(`${page}&notice=seen`);
  const link = /href="([^"]*action=capture[^"]*)"/.exec(html)?.[1] ?? '';
  const ways = [
    { hold: holdOf(listed), confirm: `/authorizations/confirm?${fromList}`, leadsTo: list },
    { hold: holdOf(shown), confirm: link.replaceAll('&amp;', '&'), leadsTo: page },
  ];
  for (const { hold, confirm, leadsTo } of ways) {
    const next = nextIn((await treasurer.get(confirm)).html);
    const { location } = await treasurer.post('/authorizations/capture', {
      ...decided,
      hold,
      next,
    });
    expect(location).toContain(`${leadsTo}&notice=`);
  }
  const hold = holdOf(await setup.authorize());
  const foreign = { ...decided, hold, next: 'https://evil.example/' };
  const { location } = await treasurer.post('/authorizations/cancel', foreign);
  expect(location).toMatch(/^\/\?notice=/);
});

test('an unknown outcome is a page that states what to check', async () => {
  const id = await setup.authorize();
  await sandbox.control('PUT', '/faults', {
    requests: [{ fault: 'cut_before', method: 'POST', path: `/payments/${id}/capture` }],
  });
  const form = { ...decided, hold: holdOf(id) };
  const { status, html } = await treasurer.post('/authorizations/capture', form);
  expect(status).toBe(504);
  expect(html).toContain('The outcome is unknown');
  expect(html).toMatch(/Attempt \d+ in the audit log/);
});

test.each([
  [{ ...decided, hold: 'nonsense' }, 'as the list does'],
  [{ reason: 'shipped', hold: '6540:USD:pay_1' }, 'confirm'],
  [{ confirmed: 'yes', hold: '6540:USD:pay_1' }, 'reason'],
  [{ ...decided, hold: '6540:USD:pay_1', amount: '0' }, 'decimal'],
  [{ ...decided, hold: ['1:USD:pay_1', '1:USD:pay_1'] }, 'once'],
])('the form %j is refused', async (form, sentence) => {
  const { status, html } = await treasurer.post('/authorizations/capture', form);
  expect(status).toBe(400);
  expect(html).toContain(sentence);
});

test('a role that may not move money sees no selection and cannot act', async () => {
  const id = await setup.authorize();
  await setup.check.run();
  const { html } = await operator.get('/authorizations');
  expect(html).toContain(id);
  expect(html).not.toContain('name="hold"');
  const form = { ...decided, hold: holdOf(id) };
  expect((await operator.post('/authorizations/capture', form)).status).toBe(403);
  expect(await statusOf(id)).toBe('requires_capture');
});
