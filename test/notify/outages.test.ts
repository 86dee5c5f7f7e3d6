/**
 * Outages of a channel. Order webhooks are sent sixteen at a time, so one outage fails sixteen attempts,
 * which count as one failure.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { insertMessages, type NewMessage } from '../../src/notify/store/messages.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import { readMessages } from '../support/notifier.ts';
import { ACCEPT } from '../support/receivers.ts';
import { type ShopReceiver, startShopReceiver } from '../support/shopReceiver.ts';
import { waitFor } from '../support/waitFor.ts';

let receiver: ShopReceiver;
let db: ShopReceiver['db'];
let shop: ShopReceiver['shop'];
let notifier: ShopReceiver['notifier'];
beforeEach(async () => {
  receiver = await startShopReceiver();
  ({ db, shop, notifier } = receiver);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await receiver.close();
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

function webhook(type: string, orderId: string): NewMessage {
  return {
    id: `msg_${orderId}_${type}`,
    channel: 'shop',
    content: { kind: 'order', type, orderId, at: new Date().toISOString(), data: {} },
    stream: `shop/${orderId}`,
  };
}

function write(...messages: readonly NewMessage[]): Promise<void> {
  return insertMessages(db, messages, new Date());
}

const due = async (): Promise<number> =>
  (await readMessages(db, 'shop')).filter(({ state }) => state === 'due').length;

test('an outage that fails sixteen attempts is over after the first wait', async () => {
  await write(...Array.from({ length: 40 }, (_, number) => webhook('order.paid', `ord_${number}`)));
  shop.behave({ does: 'respond', status: 503 });
  await notifier.deliver();
  expect(shop.posts.length).toBeGreaterThan(1);
  expect(await notifier.waitMs()).toBe(3_750);

  shop.behave(ACCEPT);
  advance(3_750);
  await notifier.deliver();
  expect(await due()).toBe(0);
});

test('an outage after rejected messages begins with the first wait', async () => {
  await write(...Array.from({ length: 8 }, (_, number) => webhook('order.paid', `ord_${number}`)));
  shop.behave({ does: 'respond', status: 400 });
  await notifier.deliver();
  expect(shop.posts).toHaveLength(8);

  await write(webhook('order.paid', 'ord_next'));
  shop.behave({ does: 'respond', status: 503 });
  await notifier.deliver();
  expect(await notifier.waitMs()).toBe(3_750);
});

test('a message that waits behind another one of its order does not prolong an outage', async () => {
  await write(webhook('order.paid', 'ord_1'));
  shop.behave({ does: 'respond', status: 503 });
  await notifier.deliver();
  // The first message waits longer than the channel; the second one is due and waits behind it.
  await db.query(`update messages set next_attempt_at = next_attempt_at + interval '1 minute'`);
  await write(webhook('order.refunded', 'ord_1'));
  advance(3_750);
  await notifier.deliver();
  expect(shop.posts).toHaveLength(1);

  shop.behave(ACCEPT);
  await write(webhook('order.paid', 'ord_2'));
  await notifier.deliver();
  expect(shop.accepted()).toHaveLength(1);
});

test('workers that probe a channel at the same time send one message', async () => {
  await write(...Array.from({ length: 40 }, (_, number) => webhook('order.paid', `ord_${number}`)));
  shop.behave({ does: 'respond', status: 503 });
  await notifier.deliver();
  const before = shop.posts.length;
  advance(3_750);
  const other = receiver.anotherNotifier();
  await Promise.all([notifier, other].flatMap(({ deliver }) => [deliver(), deliver(), deliver()]));
  expect(shop.posts.length).toBe(before + 1);
});

test('a worker that probes a channel after its clock was set back is the only one', async () => {
  await write(webhook('order.paid', 'ord_before'));
  shop.behave({ does: 'respond', status: 503 });
  await notifier.deliver();
  advance(-HOUR_MS);
  await write(webhook('order.paid', 'ord_1'), webhook('order.paid', 'ord_2'));
  shop.behave({ does: 'never_respond' });
  const before = shop.posts.length;
  const probing = notifier.deliver();
  await waitFor('the probe', () => shop.posts.length > before);
  await receiver.anotherNotifier().deliver();
  await probing;
  expect(shop.posts.length).toBe(before + 1);
});
