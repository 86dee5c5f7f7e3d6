import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { OperatorError } from '../../../src/platform/errors.ts';

function mistakesOf(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  return 'no mistake';
}

const KEY = Buffer.from('0123456789abcdefghijklmn').toString('base64');
const SECRET = `whsec_${KEY}`;
const HOOK = { ALERT_WEBHOOK_URL: 'https://ops.example/hook', ALERT_WEBHOOK_SECRET: SECRET };
const MAIL = {
  ALERT_MAIL_TO: 'ops@shop.example, owner@shop.example',
  ALERT_MAIL_FROM: 'tallyhook@shop.example',
  SMTP_URL: 'smtp://user%40x:p%3Aw@mail.shop.example',
};

test('by default the log is the only channel, and the daily summary is sent at six', () => {
  const { channels, alertSummaryHour } = loadConfig({});
  expect(channels).toEqual({
    log: { severity: 'info' },
    webhook: undefined,
    slack: undefined,
    mail: undefined,
    shop: undefined,
  });
  expect(alertSummaryHour).toBe(6);
});

test.each([
  ['https://tallyhook.shop.example', 'https://tallyhook.shop.example'],
  ['http://10.0.0.4:8081/', 'http://10.0.0.4:8081'],
])('the console at %s', (PUBLIC_CONSOLE_URL, consoleUrl) => {
  const { installation } = loadConfig({ PUBLIC_CONSOLE_URL, INSTALLATION_NAME: ' Shop EU ' });
  expect(installation).toEqual({ name: 'Shop EU', consoleUrl });
});

test('without settings the installation is called Tallyhook, and messages have no links', () => {
  expect(loadConfig({}).installation).toEqual({ name: 'Tallyhook', consoleUrl: undefined });
});

test.each([
  'ftp://tallyhook.example',
  'https://tallyhook.example/console',
  'https://user:word@tallyhook.example',
  'https://tallyhook.example?x=1',
  'tallyhook.example',
])('PUBLIC_CONSOLE_URL=%s is refused', (PUBLIC_CONSOLE_URL) => {
  expect(mistakesOf({ PUBLIC_CONSOLE_URL })).toMatch(/PUBLIC_CONSOLE_URL: must be an address/);
});

test('every channel is read', () => {
  const { channels } = loadConfig({
    ...HOOK,
    ...MAIL,
    ALERT_SLACK_URL: 'https://chat.example/x',
    ALERT_MAIL_SEVERITY: 'critical',
    ORDER_WEBHOOK_URL: 'http://127.0.0.1:3000/orders',
    ORDER_WEBHOOK_SECRET: `${SECRET},${SECRET}`,
  });
  expect(channels).toEqual({
    log: { severity: 'info' },
    webhook: { url: HOOK.ALERT_WEBHOOK_URL, secrets: [SECRET], severity: 'info' },
    slack: { url: 'https://chat.example/x', severity: 'warning' },
    mail: {
      to: ['ops@shop.example', 'owner@shop.example'],
      from: 'tallyhook@shop.example',
      severity: 'critical',
      smtp: {
        host: 'mail.shop.example',
        port: 587,
        isTls: false,
        isLoopback: false,
        user: 'user@x',
        password: 'p:w',
      },
    },
    shop: { url: 'http://127.0.0.1:3000/orders', secrets: [SECRET, SECRET] },
  });
});

test.each([
  ['trace', 'info'],
  ['info', 'info'],
  ['warn', 'warning'],
  ['error', undefined],
  ['silent', undefined],
])('the log at level %s is a channel from severity %s', (LOG_LEVEL, severity) => {
  const { log } = loadConfig({ LOG_LEVEL }).channels;
  expect(log).toEqual(severity && { severity });
});

test.each([
  ['off', undefined],
  ['0', 0],
  ['07', 7],
  ['23', 23],
])('ALERT_SUMMARY_AT=%s', (ALERT_SUMMARY_AT, hour) => {
  expect(loadConfig({ ALERT_SUMMARY_AT }).alertSummaryHour).toBe(hour);
});

test('all errors are reported together, including settings that others require', () => {
  const message = mistakesOf({
    PORT: 'http',
    ALERT_SUMMARY_AT: '24',
    ALERT_SLACK_SEVERITY: 'loud',
    ORDER_WEBHOOK_URL: 'http://shop.example/hook',
    ALERT_MAIL_TO: 'ops@shop.example',
  });
  for (const name of [
    'PORT',
    'ALERT_SUMMARY_AT',
    'ALERT_SLACK_SEVERITY',
    'ORDER_WEBHOOK_URL: must begin with https',
    'ORDER_WEBHOOK_SECRET: must be set, too, because ORDER_WEBHOOK_URL is',
    'ALERT_MAIL_FROM: must be set, too',
    'SMTP_URL: must be set, too',
  ]) {
    expect(message).toContain(name);
  }
});

describe('addresses', () => {
  test.each([
    'http://ops.example/hook',
    'ftp://ops.example/hook',
    'http://127.0.0.1.evil.example/hook',
    'http://localhost.evil.example/hook',
    'ops.example/hook',
  ])('that leave this machine in clear text, or are none, are refused: %s', (url) => {
    expect(mistakesOf({ ...HOOK, ALERT_WEBHOOK_URL: url })).toMatch(/ALERT_WEBHOOK_URL/);
    expect(mistakesOf({ ALERT_SLACK_URL: url })).toMatch(/ALERT_SLACK_URL/);
  });

  test.each(['https://user:hunter2@ops.example/hook', 'https://user@ops.example/hook'])(
    'with a user or a password are rejected, and never printed: %s',
    (url) => {
      for (const env of [
        { ...HOOK, ALERT_WEBHOOK_URL: url },
        { ALERT_SLACK_URL: url },
        { ORDER_WEBHOOK_URL: url, ORDER_WEBHOOK_SECRET: SECRET },
      ]) {
        const message = mistakesOf(env);
        expect(message).toMatch(/_URL: must not contain a user name or password/);
        expect(message).not.toContain('hunter2');
      }
    },
  );

  test.each(['http://127.0.0.1:1/x', 'http://localhost/x', 'http://[::1]:3/x', 'https://a.b/x'])(
    'of this machine, or with TLS, are accepted: %s',
    (url) => expect(loadConfig({ ALERT_SLACK_URL: url }).channels.slack?.url).toBe(url),
  );

  test.each([
    'ops@shop.example\r\nBcc: x@y.example',
    'Ops <ops@shop.example>',
    'ops@shop.example;x@y.example',
    'ops',
    '',
  ])('of mail that have more than an address are rejected: %j', (to) => {
    expect(mistakesOf({ ...MAIL, ALERT_MAIL_TO: to })).toMatch(/ALERT_MAIL_TO/);
  });
});

test.each(['smtp://user:100%@mail.example', 'https://mail.example', 'mail.example:587'])(
  'an unreadable SMTP_URL is rejected: %s',
  (SMTP_URL) => {
    const message = mistakesOf({ ...MAIL, SMTP_URL });
    expect(message).toMatch(/SMTP_URL: must be smtp/);
    expect(message).not.toContain('100%');
  },
);

describe('signing secrets', () => {
  test.each([
    ['without its prefix', KEY],
    ['that is too short', `whsec_${Buffer.from('hunter2-hunter2').toString('base64')}`],
    ['that is no base64', 'whsec_hunter2-hunter2-hunter2-hunter2'],
    ['that is empty', ''],
    ['that is empty behind a comma', `${SECRET},`],
  ])('%s is refused, and never printed', (_what, ALERT_WEBHOOK_SECRET) => {
    const message = mistakesOf({ ...HOOK, ALERT_WEBHOOK_SECRET });
    expect(message).toMatch(/ALERT_WEBHOOK_SECRET/);
    expect(message).not.toContain(KEY);
    expect(message).not.toContain('hunter2');
    expect(message).not.toContain('aHVudGVy');
  });
});
