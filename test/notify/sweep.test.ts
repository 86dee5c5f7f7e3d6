/**
 * The sweep of messages: a message to a configured channel never fails without an attempt, and messages
 * to a channel that was removed from the settings do not stay due.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { raiseOneTimeAlerts } from '../../src/alerts/syncAlerts.ts';
import { readSentChannels, saveProcess } from '../../src/monitor/store/processes.ts';
import type { ChannelName } from '../../src/notify/domain/message.ts';
import { claimMessages, insertMessages } from '../../src/notify/store/messages.ts';
import { sweepMessages } from '../../src/notify/sweep.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { alertOf, readStoredAlerts } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestNotifier, readMessages, type TestNotifier } from '../support/notifier.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';

let db: TestDatabase;
let receiver: HttpReceiver;
let notifier: TestNotifier;
beforeEach(async () => {
  db = await createTestDatabase();
  receiver = await startHttpReceiver(SIGNING_SECRET);
  notifier = createTestNotifier({
    db,
    env: {
      ALERT_WEBHOOK_URL: receiver.url,
      ALERT_WEBHOOK_SECRET: SIGNING_SECRET,
      ORDER_WEBHOOK_URL: receiver.url,
      ORDER_WEBHOOK_SECRET: SIGNING_SECRET,
    },
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await receiver.close();
  await db.drop();
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** Sweeps with only these channels configured. */
function sweep(...channels: readonly ChannelName[]): Promise<void> {
  return sweepMessages({
    db,
    clock: systemClock,
    channels,
    readSentChannels: () => readSentChannels(db),
  });
}

function writeOrderWebhook(): Promise<void> {
  const at = new Date();
  const content = {
    kind: 'order',
    type: 'order.paid',
    orderId: 'ord_1',
    at: at.toISOString(),
    data: {},
  } as const;
  const message = { id: 'msg_1', channel: 'shop', content, stream: 'shop/ord_1' } as const;
  return insertMessages(db, [message], at);
}

test('after a stop of five days the messages of a configured channel are delivered', async () => {
  await writeOrderWebhook();
  advance(5 * DAY_MS);
  await sweep('log', 'shop');
  await notifier.deliver();
  expect(await readMessages(db)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('after a stop of five days an order webhook that is refused again fails and raises an alert', async () => {
  await writeOrderWebhook();
  advance(5 * DAY_MS);
  await sweep('log', 'shop');
  receiver.behave({ does: 'respond', status: 422 });
  await notifier.deliver();
  expect(await readMessages(db)).toMatchObject([{ state: 'failed', attempts: 1 }]);
  expect(await readStoredAlerts(db)).toMatchObject([
    { rule: 'order_webhook_failed', notifications: ['opened'] },
  ]);
});

test('messages to a channel that was removed from the settings fail after three days', async () => {
  await writeOrderWebhook();
  advance(3 * DAY_MS - 1);
  await sweep('log');
  expect(await readMessages(db)).toMatchObject([{ state: 'due' }]);
  advance(2);
  await sweep('log');
  expect(await readMessages(db)).toMatchObject([
    { state: 'failed', attempts: 0, lastError: 'never tried' },
  ]);
});

test('a message that was delivered stays so when its channel is removed from the settings', async () => {
  await writeOrderWebhook();
  await notifier.deliver();
  advance(5 * DAY_MS);
  await sweep('log');
  expect(await readMessages(db)).toMatchObject([{ state: 'delivered', lastError: null }]);
});

test('a message with an attempt in progress does not fail with its channel', async () => {
  await writeOrderWebhook();
  advance(5 * DAY_MS);
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + MINUTE_MS);
  await claimMessages(db, { channel: 'shop', now, leaseUntil, limit: 1 });
  await sweep('log');
  expect(await readMessages(db)).toMatchObject([{ state: 'due', attempts: 1 }]);
  advance(2 * MINUTE_MS);
  await sweep('log');
  expect(await readMessages(db)).toMatchObject([{ state: 'failed', attempts: 1 }]);
});

test('a channel that is down is reported until it is removed from the settings', async () => {
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [alertOf({ subject: 'dispute:dp_1' })]));
  await notifier.dispatch();
  receiver.behave({ does: 'respond', status: 410 });
  await notifier.deliver();
  const down = { rule: 'channel_down', subject: 'channel:webhook' };
  const alerts = () => readStoredAlerts(db, [down.subject]);
  const health = () => db.query('select channel from channel_health');

  await sweep('log', 'webhook');
  expect(await alerts()).toMatchObject([{ ...down, state: 'open', notifications: ['opened'] }]);
  expect(await health()).toEqual([{ channel: 'webhook' }]);

  // Nothing is due, and another process may have the channel.
  advance(6 * HOUR_MS);
  await sweep('log');
  expect(await alerts()).toMatchObject([{ ...down, state: 'open' }]);

  advance(HOUR_MS);
  await sweep('log');
  expect(await alerts()).toMatchObject([
    { ...down, state: 'resolved', notifications: ['opened', 'resolved'] },
  ]);
  expect(await health()).toEqual([]);
});

test('the alert about a channel ends when no process that sends has the channel any more', async () => {
  await db.transaction((tx) => raiseOneTimeAlerts(tx, [alertOf({ subject: 'dispute:dp_1' })]));
  await notifier.dispatch();
  receiver.behave({ does: 'respond', status: 410 });
  await notifier.deliver();
  const states = async () =>
    (await readStoredAlerts(db, ['channel:webhook'])).map(({ state }) => state);
  const report = (place: number, channels: readonly string[]) =>
    saveProcess(db, {
      id: `00000000-0000-4000-8000-00000000000${place}`,
      host: 'host',
      pid: place,
      roles: ['alerts'],
      version: '1',
      isReady: true,
      failures: [],
      channels,
    });

  await report(1, ['log', 'webhook']);
  await report(2, ['log']);
  await sweep('log');
  expect(await states()).toEqual(['open']);

  await db.query('delete from processes where pid = 1');
  await report(3, ['log']);
  // A version that does not report its channels may have it.
  await db.query('update processes set channels = null where pid = 2');
  await sweep('log');
  expect(await states()).toEqual(['open']);

  await db.query('delete from processes where pid = 2');
  await sweep('log');
  expect(await states()).toEqual(['resolved']);
});

// The process that sweeps was started before the channel was configured, or has another environment.
test('a channel that another process tries is not taken for removed', async () => {
  await writeOrderWebhook();
  receiver.behave({ does: 'respond', status: 503 });
  const down = { rule: 'channel_down', subject: 'channel:shop' };
  for (let minutes = 0; minutes < 30; minutes += 5) {
    await notifier.deliver();
    await sweep('log');
    advance(5 * MINUTE_MS);
  }
  expect(await readStoredAlerts(db, [down.subject])).toMatchObject([
    { ...down, state: 'open', notifications: ['opened'] },
  ]);
});

test('an order webhook that another process still tries does not fail without an alert', async () => {
  await writeOrderWebhook();
  receiver.behave({ does: 'respond', status: 422 });
  for (let hours = 0; hours < 72; hours += 6) {
    await notifier.deliver();
    advance(6 * HOUR_MS);
  }
  advance(MINUTE_MS);
  await sweep('log');
  expect(await readMessages(db)).toMatchObject([{ state: 'due' }]);
  await notifier.deliver();
  expect(await readMessages(db)).toMatchObject([{ state: 'failed' }]);
  expect(await readStoredAlerts(db, ['message:msg_1'])).toMatchObject([
    { rule: 'order_webhook_failed' },
  ]);
});
