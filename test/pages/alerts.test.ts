/** The pages of alerts and of outgoing messages, and what people do there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raiseOneTimeAlerts, syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { createTestNotifier } from '../support/notifier.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

const HOSTILE = `"><script>alert(1)</script>&'`;

let db: TestDatabase;
let hook: HttpReceiver;
let tallyhook: TestTallyhook;
let tokens: Map<string, string>;
let admin: PageViewer;
let reader: PageViewer;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  db = await createTestDatabase();
  tokens = await createTokensOfEveryKind(db);
  hook = await startHttpReceiver(SIGNING_SECRET);
  env = {
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
    LOG_LEVEL: 'error',
  };
  tallyhook = await startTallyhook({ db, roles: ['console'], env });
  admin = await openPages(tallyhook);
  reader = await openPages(tallyhook, tokens.get('viewer') ?? '');
});
afterAll(async () => {
  await tallyhook.close();
  await hook.close();
  await db.drop();
});

/** @returns the number of the alert */
async function raise(): Promise<number> {
  const subject = `dispute:${unique('dp')}${HOSTILE}`;
  const active = [
    alertOf({ subject, severity: 'critical', orderId: `1001${HOSTILE}`, deadlineAt: new Date() }),
  ];
  await db.transaction((tx) => syncAlerts(tx, [{ subject, rules: ['dispute_opened'], active }]));
  const [row] = await db.query<{ id: number }>('select id from alerts where subject = $1', [
    subject,
  ]);
  return row?.id ?? 0;
}

test('an alert is listed, and its page has the runbook and what to do', async () => {
  const id = await raise();
  const list = await admin.get('/alerts?severity=critical');
  expect(list.status).toBe(200);
  expect(list.html).toContain(`href="/alerts/${id}"`);
  expect((await admin.get('/alerts?state=resolved')).html).not.toContain(`href="/alerts/${id}"`);
  const { status, html } = await admin.get(`/alerts/${id}`);
  expect(status).toBe(200);
  expect(html).toContain(`<h1>Alert ${id}: Dispute opened</h1>`);
  expect(html).toContain('a customer or a bank disputes a payment at this stage');
  for (const page of [list.html, html]) expect(page).not.toContain('<script>alert');
});

test('an alert is acknowledged, snoozed and assigned with a reason', async () => {
  const id = await raise();
  const act = async (action: string, form: Readonly<Record<string, string>>) => {
    const { status, location } = await admin.post(`/alerts/${id}/${action}`, form);
    expect([status, location?.split('?')[0]]).toEqual([303, `/alerts/${id}`]);
    return (await admin.get(`/alerts/${id}`)).html;
  };
  expect(await act('snooze', { for: '4h', reason: 'bank closed' })).toContain('bank closed');
  expect(await act('assign', { to: 'ada', reason: 'on call' })).toContain('to ada by');
  expect(await act('assign', { to: '', reason: 'back' })).not.toContain('to ada by');
  const after = await act('acknowledge', { reason: HOSTILE });
  expect(after).toContain('acknowledged');
  expect(after).not.toContain('<script>alert');
  const second = await admin.post(`/alerts/${id}/acknowledge`, { reason: 'again' });
  expect(second.status).toBe(409);
  expect(second.html).toContain('already acknowledged by');
  const entries = await db.query<{ action: string }>(
    `select action from audit where subject_kind = 'alert' and subject_id = $1 order by id`,
    [String(id)],
  );
  expect(entries.map(({ action }) => action)).toEqual([
    'alert.snooze',
    'alert.assign',
    'alert.assign',
    'alert.acknowledge',
  ]);
});

test('several alerts are handled at once, each with its own entry in the audit log', async () => {
  const ids = [await raise(), await raise(), await raise(), await raise()];
  const [first, second] = ids.map(String);
  const { html } = await admin.get('/alerts');
  expect(html).toContain('By rule');
  expect(html).toMatch(/\d+ more like this\./);
  expect(html).toContain('href="/alerts?rule=dispute_opened&amp;severity=critical"');
  expect((await reader.get('/alerts')).html).not.toContain('name="alert"');

  const form = { alert: [first ?? '', second ?? ''], reason: 'one cause', for: '1d', to: 'ada' };
  const handle = async (what: string) => {
    const { status, location } = await admin.post('/alerts/handle', { ...form, what });
    expect(status).toBe(303);
    return (await admin.get(location ?? '')).html;
  };
  expect((await reader.post('/alerts/handle', { ...form, what: 'snooze' })).status).toBe(403);
  expect((await admin.post('/alerts/handle', { reason: 'x', what: 'snooze' })).status).toBe(400);
  expect(await handle('snooze')).toContain('2 alerts are snoozed.');
  expect(await handle('assign')).toContain('2 alerts are assigned.');
  await admin.post(`/alerts/${first}/acknowledge`, { reason: 'seen' });
  expect(await handle('acknowledge')).toContain('1 alert is acknowledged. 1 did not change');
  const entries = await db.query<{ action: string }>(
    `select action from audit where subject_kind = 'alert' and subject_id = $1 order by id`,
    [second],
  );
  expect(entries.map(({ action }) => action)).toEqual([
    'alert.snooze',
    'alert.assign',
    'alert.acknowledge',
  ]);
});

test('a viewer sees who may act, and cannot', async () => {
  const id = await raise();
  expect((await reader.get(`/alerts/${id}`)).html).toContain('Roles that may: operator, admin');
  const refused = await reader.post(`/alerts/${id}/acknowledge`, { reason: 'x' });
  expect(refused.status).toBe(403);
});

test('a message shows its attempts, and is sent again', async () => {
  const subject = `dispute:${unique('dp')}${HOSTILE}`;
  await db.query('delete from alert_outbox');
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [alertOf({ subject, orderId: '1001' })]));
  const notifier = createTestNotifier({ db, env });
  await notifier.dispatch();
  await notifier.deliver();
  const [row] = await db.query<{ number: number }>('select max(number) as number from messages');
  const path = `/messages/${row?.number}`;
  const list = await admin.get('/messages?state=delivered&channel=webhook');
  expect(list.html).toContain(`href="${path}"`);
  const { html } = await admin.get(path);
  expect(html).toContain('HTTP 200');
  expect(html).not.toContain('<script>alert');
  const sent = hook.posts.length;
  expect((await admin.post(`${path}/resend`, { reason: 'lost' })).status).toBe(303);
  await notifier.deliver();
  expect(hook.posts.length).toBe(sent + 1);
  expect((await reader.post(`${path}/resend`, { reason: 'x' })).status).toBe(403);
});

test.each(['/alerts/999999', '/messages/999999'])('%s is a page that states why', async (path) => {
  const { status, html } = await admin.get(path);
  expect(status).toBe(404);
  expect(html).toContain('Retention removes');
});

test('the channels show where they send without the rest of the address, what fails, and the last responses', async () => {
  const { html } = await admin.get('/alerts/channels');
  expect(html).toContain('Alert webhook');
  expect(html).toContain(`${new URL(hook.url).origin}/…`);
  expect(html).not.toContain(hook.url);
  expect(html).toContain('ALERT_SLACK_URL');
  expect(html).not.toContain('It has accepted nothing');
  await db.query(
    `insert into channel_health (channel, failures, failing_since, last_error)
     values ('webhook', 0, '2026-11-01T00:00:00Z', 'HTTP 500')`,
  );
  await db.query(
    `insert into messages (id, channel, kind, content, state, attempt_log, attempts, next_attempt_at, created_at)
     values ('msg_channel', 'webhook', 'alert', '{"kind":"test","at":""}', 'due',
             '[{"attempt":1,"at":"2026-11-01T00:00:00Z","outcome":"refused","response":"HTTP 400"},
               {"attempt":2,"at":"2026-11-01T00:01:00Z","outcome":"unavailable","response":"HTTP 503"}]',
             2, now(), now() - interval '3 hours')`,
  );
  const failing = (await openPages(tallyhook).then((page) => page.get('/alerts/channels'))).html;
  expect(failing).toContain('Failing: alert webhook');
  expect(failing).toContain(': HTTP 500. Check ALERT_WEBHOOK_URL.');
  expect(failing).toContain('the oldest for 3 hours');
  expect(failing).toContain('HTTP 503');
  expect(failing).not.toContain('HTTP 400');
});

test('a test of a channel is sent and its response shown; a viewer may not, and another channel is not configured', async () => {
  const before = hook.posts.length;
  const { status, location } = await admin.post('/alerts/channels/webhook/test', {});
  expect(status).toBe(303);
  expect(hook.posts.slice(before).map(({ type }) => type)).toEqual(['test']);
  expect((await admin.get(location ?? '')).html).toContain(
    'The alert webhook accepted the test message: HTTP 200.',
  );
  hook.behave({ does: 'respond', status: 418 });
  const refused = await admin.post('/alerts/channels/webhook/test', {});
  expect((await admin.get(refused.location ?? '')).html).toContain(
    'did not accept the test message: HTTP 418',
  );
  hook.behave({ does: 'accept' });
  expect((await reader.get('/alerts/channels')).html).toContain('your role may not do this');
  expect((await admin.post('/alerts/channels/slack/test', {})).status).toBe(404);
  const rows = await db.query<{ result: string }>(
    `select result from audit where action = 'alert.test' order by id`,
  );
  expect(rows.map(({ result }) => result)).toEqual(['requested', 'done', 'requested', 'failed']);
});
