/** Many alerts at once are sent as a few digests, and the list of alerts has all of them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { raiseOneTimeAlerts, syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestNotifier, type TestNotifier } from '../support/notifier.ts';
import {
  type HttpReceiver,
  type MailServer,
  SIGNING_SECRET,
  startHttpReceiver,
  startMailServer,
} from '../support/receivers.ts';

let db: TestDatabase;
let hook: HttpReceiver;
let chat: HttpReceiver;
let mail: MailServer;
let notifier: TestNotifier;
beforeEach(async () => {
  db = await createTestDatabase();
  hook = await startHttpReceiver(SIGNING_SECRET);
  chat = await startHttpReceiver();
  mail = await startMailServer();
  notifier = createTestNotifier({
    db,
    env: {
      ALERT_WEBHOOK_URL: hook.url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
      ALERT_SLACK_URL: chat.url,
      ALERT_MAIL_TO: 'ops@shop.example',
      ALERT_MAIL_FROM: 'tallyhook@shop.example',
      SMTP_URL: mail.url,
    },
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all([hook.close(), chat.close(), mail.close()]);
  await db.drop();
});

const DISPUTES = 10_000;
const SECONDS = 60;
const FEW = 3;

/** Raises the alerts of one second. Amounts increase, so that the most urgent ones are known. */
async function raiseSecond(second: number): Promise<void> {
  const perSecond = Math.ceil(DISPUTES / SECONDS);
  const first = second * perSecond;
  const numbers = Array.from({ length: perSecond }, (_, index) => first + index);
  const disputes = numbers.filter((number) => number < DISPUTES);
  await db.transaction((tx) =>
    syncAlerts(
      tx,
      disputes.map((number) => {
        const subject = `dispute:dp_${number}`;
        const detail = { amountMinor: 1_000 + number, currency: number % 4 === 0 ? 'JPY' : 'EUR' };
        const alert = alertOf({ subject, detail, rule: 'dispute_opened' });
        return { subject, rules: ['dispute_opened'], active: [alert] };
      }),
    ),
  );
}

/** Runs the worker for one second. */
async function tick(): Promise<void> {
  await notifier.dispatch();
  await notifier.deliver();
  vi.setSystemTime(Date.now() + 1_000);
}

test('10,000 disputes in a minute are sent as a few digests per channel, with counts and sums, and all are listed', async () => {
  for (let second = 0; second < SECONDS; second += 1) {
    await raiseSecond(second);
    await tick();
  }
  // The remaining ones are sent in the next minute.
  for (let second = 0; second < 130; second += 1) await tick();

  const listed = await db.query(`select count(*) as open from alerts where state = 'open'`);
  expect(listed).toEqual([{ open: DISPUTES }]);
  expect(await db.query('select * from alert_outbox')).toEqual([]);

  const groups = hook.accepted().map(({ body }) => JSON.parse(body) as Digest);
  expect(groups.map(({ type }) => type)).toEqual(groups.map(() => 'alert.digest'));
  for (const received of [hook.accepted(), chat.accepted(), mail.mails]) {
    expect(received.length).toBeGreaterThan(0);
    expect(received.length).toBeLessThanOrEqual(FEW);
  }
  const counted = groups.flatMap(({ data }) => data.groups.map(({ count }) => count));
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(DISPUTES);
  const sums = (code: string): number =>
    groups
      .flatMap(({ data }) => data.groups.flatMap((group) => group.sums))
      .filter(({ currency }) => currency === code)
      .reduce((sum, { amount }) => sum + amount, 0);
  const expected = (isJpy: boolean): number =>
    Array.from({ length: DISPUTES }, (_, number) => number)
      .filter((number) => (number % 4 === 0) === isJpy)
      .reduce((sum, number) => sum + 1_000 + number, 0);
  expect([sums('JPY'), sums('EUR')]).toEqual([expected(true), expected(false)]);
  // The last digest shows the largest amounts as the most urgent ones, because all are equally severe.
  expect(groups.at(-1)?.data.urgent.map(({ subject }) => subject)[0]).toBe(`dispute:dp_9999`);
  expect(chat.accepted().at(-1)?.body).toContain('npx tallyhook alerts list');
});

interface Digest {
  readonly type: string;
  readonly data: {
    readonly groups: readonly {
      readonly count: number;
      readonly sums: readonly { readonly currency: string; readonly amount: number }[];
    }[];
    readonly urgent: readonly { readonly subject: string }[];
  };
}

test('after ten messages within ten minutes, further alerts are sent in digests', async () => {
  for (let number = 0; number < 300; number += 1) {
    await db.transaction((tx) =>
      raiseOneTimeAlerts(tx, [alertOf({ subject: `dispute:dp_flow_${number}` })]),
    );
    await tick();
  }
  for (let second = 0; second < 130; second += 1) await tick();
  // Ten single messages, then one digest per minute.
  expect(hook.accepted().length).toBeLessThanOrEqual(10 + 7);
  const received = hook.accepted().map(({ body }) => JSON.parse(body) as Digest);
  const digested = received
    .flatMap(({ data }) => data.groups ?? [])
    .reduce((sum, { count }) => sum + count, 0);
  expect(digested + received.filter(({ type }) => type === 'alert.opened').length).toBe(300);
});

test('a few alerts of several rules are sent individually', async () => {
  await db.transaction((tx) =>
    raiseOneTimeAlerts(tx, [
      alertOf({ subject: 'dispute:dp_1', rule: 'dispute_opened' }),
      alertOf({ subject: 'payout:po_1', rule: 'payout_failed', severity: 'critical' }),
      alertOf({ subject: 'refund:re_1', rule: 'refund_failed' }),
    ]),
  );
  await tick();
  const titles = chat.accepted().map(({ body }) => (JSON.parse(body) as { text: string }).text);
  expect(titles.map((text) => text.split('\n')[0])).toEqual([
    '[Tallyhook] Payout failed: payout po_1',
    '[Tallyhook] Dispute opened: dispute dp_1',
    '[Tallyhook] Refund failed: refund re_1',
  ]);
});

test('a dispute that was won before its opening was sent is reported as won, not as new', async () => {
  const subject = 'dispute:dp_1';
  const opened = alertOf({ subject, rule: 'dispute_opened', severity: 'critical' });
  const won = alertOf({ subject, rule: 'dispute_won', severity: 'info' });
  const rules = ['dispute_opened'] as const;
  await db.transaction((tx) => syncAlerts(tx, [{ subject, rules, active: [opened] }]));
  await db.transaction((tx) => syncAlerts(tx, [{ subject, rules, active: [], oneTime: [won] }]));
  await tick();
  const received = hook
    .accepted()
    .map(({ body }) => JSON.parse(body) as { type: string; data: object });
  expect(received).toMatchObject([{ type: 'alert.opened', data: { rule: 'dispute_won' } }]);
});

test('a channel gets alerts of at least its minimum severity, and no snoozed ones', async () => {
  await db.transaction((tx) =>
    raiseOneTimeAlerts(tx, [
      alertOf({ subject: 'dispute:dp_mild', severity: 'info' }),
      alertOf({ subject: 'dispute:dp_severe', severity: 'critical' }),
      alertOf({ subject: 'dispute:dp_snoozed', severity: 'critical' }),
    ]),
  );
  await db.query(
    `update alerts set snoozed_until = now() + interval '1 hour', snoozed_by = 'ops'
      where subject = 'dispute:dp_snoozed'`,
  );
  await tick();
  const subjects = (bodies: readonly string[]) =>
    bodies.map((body) => /dp_[a-z]+/.exec(body)?.[0]).toSorted();
  expect(subjects(hook.accepted().map(({ body }) => body))).toEqual(['dp_mild', 'dp_severe']);
  expect(subjects(chat.accepted().map(({ body }) => body))).toEqual(['dp_severe']);
  expect(subjects(mail.mails.map(({ raw }) => raw))).toEqual(['dp_severe']);
});

test('two workers that dispatch at the same time write every message once', async () => {
  const other = createTestNotifier({ db, env: { ALERT_SLACK_URL: chat.url } });
  const same = createTestNotifier({ db, env: { ALERT_SLACK_URL: chat.url } });
  for (let round = 0; round < 5; round += 1) {
    await db.transaction((tx) =>
      raiseOneTimeAlerts(tx, [alertOf({ subject: `dispute:dp_race_${round}` })]),
    );
    await Promise.all([other.dispatch(), same.dispatch(), other.dispatch()]);
    vi.setSystemTime(Date.now() + 2_000);
  }
  const written = await db.query<{ subject: string }>(
    `select content -> 'alert' ->> 'subject' as subject from messages
      where channel = 'slack' order by number`,
  );
  expect(written.map(({ subject }) => subject)).toEqual(
    [0, 1, 2, 3, 4].map((round) => `dispute:dp_race_${round}`),
  );
});
