/**
 * What an outage of a channel costs. The shop's channel sends sixteen messages at once, so it meets
 * an outage sixteen times; it is one outage all the same.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { insertMessages, type NewMessage } from '../../src/notify/store/messages.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createSpeaking, readMessages, type Speaking } from '../support/notifier.ts';
import {
  ACCEPT,
  type HttpReceiver,
  SIGNING_SECRET,
  startHttpReceiver,
} from '../support/receivers.ts';

let db: TestDatabase;
let shop: HttpReceiver;
let speaking: Speaking;
beforeEach(async () => {
  db = await createTestDatabase();
  shop = await startHttpReceiver(SIGNING_SECRET);
  speaking = createSpeaking({
    db,
    env: { ORDER_WEBHOOK_URL: shop.url, ORDER_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await shop.close();
  await db.drop();
});

function advance(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

function notice(type: string, orderId: string): NewMessage {
  return {
    id: `msg_${orderId}_${type}`,
    channel: 'shop',
    content: { kind: 'order', type, orderId, at: new Date().toISOString(), data: {} },
    stream: `shop/${orderId}`,
  };
}

function write(...notices: readonly NewMessage[]): Promise<void> {
  return insertMessages(db, notices, new Date());
}

const due = async (): Promise<number> =>
  (await readMessages(db, 'shop')).filter(({ state }) => state === 'due').length;

test('an outage that all slots meet at once is over for all of them after the first pause', async () => {
  await write(...Array.from({ length: 40 }, (_, number) => notice('order.paid', `ord_${number}`)));
  shop.behave({ does: 'answer', status: 503 });
  await speaking.deliver();
  expect(shop.posts.length).toBeGreaterThan(1);
  expect(new Set(speaking.waits)).toEqual(new Set([3_750]));

  shop.behave(ACCEPT);
  advance(3_750);
  await speaking.deliver();
  expect(await due()).toBe(0);
});

test('an outage after messages that were refused begins with the first pause', async () => {
  await write(...Array.from({ length: 8 }, (_, number) => notice('order.paid', `ord_${number}`)));
  shop.behave({ does: 'answer', status: 400 });
  await speaking.deliver();
  expect(shop.posts).toHaveLength(8);

  await write(notice('order.paid', 'ord_next'));
  shop.behave({ does: 'answer', status: 503 });
  await speaking.deliver();
  expect(speaking.waits.at(-1)).toBe(3_750);
});

test('a channel that is away is not kept shut by a message that waits behind another', async () => {
  await write(notice('order.paid', 'ord_1'));
  shop.behave({ does: 'answer', status: 503 });
  await speaking.deliver();
  // It waits for itself longer than the channel; what comes after it is due, and has to wait, too.
  await db.query(`update messages set next_attempt_at = next_attempt_at + interval '1 minute'`);
  await write(notice('order.refunded', 'ord_1'));
  advance(3_750);
  await speaking.deliver();
  expect(shop.posts).toHaveLength(1);

  shop.behave(ACCEPT);
  await write(notice('order.paid', 'ord_2'));
  await speaking.deliver();
  expect(shop.accepted()).toHaveLength(1);
});

test('of all who come to find out whether a channel is back one is sent', async () => {
  await write(...Array.from({ length: 40 }, (_, number) => notice('order.paid', `ord_${number}`)));
  shop.behave({ does: 'answer', status: 503 });
  await speaking.deliver();
  const before = shop.posts.length;
  advance(3_750);
  const other = createSpeaking({
    db,
    env: { ORDER_WEBHOOK_URL: shop.url, ORDER_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  await Promise.all([speaking, other].flatMap(({ deliver }) => [deliver(), deliver(), deliver()]));
  expect(shop.posts.length).toBe(before + 1);
});
