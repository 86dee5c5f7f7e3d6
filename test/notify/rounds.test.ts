/**
 * Rounds of a channel (src/notify/deliver.ts): one transaction records what was accepted and claims what is due,
 * and nothing is sent twice or left because a round failed or a message came meanwhile.
 */
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import type { Channel } from '../../src/notify/channels/channel.ts';
import { createDeliverer, type Deliverer } from '../../src/notify/deliver.ts';
import { runNotifier } from '../../src/notify/notifier.ts';
import { insertMessages } from '../../src/notify/store/messages.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';
import { readMessages } from '../support/notifier.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  vi.useRealTimers();
  await db.drop();
});

const SLOTS = 16;

/** Writes one message for each order; messages of one order are sent one after the other. */
function write(...orders: readonly string[]): Promise<void> {
  return insertMessages(
    db,
    orders.map((order, place) => ({
      id: `msg_${order}_${place}`,
      channel: 'shop',
      content: { kind: 'order', type: 'order.paid', orderId: order, at: '', data: {} },
      stream: `shop/${order}`,
    })),
    new Date(),
  );
}

interface TestChannel {
  readonly deliverer: Deliverer;
  /** Ids in the order in which they were sent. */
  readonly sent: string[];
  transactions(): number;
}

/** @param around wraps a transaction, by its number from 1 */
function channelOf(
  send: Channel['send'],
  around: (number: number, run: () => Promise<unknown>) => Promise<unknown> = (_, run) => run(),
  closing = new AbortController(),
): TestChannel {
  const sent: string[] = [];
  let transactions = 0;
  const counting: Database = {
    ...db,
    transaction: async <T>(work: Parameters<typeof db.transaction<T>>[0]): Promise<T> => {
      transactions += 1;
      return (await around(transactions, () => db.transaction(work))) as T;
    },
  };
  const channel: Channel = {
    name: 'shop',
    slots: SLOTS,
    send: (message) => {
      sent.push(message.id);
      return send(message);
    },
  };
  const deliverer = createDeliverer(
    { db: counting, clock: systemClock, log: silentLog, channels: [channel], random: () => 0.5 },
    closing.signal,
  );
  return { deliverer, sent, transactions: () => transactions };
}

const DELIVERED = { outcome: 'delivered', response: 'HTTP 204' } as const;
const states = async (): Promise<readonly string[]> =>
  (await readMessages(db, 'shop')).map(({ state }) => state);

test('messages for all slots are claimed in one transaction, and recorded in another', async () => {
  await write(...Array.from({ length: SLOTS }, (_, number) => `ord_${number}`));
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { deliverer, sent, transactions } = channelOf(async () => {
    // With fewer claimed than there are slots, it ends all the same, and the count of transactions fails.
    if (sent.length === 1) setTimeout(release, 1_000).unref();
    if (sent.length === SLOTS) release();
    await released;
    return DELIVERED;
  });
  await deliverer.run('shop');
  expect(new Set(await states())).toEqual(new Set(['delivered']));
  expect(sent).toHaveLength(SLOTS);
  // The results arrive in one turn of the event loop, so the second round has all of them.
  expect(transactions()).toBe(2);
});

test('the next message of an order is sent by the round that records the one before', async () => {
  await write('ord_1', 'ord_1', 'ord_1');
  const { deliverer, sent, transactions } = channelOf(() => Promise.resolve(DELIVERED));
  await deliverer.run('shop');
  expect(sent).toEqual(['msg_ord_1_0', 'msg_ord_1_1', 'msg_ord_1_2']);
  expect(transactions()).toBe(4);
});

const isGone = () => Promise.reject(new Error('the database is gone'));

test('a delivery that could not be recorded is recorded later, and no process sends it again', async () => {
  await write('ord_1');
  const { deliverer, sent } = channelOf(
    () => Promise.resolve(DELIVERED),
    (number, run) => (number === 2 ? isGone() : run()),
  );
  const other = channelOf(() => Promise.resolve(DELIVERED));
  await deliverer.run('shop');
  // The lease has ended, and another process is the first to look.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60_000 });
  await other.deliverer.run('shop');
  expect([...sent, ...other.sent]).toEqual(['msg_ord_1_0']);
  expect(await states()).toEqual(['delivered']);
});

test('a process that is shut down tries once more to record a delivery', async () => {
  await write('ord_1');
  const closing = new AbortController();
  const { deliverer } = channelOf(
    () => Promise.resolve(DELIVERED),
    (number, run) => {
      if (number !== 2) return run();
      closing.abort();
      return isGone();
    },
    closing,
  );
  await deliverer.run('shop');
  expect(await states()).toEqual(['delivered']);
});

test('a process that is shut down without its database leaves a delivery unrecorded', async () => {
  await write('ord_1');
  const closing = new AbortController();
  const { deliverer, transactions } = channelOf(
    () => Promise.resolve(DELIVERED),
    (number, run) => {
      if (number === 1) return run();
      closing.abort();
      return isGone();
    },
    closing,
  );
  await deliverer.run('shop');
  expect(await states()).toEqual(['due']);
  expect(transactions()).toBe(3);
});

test('a message that comes while a round is in progress is delivered', async () => {
  const { deliverer, sent } = channelOf(
    () => Promise.resolve(DELIVERED),
    async (number, run) => {
      const claimed = await run();
      if (number === 1) {
        await write('ord_late');
        void deliverer.run('shop');
      }
      return claimed;
    },
  );
  await deliverer.run('shop');
  expect(sent).toEqual(['msg_ord_late_0']);
  expect(await states()).toEqual(['delivered']);
});

/** A promise that a test resolves. */
function pending(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('a channel that stays busy keeps one promise, however often it is run', async () => {
  await write('ord_1');
  const response = pending();
  const { deliverer } = channelOf(() => response.promise.then(() => DELIVERED));
  const runs = new Set(Array.from({ length: 10_000 }, () => deliverer.run('shop')));
  response.resolve();
  await Promise.all(runs);
  expect(runs.size).toBe(1);
  expect(await states()).toEqual(['delivered']);
});

test('the loops keep nothing for each run of a channel that stays busy, and wait for its end', async () => {
  await write('ord_1');
  const closing = new AbortController();
  const response = pending();
  const { deliverer, sent } = channelOf(
    () => response.promise.then(() => DELIVERED),
    undefined,
    closing,
  );
  // What waits for the end of a run is kept until then, and is added by this method of its promise.
  const waiting = new Map<Promise<void>, MockInstance<Promise<void>['then']>>();
  let runs = 0;
  const run: Deliverer['run'] = (channel) => {
    runs += 1;
    const running = deliverer.run(channel);
    if (!waiting.has(running)) waiting.set(running, vi.spyOn(running, 'then'));
    return running;
  };
  const countWaiting = () => [...waiting.values()].flatMap(({ mock }) => mock.calls).length;
  const notifier = runNotifier(
    {
      db,
      clock: systemClock,
      log: silentLog,
      deliverer: { run },
      alerts: () => Promise.resolve(new Set()),
      orders: {
        enqueue: () => Promise.resolve(new Set(['shop'])),
        hasNews: () => Promise.resolve(true),
      },
    },
    closing.signal,
  );
  await waitFor('some runs during the delivery', () => sent.length === 1 && runs > 10);
  expect([waiting.size, countWaiting()]).toEqual([1, 0]);
  closing.abort();
  await waitFor('the wait for the delivery', () => countWaiting() > 0);
  response.resolve();
  await notifier;
  expect(await states()).toEqual(['delivered']);
});
