/** The pages of the system: checks, settings, data, audit log, erasures and tokens. */
import { Fragment, h } from 'preact';
import { render } from 'preact-render-to-string';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { continueErasures } from '../../src/actions/continueErasures.ts';
import type { PageParts } from '../../src/pages/page.ts';
import { systemPage } from '../../src/pages/system/systemPage.tsx';
import {
  createPostgresQueueConnections,
  createQueueBackend,
} from '../../src/platform/queue/index.ts';
import { chainJournal } from '../support/chain.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent } from '../support/payments.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';
import { waitFor } from '../support/waitFor.ts';

const HOSTILE = `"><script>alert(1)</script>`;
const SLACK_URL = 'https://hooks.slack.example/services/T0/B0/hidden-part';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let admin: PageViewer;
let operator: PageViewer;
let tokens: Map<string, string>;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  tallyhook = await startTallyhook({
    db,
    roles: ['console'],
    env: { ALERT_SLACK_URL: SLACK_URL, VERIFY_FULL_DAYS: '12' },
  });
  admin = await openPages(tallyhook);
  operator = await openPages(tallyhook, tokens.get('operator') ?? '');
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

/** The text of a page, without its markup. */
const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/** A request to the admin API. */
const call = async (method: string, path: string, body?: object) => {
  const response = await fetch(`http://127.0.0.1:${tallyhook.consolePort}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
};

test('the checks of doctor are a page, with what to do about each problem', async () => {
  await waitFor('the checks to end', async () =>
    (await admin.get('/system')).html.includes('Checked at'),
  );
  const text = textOf((await admin.get('/system')).html);
  expect(text).toContain('What to do');
  // No API key is set here, and every check that needs no service passes.
  expect(text).toContain('Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.');
  expect(text).toMatch(/database reachable/);
  expect(text).toContain('checks passed');
  const again = await operator.post('/system/check', {});
  expect(again.location).toMatch(/^\/system\?notice=/);
});

test('the head of the chain is shown, to be kept, and what is not chained yet', async () => {
  expect(textOf((await admin.get('/system')).html)).toContain('No transfer is chained yet.');
  await applyEach(db, testApplier(db), [paymentEvent({}), paymentEvent({})]);
  const head = await chainJournal(db);
  await applyEach(db, testApplier(db), [paymentEvent({})]);
  const text = textOf((await admin.get('/system')).html);
  expect(text).toContain(`Head ${head.number}:${head.digest}`);
  expect(text).toContain('Transfers 2 chained, 1 not yet');
  expect(text).toContain(`Signed with ${head.publicKey}`);
});

test('an open page of the system follows it, and starts no checks', async () => {
  expect((await admin.get('/system')).html).toContain('data-live="[&quot;system&quot;]"');
  let started = 0;
  const report = { startedMs: 0, finishedMs: 1, checks: [] };
  const doctor = {
    read: () => {
      started += 1;
      return Promise.resolve(report);
    },
    last: () => report,
    start: () => undefined,
  };
  const actor = { kind: 'token', name: 'ada', role: 'viewer', origin: '127.0.0.1' } as const;
  const request = { params: {}, query: {}, actor, role: 'viewer', sessionId: 1 } as const;
  const parts = { db, system: { doctor } } as unknown as PageParts;
  for (const isLive of [true, true, false]) {
    expect((await systemPage.open(parts, { ...request, isLive })).outcome).toBe('ok');
  }
  expect(started).toBe(1);
});

test('checks that passed are no verdict while others still run', async () => {
  const checks = [{ name: 'settings', state: 'ok', result: 'all settings are valid' }] as const;
  const shownAt = async (finishedMs: number | undefined) => {
    const report = { startedMs: 0, finishedMs, checks };
    const doctor = { read: () => Promise.resolve(report), last: () => report };
    const parts = { db, system: { doctor } } as unknown as PageParts;
    const actor = { kind: 'token', name: 'ada', role: 'viewer', origin: '127.0.0.1' } as const;
    const viewer = {
      role: 'viewer',
      may: () => false,
      formToken: '',
      url: '/system',
      nowMs: 1,
    } as const;
    const opened = await systemPage.open(parts, {
      params: {},
      query: {},
      actor,
      role: 'viewer',
      sessionId: 1,
      isLive: false,
    });
    return opened.outcome === 'ok'
      ? render(h(Fragment, null, opened.view(viewer).body))
      : opened.outcome;
  };
  expect(await shownAt(undefined)).not.toContain('All checks passed');
  expect(await shownAt(1)).toContain('All checks passed: 1.');
});

test('processes are listed with version and health, and one that was killed is missing', async () => {
  const other = await startTallyhook({ db, roles: ['events', 'alerts'] });
  const roles = async () => {
    const rows = await db.query<{ roles: string[] }>('select roles from processes order by roles');
    return rows.map((row) => row.roles.join());
  };
  await waitFor('both processes to report', async () => (await roles()).length === 2);
  const { body: list } = await call('GET', '/processes');
  expect(list.processes).toMatchObject([
    { pid: process.pid, state: 'ready', failures: [] },
    { pid: process.pid, state: 'ready', failures: [] },
  ]);
  expect(textOf((await admin.get('/system')).html)).toContain('events, alerts ready');
  // A process that stops cleanly leaves the list.
  await other.close();
  expect(await roles()).toEqual(['console']);
  await db.query(
    `insert into processes (id, host, pid, roles, version, is_ready, failures, seen_at)
     values (gen_random_uuid(), 'web-2', 18, '{events}', '0.0.1', false, '{"queue: full <b>"}', now()),
            (gen_random_uuid(), 'web-3', 19, '{events,receiver}', '1.0.0', true, '{}', now() - interval '1 minute')`,
  );
  const text = textOf((await admin.get('/system')).html);
  expect(text).toContain('No process has the role receiver.');
  expect(text).toMatch(/Versions differ: 0\.0\.1, /);
  expect(text).toMatch(/web-2:18 events not ready queue: full &lt;b/);
  expect(text).toMatch(/web-3:19 events, receiver missing/);
  expect(textOf((await admin.get('/')).html)).toContain('No process has the role receiver');
  await db.query(`delete from processes where host like 'web-%'`);
});

test('the queues are shown beside what is due by the database, and failed jobs with their error', async () => {
  const queues = createQueueBackend(createPostgresQueueConnections(db.url, silentLog), silentLog);
  const producer = queues.producer<object>('reconcile');
  const consumer = queues.consumer('reconcile', 1, () => Promise.reject(new Error(HOSTILE)));
  await producer.add([{ name: 'week', data: {}, attempts: 1, backoffMs: 1 }]);
  await waitFor('the job to fail', async () => (await producer.depth()).jobs.failed === 1);
  await receive(db, [paymentEvent({})]);
  const { body } = await call('GET', '/queues');
  expect(body).toMatchObject({
    backend: 'postgres',
    usable: true,
    problem: null,
    queues: [
      { name: 'events', in_database: { due: 1 } },
      { name: 'reconcile', jobs: { failed: 1 }, in_database: null },
    ],
  });
  expect(body.queues[1].failed_jobs).toMatchObject([{ name: 'week', attempts: 1, error: HOSTILE }]);
  const { html } = await admin.get('/system/queues');
  expect(html).not.toContain('<script>alert');
  const text = textOf(html);
  expect(text).toContain('work: a job was added, claimed and finished');
  expect(text).toMatch(/1 pending , the oldest for/);
  expect(text).toContain('reconcile: week');
  await consumer.close();
  await producer.close();
  await queues.close();
  await db.query('delete from pending');
});

test('schedules are listed, and one is run at once with a reason', async () => {
  const before = textOf((await admin.get('/system/schedule')).html);
  expect(before).toContain('No process has the role scheduler');
  // A schedule is overdue two minutes after its slot: at every time, at least two of those of each hour are.
  expect(before).toMatch(/(overdue|body_days|retention) not run yet overdue – none/);
  expect(before).toMatch(/retention not run yet .* hour at :23 .* retention removes old data/);
  const refused = await admin.post('/system/schedule/run', { name: 'changes', reason: 'now' });
  expect(refused.html).toContain('nothing to run sooner');
  const requested = await operator.post('/system/schedule/run', {
    name: 'retention',
    reason: HOSTILE,
  });
  expect(requested.location).toMatch(/^\/system\/schedule\?notice=/);
  expect((await call('POST', '/schedules/retention/run', { reason: 'me too' })).status).toBe(409);
  const { html } = await admin.get('/system/schedule');
  expect(html).not.toContain('<script>alert');
  expect(textOf(html)).toContain('Requested by');
  const scheduler = await startTallyhook({ db, roles: ['scheduler'] });
  const retention = async () => {
    const { body } = await call('GET', '/schedules');
    return body.schedules.find((one: { name: string }) => one.name === 'retention');
  };
  await waitFor('the run', async () => (await retention()).request === null);
  expect(await retention()).toMatchObject({ result: 'done', error: null, overdue: false });
  const text = textOf((await admin.get('/system/schedule')).html);
  expect(text).toMatch(/Every schedule runs on time|Overdue/);
  await scheduler.close();
  const [entry] = (await call('GET', '/audit?action=schedule.run')).body.entries;
  expect(entry).toMatchObject({ actor: { role: 'operator' }, reason: HOSTILE });
});

test('settings are listed with their source, and no secret is on the page', async () => {
  const { html } = await admin.get('/system/settings');
  const text = textOf(html);
  expect(text).toMatch(/VERIFY_FULL_DAYS 12 environment/);
  expect(text).toMatch(/EVENT_MAX_ATTEMPTS 5 default/);
  expect(text).toMatch(/ADMIN_TOKEN hidden environment/);
  expect(text).toMatch(/ALERT_SLACK_URL hidden environment/);
  expect(html).not.toContain(ADMIN_TOKEN);
  expect(html).not.toContain('hidden-part');
  const { password } = new URL(db.url);
  if (password !== '') expect(html).not.toContain(password);
  const some = textOf((await admin.get('/system/settings?only=set')).html);
  expect(some).toContain('VERIFY_FULL_DAYS');
  expect(some).not.toContain('EVENT_MAX_ATTEMPTS');
});

test('data and retention: what the next run removes, and the size of each table', async () => {
  const text = textOf((await admin.get('/system/retention')).html);
  expect(text).toContain('Next run removes');
  expect(text).toMatch(/webhook_events [\d.,]+ [KM]iB/);
  expect(text).toContain('Set ARCHIVE_URL to archive them first.');
});

test('a token is created and shown once, works, and is revoked', async () => {
  const shown = await admin.post('/system/tokens/create', {
    name: 'till-7',
    role: 'viewer',
    days: '30',
  });
  expect(shown.status).toBe(200);
  expect(shown.headers.get('cache-control')).toBe('no-store');
  const [, token = ''] = /<pre>([^<]+)<\/pre>/.exec(shown.html) ?? [];
  const list = await admin.get('/system/tokens');
  expect(list.html).toContain('till-7');
  expect(list.html).not.toContain(token);
  // A new token works within a second.
  let signedIn: PageViewer | undefined;
  await waitFor('the token to work', async () => {
    signedIn = await openPages(tallyhook, token).catch(() => undefined);
    return signedIn !== undefined;
  });
  const holder = signedIn;
  if (!holder) throw new Error('nobody signed in');
  expect((await holder.get('/orders')).status).toBe(200);
  expect((await holder.get('/system/tokens')).status).toBe(403);

  const same = await admin.post('/system/tokens/create', { name: 'till-7', role: 'viewer' });
  expect(same.status).toBe(409);
  expect(same.html).toContain('Another token has the name till-7');
  const wrong = await admin.post('/system/tokens/create', { name: HOSTILE, role: 'viewer' });
  expect(wrong.status).toBe(400);
  expect(wrong.html).not.toContain('<script>alert');

  const unconfirmed = await admin.post('/system/tokens/till-7/revoke', {});
  expect(unconfirmed.status).toBe(400);
  const confirmed = { ...shownToken(list.html, 'till-7'), confirm: 'yes' };
  const revoked = await admin.post('/system/tokens/till-7/revoke', confirmed);
  expect(revoked.location).toMatch(/^\/system\/tokens\?notice=/);
  expect((await admin.get('/system/tokens')).html).not.toContain('till-7');
  expect((await admin.get('/system/tokens?all=1')).html).toContain('till-7');
  await waitFor('the session of the token to end', async () => {
    const { location } = await holder.get('/orders');
    return location?.startsWith('/sign-in') ?? false;
  });
});

/** What the form that revokes a token sends of the token that the page lists. */
function shownToken(html: string, name: string): { token?: string } {
  const form = html.split(`action="/system/tokens/${name}/revoke"`)[1]?.split('</form>')[0] ?? '';
  const [, token] = /name="token" value="([^"]+)"/.exec(form) ?? [];
  return token === undefined ? {} : { token };
}

test('a page with a revoked token does not revoke the next token of its name', async () => {
  const create = () => admin.post('/system/tokens/create', { name: 'till-8', role: 'viewer' });
  const revoke = (html: string) =>
    admin.post('/system/tokens/till-8/revoke', { ...shownToken(html, 'till-8'), confirm: 'yes' });
  await create();
  const old = (await admin.get('/system/tokens')).html;
  expect((await revoke(old)).status).toBe(303);
  await create();
  const refused = await revoke(old);
  expect(refused.status).toBe(409);
  expect(refused.html).toContain('Show the tokens');
  const current = (await admin.get('/system/tokens')).html;
  expect(current).toContain('Revoke till-8');
  expect((await revoke(current)).status).toBe(303);
});

test('tokens in the admin API: list, create, revoke', async () => {
  const wanted = { name: 'report', role: 'metrics', expires_in_hours: 24 };
  const created = await call('POST', '/tokens', wanted);
  expect(created).toMatchObject({
    status: 201,
    body: { name: 'report', role: 'metrics', state: 'valid', created_by: 'admin' },
  });
  expect(created.body.token).toMatch(/\w{20,}/);
  expect((await call('POST', '/tokens', wanted)).status).toBe(409);
  expect((await call('POST', '/tokens', { ...wanted, name: 'admin' })).status).toBe(400);
  const listed = await call('GET', '/tokens?limit=1');
  expect(listed.body.tokens).toMatchObject([{ name: 'report' }]);
  expect(JSON.stringify(listed.body)).not.toContain(created.body.token);
  expect(listed.body.next_cursor).toEqual(expect.any(String));
  const revoked = await call('POST', '/tokens/report/revoke');
  expect(revoked).toMatchObject({ status: 200, body: { state: 'revoked', revoked_by: 'admin' } });
  expect((await call('POST', '/tokens/report/revoke')).status).toBe(404);
});

test('the audit log leads nobody to a page that their role may not open', async () => {
  await admin.post('/system/tokens/create', { name: 'led', role: 'viewer' });
  const { html } = await operator.get('/system/audit');
  expect(textOf(html)).toMatch(/token:led .*session:\d+/);
  const links = [...html.matchAll(/href="(\/(?:sessions|system\/tokens)[^"]*)"/g)];
  expect(links.map(([, href]) => href)).toEqual([]);
});

test('the audit log is filtered by person, action, object and day, and is a CSV', async () => {
  await admin.post('/system/tokens/create', { name: 'audited', role: 'viewer' });
  const wanted = 'person=admin&action=token.create&subject=token%3Aaudited';
  const found = await admin.get(`/system/audit?${wanted}`);
  expect(textOf(found.html)).toMatch(/token\.create done token:audited .*role: viewer/);
  expect((await admin.get('/system/audit?subject=token%3Anone')).html).toContain(
    'No entry matches',
  );
  expect((await admin.get(`/system/audit?${wanted}&to=2020-01-01`)).html).toContain(
    'No entry matches',
  );
  expect((await admin.get(`/system/audit?${wanted}&from=2020-01-01`)).html).toContain(
    'token:audited',
  );
  expect((await admin.get('/system/audit?subject=x')).status).toBe(400);
  expect(found.html).toContain('href="/system/tokens">token:audited</a>');

  const csv = await operator.get(`/system/audit.csv?${wanted}`);
  const [heading, ...lines] = csv.html.trim().split('\n');
  expect(heading).toMatch(/^number,recorded_at,actor,/);
  expect(lines).toEqual([expect.stringContaining('token:audited')]);
  const [exported] = await db.query<{ name: string; detail: object }>(
    `select actor_name as name, detail from audit where action = 'list.export' order by id desc`,
  );
  expect(exported).toEqual({
    name: 'a-operator',
    detail: { filter: { person: 'admin', action: 'token.create', subject: 'token:audited' } },
  });
  const viewer = await openPages(tallyhook, tokens.get('viewer') ?? '');
  expect((await viewer.get('/system/audit.csv')).status).toBe(403);
});

test('an erasure is planned, confirmed with counts, carried out and proven', async () => {
  await applyEach(db, testApplier(db), [
    paymentEvent({ orderId: 'ord_erase', email: 'ada@example.test', description: 'for Ada' }),
  ]);
  const none = await admin.post('/system/erasures/plan', { kind: 'order', ids: ' \n ' });
  expect(none.status).toBe(400);
  const planned = await admin.post('/system/erasures/plan', { kind: 'order', ids: 'ord_erase' });
  const [plan = ''] = planned.location?.split('?') ?? [];
  expect(plan).toMatch(/^\/system\/erasures\/plans\/[\w-]+$/);
  await waitFor('the plan', async () =>
    (await admin.get(plan)).html.includes('This cannot be undone'),
  );
  const counted = textOf((await admin.get(plan)).html);
  expect(counted).toMatch(/payments 1 Events that lose their bodies 1/);
  expect((await operator.get(plan)).status).toBe(403);

  const without = await admin.post(`${plan}/erase`, { reason: 'by mail' });
  expect(without.status).toBe(400);
  const requested = await admin.post(`${plan}/erase`, { reason: 'by mail', confirm: 'yes' });
  const [page = ''] = requested.location?.split('?') ?? [];
  expect(page).toMatch(/^\/system\/erasures\/\d+$/);
  expect(textOf((await operator.get(page)).html)).toContain('State running');

  const actor = { kind: 'process', role: 'process', name: 'test', origin: 'test' } as const;
  const { signal } = new AbortController();
  expect(await continueErasures({ db, log: silentLog, actor, signal })).toBe(1);
  const done = textOf((await operator.get(page)).html);
  expect(done).toContain('State done');
  expect(done).toContain('A search of every table found none of the values.');
  expect((await operator.get('/system/erasures')).html).toContain('order:ord_erase');
  const gone = await admin.get('/system/erasures/plans/none');
  expect(gone.status).toBe(404);
  expect(gone.html).toContain('Nothing was erased');
});
