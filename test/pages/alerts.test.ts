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
