/**
 * Every channel with a receiver that fails, is slow, rejects messages or is unreachable for an hour: it
 * eventually gets every message, and none again that it accepted.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { raiseOneTimeAlerts } from '../../src/alerts/syncAlerts.ts';
import { post } from '../../src/notify/channels/post.ts';
import { MINUTE_MS } from '../../src/platform/time.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { createTestNotifier, readMessages } from '../support/notifier.ts';
import {
  ACCEPT,
  type Behavior,
  SIGNING_SECRET,
  startHttpReceiver,
  startMailServer,
} from '../support/receivers.ts';

/** The settings of a channel, and control over its receiver. */
interface Receiver {
  readonly env: Readonly<Record<string, string>>;
  /** The accepted messages, each with its stable id and its text. */
  accepted(): readonly { readonly id: string; readonly text: string }[];
  /** Number of attempts, accepted or not. */
  attempts(): number;
  fail(): void;
  reject(): void;
  neverRespond(): void;
  recover(): void;
  stop(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

async function overHttp(
  secret: string | undefined,
  envOf: (url: string) => Readonly<Record<string, string>>,
): Promise<Receiver> {
  const receiver = await startHttpReceiver(secret);
  const behave = (behavior: Behavior) => () => receiver.behave(behavior);
  return {
    env: envOf(receiver.url),
    accepted: () => receiver.accepted().map(({ id, body }) => ({ id, text: body })),
    attempts: () => receiver.posts.length,
    fail: behave({ does: 'respond', status: 503 }),
    reject: behave({ does: 'respond', status: 400 }),
    neverRespond: behave({ does: 'never_respond' }),
    recover: behave(ACCEPT),
    stop: receiver.stop,
    restart: receiver.restart,
    close: receiver.close,
  };
}

async function overMail(): Promise<Receiver> {
  const server = await startMailServer();
  return {
    env: {
      ALERT_MAIL_TO: 'ops@shop.example,boss@shop.example',
      ALERT_MAIL_FROM: 'tallyhook@shop.example',
      SMTP_URL: server.url,
      ALERT_MAIL_SEVERITY: 'info',
    },
    accepted: () => server.mails.map(({ messageId, raw }) => ({ id: messageId, text: raw })),
    attempts: server.attempts,
    fail: () => server.behave('tempfail'),
    reject: () => server.behave('reject'),
    neverRespond: () => server.behave('never_respond'),
    recover: () => server.behave('accept'),
    stop: server.stop,
    restart: server.restart,
    close: server.close,
  };
}

const CHANNELS = {
  webhook: () =>
    overHttp(SIGNING_SECRET, (url) => ({
      ALERT_WEBHOOK_URL: url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
    })),
  slack: () =>
    overHttp(undefined, (url) => ({ ALERT_SLACK_URL: url, ALERT_SLACK_SEVERITY: 'info' })),
  mail: overMail,
} as const;

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await db.drop();
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

async function raise(...subjects: readonly string[]): Promise<void> {
  await db.transaction((tx) =>
    raiseOneTimeAlerts(
      tx,
      subjects.map((subject) => alertOf({ subject })),
    ),
  );
}

describe.each(['webhook', 'slack', 'mail'] as const)('the channel %s', (name) => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await CHANNELS[name]();
  });
  afterEach(() => receiver.close());

  const notifierOf = (timeoutMs?: number) =>
    createTestNotifier({ db, env: receiver.env, ...(timeoutMs !== undefined && { timeoutMs }) });

  test('gets an alert once', async () => {
    const subject = `dispute:${unique('dp')}`;
    await raise(subject);
    const { dispatch, deliver } = notifierOf();
    await dispatch();
    await deliver();
    advance(10 * MINUTE_MS);
    await dispatch();
    await deliver();
    expect(receiver.accepted()).toHaveLength(1);
    expect(receiver.accepted()[0]?.text).toContain(subject);
    expect(await readMessages(db, name)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  test('that fails is retried after a wait, and gets the message once', async () => {
    await raise('dispute:dp_failing');
    const { dispatch, deliver, waitMs } = notifierOf();
    receiver.fail();
    await dispatch();
    await deliver();
    await deliver();
    // It is not retried before the wait is over.
    expect(receiver.attempts()).toBe(1);
    expect(await waitMs()).toBe(3_750);
    advance(3_750);
    await deliver();
    expect(await waitMs()).toBe(7_500);
    receiver.recover();
    advance(7_500);
    await deliver();
    await deliver();
    expect(receiver.accepted()).toHaveLength(1);
    expect(await readMessages(db, name)).toMatchObject([{ state: 'delivered', attempts: 3 }]);
  });

  test('that is too slow has failed, and gets the message again with the same id', async () => {
    await raise('dispute:dp_slow');
    const { dispatch, deliver } = notifierOf(300);
    receiver.neverRespond();
    await dispatch();
    await deliver();
    expect(await readMessages(db, name)).toMatchObject([
      { state: 'due', attempts: 1, lastError: 'no response within 0.3 s' },
    ]);
    receiver.recover();
    advance(MINUTE_MS);
    await deliver();
    const [message] = await readMessages(db, name);
    expect(message).toMatchObject({ state: 'delivered', attempts: 2 });
    if (name !== 'slack') expect(receiver.accepted()[0]?.id).toContain(message?.id);
  });

  test('that rejects one message gets the following ones immediately, and that one later', async () => {
    await raise('dispute:dp_refused');
    const { dispatch, deliver } = notifierOf();
    receiver.reject();
    await dispatch();
    await deliver();
    receiver.recover();
    advance(2_000);
    await raise('dispute:dp_next');
    await dispatch();
    await deliver();
    expect(receiver.accepted().map(({ text }) => text.includes('dp_next'))).toEqual([true]);
    advance(MINUTE_MS);
    await deliver();
    expect(receiver.accepted().map(({ text }) => text.includes('dp_refused'))).toEqual([
      false,
      true,
    ]);
  });

  test('that is unreachable for an hour is reported, and gets every message once when it is reachable again', async () => {
    await receiver.stop();
    const { dispatch, deliver } = notifierOf();
    const subjects = Array.from({ length: 12 }, (_, index) => `dispute:dp_outage_${index}_`);
    for (const subject of subjects) {
      await raise(subject);
      await dispatch();
      await deliver();
      advance(5 * MINUTE_MS);
    }
    expect(receiver.accepted()).toEqual([]);
    expect(await readChannelAlerts(name)).toMatchObject([{ state: 'open', severity: 'critical' }]);

    await receiver.restart();
    for (let minute = 0; minute < 10; minute += 1) {
      await dispatch();
      await deliver();
      advance(MINUTE_MS);
    }
    for (const subject of subjects) {
      const times = receiver.accepted().filter(({ text }) => text.includes(subject)).length;
      expect([subject, times]).toEqual([subject, 1]);
    }
    expect(await readChannelAlerts(name)).toMatchObject([{ state: 'resolved' }]);
    expect((await readMessages(db)).filter(({ state }) => state !== 'delivered')).toEqual([]);
    // The outage is reported to the other channels, here the log, and never to the channel itself.
    expect(receiver.accepted().filter(({ text }) => text.includes('channel_down'))).toEqual([]);
    const sent = await db.query(
      `select content -> 'alert' ->> 'type' as type from messages
        where channel = 'log' and content -> 'alert' ->> 'rule' = 'channel_down' order by number`,
    );
    expect(sent).toEqual([{ type: 'opened' }, { type: 'resolved' }]);
  });

  test('that accepts nothing for three days loses its messages, and their alerts stay in the list', async () => {
    await raise('dispute:dp_never');
    await receiver.stop();
    const { dispatch, deliver } = notifierOf();
    await dispatch();
    await deliver();
    advance(72 * 60 * MINUTE_MS);
    await deliver();
    expect(await readMessages(db, name)).toMatchObject([{ state: 'failed', attempts: 2 }]);
    const listed = await db.query(`select subject from alerts where subject = 'dispute:dp_never'`);
    expect(listed).toHaveLength(1);
  });
});

function readChannelAlerts(channel: string): Promise<object[]> {
  return db.query(
    `select state, severity from alerts where rule = 'channel_down' and subject = $1 order by id`,
    [`channel:${channel}`],
  );
}

test('a slow receiver delays no other channel', async () => {
  const slow = await startHttpReceiver(SIGNING_SECRET);
  const chat = await startHttpReceiver();
  slow.behave({ does: 'never_respond' });
  const { dispatch, deliver } = createTestNotifier({
    db,
    env: {
      ALERT_WEBHOOK_URL: slow.url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
      ALERT_SLACK_URL: chat.url,
    },
    timeoutMs: 20_000,
  });
  await raise('dispute:dp_1', 'dispute:dp_2');
  await dispatch();
  const delivering = deliver();
  await vi.waitUntil(() => chat.accepted().length === 2, { timeout: 120_000 });
  expect(slow.accepted()).toEqual([]);
  await slow.close();
  await chat.close();
  await delivering;
});

test('after a 410 the message fails and the channel is reported immediately', async () => {
  const receiver = await startHttpReceiver(SIGNING_SECRET);
  receiver.behave({ does: 'respond', status: 410 });
  const { dispatch, deliver } = createTestNotifier({
    db,
    env: { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  await raise('dispute:dp_1');
  await dispatch();
  await deliver();
  expect(await readMessages(db, 'webhook')).toMatchObject([
    { state: 'failed', attempts: 1, lastError: 'HTTP 410' },
  ]);
  expect(await readChannelAlerts('webhook')).toMatchObject([{ state: 'open' }]);
  await receiver.close();
});

test('a redirect is not followed', async () => {
  const target = await startHttpReceiver();
  const receiver = await startHttpReceiver(SIGNING_SECRET);
  receiver.behave({ does: 'respond', status: 307, headers: { location: target.url } });
  const { dispatch, deliver } = createTestNotifier({
    db,
    env: { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  await raise('dispute:dp_1');
  await dispatch();
  await deliver();
  expect(receiver.posts).toHaveLength(1);
  expect(target.posts).toEqual([]);
  expect(await readMessages(db, 'webhook')).toMatchObject([
    { state: 'due', lastError: 'HTTP 307: redirects are not followed' },
  ]);
  await receiver.close();
  await target.close();
});

test.each([408, 425])('a response %i concerns the time, and not the message', async (status) => {
  const receiver = await startHttpReceiver();
  receiver.behave({ does: 'respond', status });
  const { url } = receiver;
  expect(await post({ url, body: '{}', headers: {}, timeoutMs: MINUTE_MS })).toMatchObject({
    outcome: 'unavailable',
    response: `HTTP ${status}`,
  });
  await receiver.close();
});

test('a refused password concerns the mail server, and not the message: no other one is tried', async () => {
  const server = await startMailServer();
  const { dispatch, deliver } = createTestNotifier({
    db,
    env: {
      ALERT_MAIL_TO: 'ops@shop.example',
      ALERT_MAIL_FROM: 'tallyhook@shop.example',
      SMTP_URL: server.url.replace(/:[^:@]+@/, ':expired@'),
    },
  });
  await raise('dispute:dp_1', 'dispute:dp_2');
  await dispatch();
  await deliver();
  expect(await readMessages(db, 'mail')).toMatchObject([
    { state: 'due', attempts: 1, lastError: 'SMTP 535 (EAUTH)' },
    { state: 'due', attempts: 0 },
  ]);
  await server.close();
});

test('the Retry-After of a receiver is respected', async () => {
  const receiver = await startHttpReceiver(SIGNING_SECRET);
  receiver.behave({ does: 'respond', status: 429, headers: { 'retry-after': '120' } });
  const { dispatch, deliver, waitMs } = createTestNotifier({
    db,
    env: { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  await raise('dispute:dp_1');
  await dispatch();
  await deliver();
  expect(await waitMs()).toBe(120_000);
  receiver.behave(ACCEPT);
  advance(119_000);
  await deliver();
  expect(receiver.accepted()).toEqual([]);
  advance(1_000);
  await deliver();
  expect(receiver.accepted()).toHaveLength(1);
  await receiver.close();
});

test('after a lost response the message is sent again with the same id', async () => {
  const receiver = await startHttpReceiver(SIGNING_SECRET);
  receiver.behave({ does: 'read_and_disconnect' });
  const { dispatch, deliver } = createTestNotifier({
    db,
    env: { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  await raise('dispute:dp_1');
  await dispatch();
  await deliver();
  receiver.behave(ACCEPT);
  advance(MINUTE_MS);
  await deliver();
  const [first, second] = receiver.posts;
  expect(receiver.posts).toHaveLength(2);
  expect(second?.id).toBe(first?.id);
  expect(second?.body).toBe(first?.body);
  await receiver.close();
});

describe('during the rotation of a signing secret', () => {
  const secretOf = (name: string) =>
    `whsec_${Buffer.from(`${name}-secret-of-32-bytes------`).toString('base64')}`;
  const [current, previous, foreign] = ['current', 'previous', 'foreign'].map(secretOf);

  test.each([
    ['the new secret', current, 1],
    ['the old secret', previous, 1],
    ['neither', foreign, 0],
  ])(
    'a receiver with only %s accepts the messages that it can verify',
    async (_which, known, count) => {
      const receiver = await startHttpReceiver(known);
      try {
        const env = {
          ALERT_WEBHOOK_URL: receiver.url,
          ALERT_WEBHOOK_SECRET: `${current},${previous}`,
        };
        const notifier = createTestNotifier({ db, env });
        await raise('dispute:dp_rotation');
        await notifier.dispatch();
        await notifier.deliver();
        expect(receiver.accepted()).toHaveLength(count);
      } finally {
        await receiver.close();
      }
    },
  );
});
