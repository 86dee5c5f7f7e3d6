/**
 * The database's clock is set back by hours, as by a failover to a server that is behind: what was stored as due
 * later than it can be is due at once, so alerts and messages do not wait for the old time to return.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { raiseOneTimeAlerts } from '../../src/alerts/syncAlerts.ts';
import { LEASE_MS } from '../../src/notify/domain/retry.ts';
import { markResent } from '../../src/notify/store/messageRows.ts';
import { claimMessages } from '../../src/notify/store/messages.ts';
import { sweepMessages } from '../../src/notify/sweep.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { alertOf } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestNotifier, readMessages, type TestNotifier } from '../support/notifier.ts';
import {
  ACCEPT,
  type HttpReceiver,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';

let db: TestDatabase;
let hook: HttpReceiver;
let notifier: TestNotifier;
beforeEach(async () => {
  db = await createTestDatabase();
  hook = await startHttpReceiver(SIGNING_SECRET);
  const env = { ALERT_WEBHOOK_URL: hook.url, ALERT_WEBHOOK_SECRET: SIGNING_SECRET };
  notifier = createTestNotifier({ db, env });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await hook.close();
  await db.drop();
});

function setBack(ms: number): void {
  vi.setSystemTime(Date.now() - ms);
}

function raise(subject: string): Promise<void> {
  return db.transaction((tx) => raiseOneTimeAlerts(tx, [alertOf({ subject })]));
}

function sweep(): Promise<void> {
  return sweepMessages({
    db,
    clock: systemClock,
    channels: ['webhook'],
    readSentChannels: () => Promise.resolve(undefined),
  });
}

/** The messages to the receiver, without those to the log. */
const messages = () => readMessages(db, 'webhook');

test('alerts are dispatched', async () => {
  await raise('dispute:dp_before');
  await notifier.dispatch();
  setBack(2 * HOUR_MS);
  await raise('dispute:dp_after');
  await notifier.dispatch();
  expect(await messages()).toHaveLength(2);
});

test('a channel that was unavailable is tried', async () => {
  hook.behave({ does: 'respond', status: 503 });
  await raise('dispute:dp_before');
  await notifier.dispatch();
  await notifier.deliver();
  setBack(2 * HOUR_MS);
  hook.behave(ACCEPT);
  await raise('dispute:dp_after');
  await notifier.dispatch();
  await notifier.deliver();
  expect(hook.accepted()).toHaveLength(1);
});

test('a message that was never tried is delivered after the next sweep', async () => {
  await raise('dispute:dp_untried');
  await notifier.dispatch();
  setBack(2 * HOUR_MS);
  await sweep();
  await notifier.deliver();
  expect(await messages()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

/** By less than the longest wait of any message or channel, and by more. */
const SET_BACK_MINUTES = [2, 30, 120, 6 * 60 + 2];

test.each(SET_BACK_MINUTES)(
  'by %d minutes: a message that was refused is retried after the next sweep',
  async (minutes) => {
    hook.behave({ does: 'respond', status: 422 });
    await raise('dispute:dp_refused');
    await notifier.dispatch();
    await notifier.deliver();
    setBack(minutes * MINUTE_MS);
    hook.behave(ACCEPT);
    await sweep();
    await notifier.deliver();
    expect(await messages()).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  },
);

test.each(SET_BACK_MINUTES)(
  'by %d minutes: a channel that was unavailable is tried, with the message that found it so',
  async (minutes) => {
    hook.behave({ does: 'respond', status: 503, headers: { 'retry-after': '3600' } });
    await raise('dispute:dp_before');
    await notifier.dispatch();
    await notifier.deliver();
    setBack(minutes * MINUTE_MS);
    hook.behave(ACCEPT);
    await sweep();
    await notifier.deliver();
    expect(await messages()).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  },
);

test('a message that a process had claimed when it ended is delivered after the next sweep', async () => {
  await raise('dispute:dp_claimed');
  await notifier.dispatch();
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const claim = { channel: 'webhook', now, leaseUntil, limit: 1 } as const;
  expect(await claimMessages(db, claim)).toHaveLength(1);
  setBack(30 * MINUTE_MS);
  await sweep();
  await notifier.deliver();
  expect(await messages()).toMatchObject([{ state: 'delivered', attempts: 2 }]);
});

test('a message that a person had sent again is delivered after the next sweep', async () => {
  hook.behave({ does: 'respond', status: 410 });
  await raise('dispute:dp_gone');
  await notifier.dispatch();
  await notifier.deliver();
  expect(await messages()).toMatchObject([{ state: 'failed' }]);
  // The attempt was long before the clock was set back. Resending has the time of the database itself.
  await db.query(
    `update messages set attempt_log = jsonb_set(attempt_log, '{0,at}', to_jsonb(now() - interval '1 day'))`,
  );
  const [message] = await db.query<{ number: number }>(
    `select number from messages where channel = 'webhook'`,
  );
  await markResent(db, message?.number ?? 0);
  setBack(30 * MINUTE_MS);
  hook.behave(ACCEPT);
  await sweep();
  await notifier.deliver();
  expect(await messages()).toMatchObject([{ state: 'delivered', attempts: 2 }]);
});

test('by less than a minute, or not at all, every wait is kept', async () => {
  hook.behave({ does: 'respond', status: 422 });
  await raise('dispute:dp_refused');
  await notifier.dispatch();
  await notifier.deliver();
  const waitMs = await notifier.waitMs();
  await sweep();
  expect(await notifier.waitMs()).toBe(waitMs);
  await raise('dispute:dp_untried');
  vi.setSystemTime(Date.now() + 1_000);
  await notifier.dispatch();
  setBack(MINUTE_MS - 1_000);
  await raise('dispute:dp_next');
  await notifier.dispatch();
  await sweep();
  await notifier.deliver();
  expect(await messages()).toMatchObject([{ attempts: 1 }, { state: 'due', attempts: 0 }]);
});
