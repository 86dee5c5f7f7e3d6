/** `tallyhook alerts test`: the response of each channel, and the exit code. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type HttpReceiver,
  type MailServer,
  SIGNING_SECRET,
  startHttpReceiver,
  startMailServer,
} from '../support/receivers.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

let hook: HttpReceiver;
let shop: HttpReceiver;
let chat: HttpReceiver;
let mail: MailServer;
beforeEach(async () => {
  hook = await startHttpReceiver(SIGNING_SECRET);
  shop = await startHttpReceiver(SIGNING_SECRET);
  chat = await startHttpReceiver();
  mail = await startMailServer();
});
afterEach(async () => {
  await Promise.all([hook.close(), shop.close(), chat.close(), mail.close()]);
});

const settings = () => ({
  DATABASE_URL: db.url,
  ALERT_WEBHOOK_URL: hook.url,
  ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
  ALERT_SLACK_URL: chat.url,
  ALERT_MAIL_TO: 'ops@shop.example',
  ALERT_MAIL_FROM: 'tallyhook@shop.example',
  SMTP_URL: mail.url,
  ORDER_WEBHOOK_URL: shop.url,
  ORDER_WEBHOOK_SECRET: SIGNING_SECRET,
});

test('sends a test message to every configured channel', async () => {
  const exit = await runTallyhook(['alerts', 'test'], { env: settings() });
  expect(exit.code).toBe(0);
  for (const [channel, result] of [
    ['log', 'written'],
    ['webhook', 'HTTP 200'],
    ['slack', 'HTTP 200'],
    ['mail', 'accepted for 1'],
    ['shop', 'HTTP 200'],
  ]) {
    expect(exit.stdout).toMatch(new RegExp(`^${channel} +delivered +${result}$`, 'm'));
  }
  expect([hook, shop].map(({ posts }) => posts.map(({ type }) => type))).toEqual([
    ['test'],
    ['test'],
  ]);
  expect(chat.posts).toHaveLength(1);
  expect(mail.mails.map(({ raw }) => raw.includes('Subject: [Tallyhook] Test message'))).toEqual([
    true,
  ]);
});

test('names the channel that failed, and exits with 1', async () => {
  chat.behave({ does: 'respond', status: 404 });
  await mail.stop();
  const exit = await runTallyhook(['alerts', 'test', '--json'], { env: settings() });
  expect(exit.code).toBe(5);
  expect(exit.stderr).toContain('"title":"Test message"');
  expect(JSON.parse(exit.stdout)).toMatchObject({
    channels: [
      { channel: 'log', outcome: 'delivered' },
      { channel: 'webhook', outcome: 'delivered' },
      { channel: 'slack', outcome: 'failed', response: 'HTTP 404' },
      { channel: 'mail', outcome: 'failed', response: 'ESOCKET' },
      { channel: 'shop', outcome: 'delivered' },
    ],
  });
});

test('tests a single channel, and reports if it is not configured', async () => {
  const one = await runTallyhook(['alerts', 'test', '--channel', 'shop'], { env: settings() });
  expect([one.code, shop.posts.length, hook.posts.length]).toEqual([0, 1, 0]);
  const none = await runTallyhook(['alerts', 'test', '--channel', 'slack'], { env: {} });
  expect(none.code).toBe(2);
  expect(none.stderr).toMatch(/slack is not configured: set ALERT_SLACK_URL for this command, too/);
});

test('the log is a channel only at a log level that shows alerts', async () => {
  const testAt = (LOG_LEVEL: string) =>
    runTallyhook(['alerts', 'test'], { env: { DATABASE_URL: db.url, LOG_LEVEL } });
  const shown = await testAt('warn');
  expect(shown.code).toBe(0);
  expect(shown.stdout).toContain('"title":"Test message"');
  const hidden = await testAt('error');
  expect(hidden.code).toBe(2);
  expect(hidden.stderr).toMatch(/No channel is configured/);
});
