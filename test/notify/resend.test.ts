/** Outgoing messages over the admin API and the command line: attempts with their responses, and resends. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { raiseOneTimeAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { type Api, createApi } from '../support/api.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { createTestNotifier, type TestNotifier } from '../support/notifier.ts';
import {
  ACCEPT,
  type HttpReceiver,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;
let hook: HttpReceiver;
let notifier: TestNotifier;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  db = await createTestDatabase();
  hook = await startHttpReceiver(SIGNING_SECRET);
  env = {
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
    LOG_LEVEL: 'error',
    INSTALLATION_NAME: 'Shop EU',
  };
  // Nothing else delivers: this process has no role `alerts`.
  tallyhook = await startTallyhook({ db, roles: ['console'], env });
  api = createApi(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await hook.close();
  await db.drop();
});
beforeEach(() => {
  notifier = createTestNotifier({ db, env });
});
afterEach(async () => {
  hook.behave(ACCEPT);
  await db.query('delete from messages');
  await db.query('delete from channel_health');
  await db.query(`update dispatch_state set next_dispatch_at = '-infinity'`);
});

/** Creates a message. @returns its number */
async function create(): Promise<number> {
  const subject = `dispute:${unique('dp')}`;
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [alertOf({ subject, orderId: '1001' })]));
  await notifier.dispatch();
  const [row] = await db.query<{ number: number }>(
    'select number from messages order by number desc limit 1',
  );
  return row?.number ?? 0;
}

const makeDue = () =>
  db.query(`update messages set next_attempt_at = now() - interval '1 minute' where state = 'due'`);

test('a message has its text, and each attempt with its response', async () => {
  const number = await create();
  hook.behave({ does: 'respond', status: 400 });
  await notifier.deliver();
  hook.behave(ACCEPT);
  await makeDue();
  await notifier.deliver();
  const { status, body } = await api.get(`/api/v1/messages/${number}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    number,
    channel: 'webhook',
    kind: 'alert',
    state: 'delivered',
    title: 'Dispute opened: order 1001',
    attempts: 2,
    attempt_log: [
      { attempt: 1, outcome: 'refused', response: 'HTTP 400' },
      { attempt: 2, outcome: 'delivered', response: 'HTTP 200' },
    ],
    next_attempt_at: null,
  });
  const { messages } = (await api.get('/api/v1/messages?state=delivered&channel=webhook')).body;
  expect(messages).toMatchObject([{ number }]);
  expect((await api.get('/api/v1/messages?state=failed')).body.messages).toEqual([]);
});

test('a delivered message is sent again with the same id and body', async () => {
  const number = await create();
  await notifier.deliver();
  const reason = 'the receiver lost it';
  const resent = await api.post(`/api/v1/messages/${number}/resend`, { reason });
  expect(resent.status).toBe(202);
  expect(resent.body).toMatchObject({ state: 'due', resent_at: expect.any(String) });
  const again = await api.post(`/api/v1/messages/${number}/resend`, { reason });
  expect(again.status).toBe(409);
  await notifier.deliver();
  const [first, second] = hook.posts.slice(-2);
  expect(second?.id).toBe(first?.id);
  expect(second?.body).toBe(first?.body);
  expect((await api.get(`/api/v1/messages/${number}`)).body.state).toBe('delivered');
  const entries = await db.query(
    `select reason, result from audit where action = 'message.resend' and subject_id = $1`,
    [String(number)],
  );
  expect(entries).toEqual([{ reason, result: 'done' }]);
});

test('a message that failed long ago is retried for three days again', async () => {
  const number = await create();
  await db.query(
    `update messages set state = 'failed', settled_at = now(), created_at = now() - interval '9 days'`,
  );
  hook.behave({ does: 'respond', status: 503 });
  await api.post(`/api/v1/messages/${number}/resend`, { reason: 'try again' });
  await notifier.deliver();
  expect((await api.get(`/api/v1/messages/${number}`)).body).toMatchObject({
    state: 'due',
    last_error: 'HTTP 503',
  });
});

test('the log of attempts keeps the last fifty', async () => {
  const number = await create();
  await db.query(
    `update messages set attempts = 50, attempt_log = (
       select jsonb_agg(jsonb_build_object('attempt', i, 'at', '2026-11-22T10:00:00.000Z', 'outcome', 'refused', 'response', 'x') order by i)
         from generate_series(1, 50) i)`,
  );
  await notifier.deliver();
  const { attempt_log: log } = (await api.get(`/api/v1/messages/${number}`)).body;
  expect(log).toHaveLength(50);
  expect(log[0].attempt).toBe(2);
  expect(log[49]).toMatchObject({ attempt: 51, outcome: 'delivered' });
});

test('a message to a channel that is not configured is not resent', async () => {
  const number = await create();
  await db.query(`update messages set channel = 'slack', state = 'failed', settled_at = now()`);
  const { status, body } = await api.post(`/api/v1/messages/${number}/resend`, { reason: 'x' });
  expect(status).toBe(409);
  expect(body.error.message).toContain('The channel slack is not configured');
  expect((await api.post('/api/v1/messages/999999/resend', { reason: 'x' })).status).toBe(404);
});

test('the command line lists, shows and resends', async () => {
  const number = await create();
  await notifier.deliver();
  const run = (...args: readonly string[]) =>
    runTallyhook(['messages', ...args], { env: { DATABASE_URL: db.url, ...env } });
  expect((await run('list')).stdout).toMatch(
    new RegExp(`${number} +webhook +alert +delivered +1 .*Dispute opened: order 1001`),
  );
  expect((await run('show', String(number))).stdout).toContain('delivered, HTTP 200');
  const resent = await run('resend', String(number), '--reason', 'lost', '--by', 'ada');
  expect(resent).toMatchObject({
    code: 0,
    stdout: `The message ${number} is sent again to webhook.\n`,
  });
  const again = await run('resend', String(number), '--reason', 'lost');
  expect(again.stderr).toContain('is still retried. Nothing was changed.');
});
