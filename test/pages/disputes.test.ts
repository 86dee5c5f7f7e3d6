/** Disputes contested and accepted from the console and the API, over the sandbox. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MAX_FILE_BYTES } from '../../src/disputes/domain/evidence.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { tallyhook as tallyhookCommand } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import type { Body } from '../support/serviceApi.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';

const HOSTILE = `"><script>alert(1)</script>`;
const PDF = new TextEncoder().encode('%PDF-1.7 proof of delivery');

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
  const tess = await createTestToken(db, { name: 'tess', role: 'treasurer' });
  const oli = await createTestToken(db, { name: 'oli', role: 'operator' });
  tallyhook = await startTallyhook({ db, roles: ['console'], env });
  treasurer = await openPages(tallyhook, tess);
  operator = await openPages(tallyhook, oli);
});
afterAll(async () => {
  await tallyhook.close();
  await sandbox.close();
  await db.drop();
});
beforeEach(() => sandbox.control('DELETE', '/faults'));

async function dispute(fields: object = {}): Promise<string> {
  const paymentId = await setup.authorize({ capture_method: 'automatic' });
  const { body } = await sandbox.call('POST', '/_sandbox/disputes', {
    payment_id: paymentId,
    amount: 5400,
    reason_code: '13.1',
    ...fields,
  });
  await setup.applyWebhooks();
  return body.dispute_id;
}

const seen = { expected_amount: '5400', currency: 'USD', stage: 'dispute', reason: 'decided' };
const accept = (id: string, amount: string, viewer = treasurer) =>
  viewer.post(`/disputes/${id}/accept`, { ...seen, amount });
const submit = (id: string, fields: Record<string, string>, viewer = treasurer) =>
  viewer.post(`/disputes/${id}/evidence`, { ...seen, ...fields });
const upload = (id: string, content: Uint8Array<ArrayBuffer>, name: string, viewer = treasurer) => {
  const form = new FormData();
  form.set('file', new File([content], name));
  return viewer.postFiles(`/disputes/${id}/files`, form);
};
const statusOf = async (id: string): Promise<string> =>
  (await sandbox.call('GET', `/disputes/${id}`)).body.status;
const evidenceOf = async (id: string): Promise<Body> =>
  (await sandbox.call('GET', `/disputes/evidence/${id}`)).body.evidence;
const resultsOf = async (id: string, action: string): Promise<readonly string[]> => {
  const rows = await db.query<{ result: string }>(
    'select result from audit where subject_id = $1 and action = $2 order by id',
    [id, action],
  );
  return rows.map(({ result }) => result);
};
const fault = (kind: string, path: string) =>
  sandbox.control('PUT', '/faults', { requests: [{ fault: kind, method: 'POST', path }] });

test('a dispute shows what is due, what its code means, and what is at stake', async () => {
  const id = await dispute({ reason: HOSTILE });
  const { html } = await treasurer.get(`/disputes/${id}`);
  expect(html).toContain('Evidence is due: 9 days');
  expect(html).toContain('(Visa 13.1)');
  expect(html).toContain('shipping tracking number');
  expect(html).toContain('54.00 <abbr>USD</abbr></span> for good');
  expect(html).not.toContain(HOSTILE);
  const unknown = await treasurer.get(`/disputes/${await dispute({ reason_code: 'X9' })}`);
  expect(unknown.html).toContain('Tallyhook does not know the code X9.');
});

test('an acceptance needs the typed amount, happens once, and is in the ledger', async () => {
  const id = await dispute();
  const wrong = await accept(id, '54.01');
  expect([wrong.status, await statusOf(id)]).toEqual([400, 'opened']);
  const both = await Promise.all([accept(id, '54.00'), accept(id, '54.00')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([303, 409]);
  expect((await accept(id, '54.00')).status).toBe(409);
  const { html } = await treasurer.get(`/disputes/${id}`);
  expect(html).toContain('<span class="badge plain">accepted</span>');
  expect(html).not.toContain('Contest or accept');
  expect((await resultsOf(id, 'dispute.accept')).slice(0, 2).toSorted()).toEqual([
    'done',
    'requested',
  ]);
});

test('nothing is due for a dispute that is decided: not on its page, nor in a list', async () => {
  const [open, accepted] = [await dispute(), await dispute()];
  await accept(accepted, '54.00');
  const dueOf = async (id: string) =>
    /Evidence due<\/dt>\s*<dd>(.*?)<\/dd>/s.exec(
      (await treasurer.get(`/disputes/${id}`)).html,
    )?.[1];
  expect(await dueOf(open)).toContain('<time');
  expect(await dueOf(accepted)).not.toContain('<time');
  const { html } = await treasurer.get('/disputes?status=accepted');
  const row = html.split('<tr').find((one) => one.includes(accepted));
  // When it was created, and nothing else.
  expect(row?.match(/<time/g)).toHaveLength(1);
  const { stdout } = await tallyhookCommand(db.url, 'disputes', 'list');
  const times = (id: string) =>
    stdout
      .split('\n')
      .find((line) => line.startsWith(id))
      ?.match(/ UTC/g);
  expect([times(open)?.length, times(accepted)?.length]).toEqual([2, 1]);
});

test('a dispute that changed since the person saw it is left as it is', async () => {
  const id = await dispute();
  await sandbox.call('POST', `/_sandbox/disputes/${id}/move`, { stage: 'pre_arbitration' });
  const { status, html } = await accept(id, '54.00');
  expect(status).toBe(409);
  expect(html).toContain('at pre_arbitration');
  expect(await statusOf(id)).toBe('opened');
});

test('a lost response is resolved by a retrieve, or is a page that states what to do', async () => {
  const [carriedOut, lost] = [await dispute(), await dispute()];
  await fault('cut_after', '/disputes/accept');
  expect((await accept(carriedOut, '54.00')).status).toBe(303);
  await fault('cut_before', '/disputes/accept');
  const { status, html } = await accept(lost, '54.00');
  expect(status).toBe(504);
  expect(html).toMatch(/Attempt \d+ in the audit log. The same request finds out\./);
  expect(await statusOf(lost)).toBe('opened');
  await sandbox.control('DELETE', '/faults');
  expect((await accept(lost, '54.00')).status).toBe(303);
});

test('a file is uploaded, named by a field, and submitted; a field that is emptied is removed', async () => {
  const id = await dispute();
  const uploaded = await upload(id, PDF, `${HOSTILE}.pdf`);
  expect(uploaded.status).toBe(303);
  expect(await statusOf(id)).toBe('opened');
  const form = await treasurer.get(uploaded.location ?? '');
  expect(form.html).not.toContain(HOSTILE);
  const [, fileId = ''] = /<option value="(file_\w+)"/.exec(form.html) ?? [];
  const sent = await submit(id, { shipping_documentation: fileId, shipping_carrier: 'DHL' });
  expect(sent.status).toBe(303);
  expect(await evidenceOf(id)).toEqual({
    shipping_information: { shipping_documentation: fileId, shipping_carrier: 'DHL' },
  });
  expect(await statusOf(id)).toBe('challenged');
  const again = await treasurer.get(`/disputes/${id}/evidence`);
  expect(again.html).toContain('value="DHL"');
  const had = 'shipping_documentation shipping_carrier';
  expect((await submit(id, { had, shipping_documentation: fileId })).status).toBe(303);
  expect(await evidenceOf(id)).toEqual({
    shipping_information: { shipping_documentation: fileId },
  });
  const entries = await db.query('select detail from audit where subject_id = $1', [id]);
  expect(JSON.stringify(entries)).not.toContain('DHL');
});

test('evidence that was submitted with a lost response is found, and not sent again', async () => {
  const id = await dispute();
  await fault('cut_after', '/disputes/evidence');
  expect((await submit(id, { uncategorized_text: 'delivered' })).status).toBe(303);
  await sandbox.control('DELETE', '/faults');
  const again = await submit(id, { uncategorized_text: 'delivered' });
  expect(again.status).toBe(409);
  expect(again.html).toContain('exactly this evidence already');
});

const shownVersion = ({ html }: { readonly html: string }) =>
  /name="evidence_version" value="(\w+)"/.exec(html)?.[1] ?? '';

test('of two people who change evidence, the later one overwrites nothing and sees both versions', async () => {
  const id = await dispute();
  const path = `/disputes/${id}/evidence`;
  expect((await submit(id, { shipping_carrier: 'DHL' })).status).toBe(303);
  const [first, second] = [await treasurer.get(path), await treasurer.get(path)];
  const had = 'shipping_carrier';
  const mine = { had, evidence_version: shownVersion(first), shipping_carrier: 'UPS' };
  expect((await submit(id, mine)).status).toBe(303);
  const theirs = {
    had,
    evidence_version: shownVersion(second),
    shipping_carrier: 'DHL',
    uncategorized_text: `delivered ${HOSTILE}`,
  };
  const refused = await submit(id, theirs);
  expect(refused.status).toBe(409);
  expect(refused.html).toContain(
    'shipping_carrier: the service has &quot;UPS&quot;, you gave &quot;DHL&quot;',
  );
  expect(refused.html).toContain(
    'uncategorized_text: the service has nothing, you gave &quot;delivered',
  );
  expect(refused.html).not.toContain(HOSTILE);
  expect(await evidenceOf(id)).toEqual({ shipping_information: { shipping_carrier: 'UPS' } });
  expect((await resultsOf(id, 'dispute.evidence')).at(-1)).toBe('refused');
  // The same submission once more, after its response was lost, is no conflict.
  expect((await submit(id, mine)).html).toContain('exactly this evidence already');
  const again = { ...theirs, evidence_version: shownVersion(await treasurer.get(path)) };
  expect((await submit(id, again)).status).toBe(303);
});

test('a long text is submitted whole, and one that is too long is refused with the limit', async () => {
  const id = await dispute();
  // Each letter is six bytes in a form.
  const long = 'ж'.repeat(40_000);
  expect((await submit(id, { access_activity_log: long })).status).toBe(303);
  expect(await evidenceOf(id)).toEqual({ customer_information: { access_activity_log: long } });
  const refused = await submit(id, { access_activity_log: 'ж'.repeat(50_000) });
  expect([refused.status, refused.html]).toEqual([400, expect.stringContaining('256 KiB')]);
});

test.each([
  ['a script', new TextEncoder().encode('<script>alert(1)</script>')],
  ['nothing', new Uint8Array()],
])('%s is no file for evidence', async (_what, content) => {
  const id = await dispute();
  const { status } = await upload(id, content, 'proof.pdf');
  expect(status).toBe(400);
  expect(await resultsOf(id, 'dispute.upload')).toEqual([]);
});

test('a file that is too large is refused', async () => {
  const id = await dispute();
  const large = new Uint8Array(MAX_FILE_BYTES + 100_000);
  large.set(PDF);
  const { status, html } = await upload(id, large, 'large.pdf');
  expect(status).toBe(400);
  expect(html).toContain('too large');
});

test('a form with a file needs the token of the session', async () => {
  const id = await dispute();
  const form = new FormData();
  form.set('file', new File([PDF], 'proof.pdf'));
  form.set('form_token', 'guessed');
  const other = await treasurer.postFiles(`/disputes/${id}/files`, form);
  expect(other.status).toBe(403);
  expect(await resultsOf(id, 'dispute.upload')).toEqual([]);
});

test('a role that may not decide sees who may, and can do nothing', async () => {
  const id = await dispute();
  const { html } = await operator.get(`/disputes/${id}`);
  expect(html).toContain('Accept the dispute: your role may not do this.');
  expect((await accept(id, '54.00', operator)).status).toBe(403);
  expect((await submit(id, { uncategorized_text: 'x' }, operator)).status).toBe(403);
  expect((await upload(id, PDF, 'proof.pdf', operator)).status).toBe(403);
  expect(await statusOf(id)).toBe('opened');
});
