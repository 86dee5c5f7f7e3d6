/**
 * Order webhooks: each change of an order's status or totals is sent, in the order of the changes and with
 * the order as the admin API has it, even to a receiver that fails.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { createOrderFeed } from '../../src/ledger/read/orderFeed.ts';
import { enqueueOrderWebhooks, hasOrderChanges } from '../../src/notify/orderWebhooks.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { isOrderWebhook } from '../../src/webhooks/verify.ts';
import type { OrderWebhook } from '../../src/webhooks/webhooks.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { readMessages } from '../support/notifier.ts';
import { refundEvent as refundOf } from '../support/payments.ts';
import { seededRandom, testSeed } from '../support/random.ts';
import { readReceived } from '../support/receivedWebhook.ts';
import { ACCEPT } from '../support/receivers.ts';
import { testReconciler } from '../support/reconciler.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { type ShopReceiver, startShopReceiver } from '../support/shopReceiver.ts';
import { ADMIN_TOKEN, startTallyhook } from '../support/tallyhook.ts';

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

function enqueue(): Promise<unknown> {
  const newMessageId = () => `msg_${unique('order')}`;
  return enqueueOrderWebhooks({ db, feed: createOrderFeed(db), clock: systemClock, newMessageId });
}

/** Enqueues webhooks for new changes and delivers what is due. */
async function send(): Promise<void> {
  await enqueue();
  await notifier.deliver();
}

function apply(...bodies: readonly Buffer[]): Promise<void> {
  return applyEach(db, testApplier(db), bodies);
}

/** An event of an order's payment; `minute` orders its versions. */
function paymentEvent(orderId: string, minute: number, fields: object): Buffer {
  const at = new Date(Date.UTC(2026, 10, 1, 10, minute)).toISOString();
  return eventBody(
    paymentObject({
      payment_id: `pay_${orderId}`,
      metadata: { order_id: orderId },
      modified_at: at,
      ...fields,
    }),
    { timestamp: at },
  );
}

function refundEvent(orderId: string, refund: string, amount: number): Buffer {
  return refundOf(`pay_${orderId}`, {
    refund_id: `ref_${orderId}_${refund}`,
    amount,
    modified_at: '2026-11-01T11:00:00.000Z',
  });
}

function disputeEvent(orderId: string, status: string, minute: number): Buffer {
  const at = new Date(Date.UTC(2026, 10, 2, 10, minute)).toISOString();
  const object = {
    dispute_id: `dp_${orderId}`,
    payment_id: `pay_${orderId}`,
    dispute_stage: 'dispute',
    dispute_status: `dispute_${status}`,
    amount: '6540',
    currency: 'USD',
    modified_at: at,
    created_at: at,
  };
  return eventBody(object, { eventType: `dispute_${status}`, contentType: 'dispute_details' });
}

/** Each is signed, and has the fields of its type. */
const webhooks = (): readonly OrderWebhook[] =>
  shop.accepted().map(readReceived).filter(isOrderWebhook);

test('changes before the first run send no webhook', async () => {
  await apply(paymentEvent('ord_old', 0, {}));
  await send();
  await apply(paymentEvent('ord_new', 0, {}));
  await send();
  expect(webhooks().map(({ type, data }) => [type, data.order.order_id])).toEqual([
    ['order.paid', 'ord_new'],
  ]);
});

test('a check for news finds changes that have no number yet, and those that another publisher numbered', async () => {
  const feed = createOrderFeed(db);
  const check = () => hasOrderChanges({ db, feed });
  expect(await check()).toBe(true);
  await enqueue();
  expect(await check()).toBe(false);
  await apply(paymentEvent('ord_looked', 0, {}));
  expect(await check()).toBe(true);
  await createChangeFeed(db).publish();
  expect(await check()).toBe(true);
  await enqueue();
  expect(await check()).toBe(false);
});

test('a first import sends webhooks only for changes since the installation', async () => {
  const sandbox = await startTestSandbox();
  try {
    await send();
    const pay = (order: string) =>
      sandbox.call('POST', '/payments', cardPayment({ metadata: { order_id: order } }));
    await pay('ord_before');
    await sandbox.advance(MINUTE_MS);
    const { now } = await sandbox.control('GET', '/clock');
    await db.query('insert into installation (merchant_id, stamped_at) values ($1, $2)', [
      sandbox.merchantId,
      now,
    ]);
    await pay('ord_since');
    await sandbox.advance(5 * MINUTE_MS);
    const clock = { nowMs: () => Date.parse(now) + 5 * MINUTE_MS };
    await testReconciler({ db, service: sandbox, clock }).runAll({
      fromMs: Date.parse(now) - 60 * MINUTE_MS,
    });
    await send();
    expect(webhooks().map(({ type, data }) => [type, data.order.order_id])).toEqual([
      ['order.paid', 'ord_since'],
    ]);
    const changes = await db.query<{ id: string }>('select id from changes where is_history');
    expect(changes.map(({ id }) => id)).toEqual(['ord_before']);
  } finally {
    await sandbox.close();
  }
});

/** A payment of 200 days before the installation, which is now by the clock of this process and its sandbox. */
async function payLongAgo(
  sandbox: TestSandbox,
  {
    refund,
    refundedDaysAgo = 0,
    others = 0,
  }: { refund?: number; refundedDaysAgo?: number; others?: number } = {},
): Promise<{ readonly id: string; readonly nowMs: number }> {
  const order = cardPayment({ metadata: { order_id: 'ord_long_ago' } });
  const { body } = await sandbox.call('POST', '/payments', order);
  for (let other = 1; other <= others; other += 1) {
    const metadata = { order_id: `ord_long_ago_${other}` };
    await sandbox.call('POST', '/payments', cardPayment({ metadata }));
  }
  vi.setSystemTime(Date.now() + (200 - refundedDaysAgo) * DAY_MS);
  if (refund !== undefined) {
    await sandbox.call('POST', '/refunds', { payment_id: body.payment_id, amount: refund });
    vi.setSystemTime(Date.now() + refundedDaysAgo * DAY_MS);
  }
  await db.query('insert into installation (merchant_id, stamped_at) values ($1, $2)', [
    sandbox.merchantId,
    new Date().toISOString(),
  ]);
  return { id: body.payment_id, nowMs: Date.now() };
}

// The schedule imports 120 days by itself, before a person can import what is older.
test('an import of an earlier past sends no webhooks and misses none', async () => {
  const sandbox = await startTestSandbox();
  try {
    await send();
    const { nowMs } = await payLongAgo(sandbox);
    const reconciler = testReconciler({ db, service: sandbox });
    expect(await reconciler.run()).toMatchObject({ state: 'done', found: 0 });
    const report = await reconciler.run({ fromMs: nowMs - 300 * DAY_MS });
    expect(report).toMatchObject({ state: 'done', repaired: 1, missed: 0 });
    await send();
    expect(webhooks()).toEqual([]);
    const changes = await db.query<{ id: string }>('select id from changes where is_history');
    expect(changes.map(({ id }) => id)).toEqual(['ord_long_ago']);
  } finally {
    await sandbox.close();
  }
});

// A customer who opens an order of last year must not have it shipped again.
test('what is looked up of the time before the installation sends no webhooks', async () => {
  const sandbox = await startTestSandbox();
  try {
    await send();
    const paid = await payLongAgo(sandbox);
    const { retrieve } = testReconciler({ db, service: sandbox });
    const retrieved = await retrieve({ kind: 'payment', id: paid.id }, { lane: 'operator' });
    expect(retrieved).toMatchObject({ outcome: 'applied', after: { status: 'succeeded' } });
    await send();
    expect(webhooks()).toEqual([]);
  } finally {
    await sandbox.close();
  }
});

test('a payment that only an imported refund names sends no webhooks', async () => {
  const sandbox = await startTestSandbox();
  try {
    await send();
    const paid = await payLongAgo(sandbox, { refund: 1000, refundedDaysAgo: 20 });
    const reconciler = testReconciler({ db, service: sandbox });
    await reconciler.runAll();
    await reconciler.retrieve({ kind: 'payment', id: paid.id }, { lane: 'refresh' });
    await send();
    expect(webhooks()).toEqual([]);
    const [order] = await db.query(
      `select status from orders where order_key = 'order:ord_long_ago'`,
    );
    expect(order).toEqual({ status: 'partially_refunded' });
  } finally {
    await sandbox.close();
  }
});

// A run applies more than ten differences from their rows.
test.each([
  ['refresh', 0],
  ['an import', 0],
  ['an import of many payments', 10],
])(
  'a refund since the installation is reported under its order although %s finds the payment, which is older',
  async (by, others) => {
    const sandbox = await startTestSandbox();
    try {
      await send();
      const paid = await payLongAgo(sandbox, { others });
      const refund = eventBody(
        {
          refund_id: unique('ref'),
          payment_id: paid.id,
          status: 'succeeded',
          amount: 500,
          currency: 'USD',
          modified_at: new Date(paid.nowMs).toISOString(),
        },
        { contentType: 'refund_details', merchantId: sandbox.merchantId },
      );
      await applyEach(db, testApplier(db, sandbox.merchantId), [refund]);
      const { retrieve, run } = testReconciler({ db, service: sandbox });
      if (by === 'refresh') await retrieve({ kind: 'payment', id: paid.id }, { lane: 'refresh' });
      else await run({ fromMs: paid.nowMs - 300 * DAY_MS });
      await send();
      const reported = webhooks().filter(({ data }) => data.order.order_id === 'ord_long_ago');
      expect(reported.map(({ type }) => type)).toEqual(['order.partially_refunded']);
      const imported = await db.query('select id from changes where is_history');
      expect(imported).toHaveLength(others);
    } finally {
      await sandbox.close();
    }
  },
);

test('an old payment that an import adds to an order of today is reported', async () => {
  const sandbox = await startTestSandbox();
  try {
    await send();
    const { nowMs } = await payLongAgo(sandbox);
    await applyEach(db, testApplier(db, sandbox.merchantId), [
      eventBody(
        paymentObject({
          payment_id: unique('pay'),
          metadata: { order_id: 'ord_long_ago' },
          modified_at: new Date(nowMs).toISOString(),
        }),
        { merchantId: sandbox.merchantId },
      ),
    ]);
    await send();
    await testReconciler({ db, service: sandbox }).run({ fromMs: nowMs - 300 * DAY_MS });
    await send();
    expect(webhooks().map(({ type }) => type)).toEqual(['order.paid', 'order.updated']);
  } finally {
    await sandbox.close();
  }
});

test('imported history does not suppress a later refund of the same order', async () => {
  const sandbox = await startTestSandbox();
  try {
    await send();
    const paid = await sandbox.call(
      'POST',
      '/payments',
      cardPayment({ metadata: { order_id: 'ord_1' } }),
    );
    const refund = (amount: number) =>
      sandbox.call('POST', '/refunds', { payment_id: paid.body.payment_id, amount });
    await refund(1000);
    await sandbox.advance(5 * MINUTE_MS);
    const { now } = await sandbox.control('GET', '/clock');
    const clock = { nowMs: () => Date.parse(now) };
    const reconciler = testReconciler({ db, service: sandbox, clock });
    await reconciler.runAll({ fromMs: Date.parse(now) - 60 * MINUTE_MS });
    const later = eventBody(
      {
        refund_id: unique('ref'),
        payment_id: paid.body.payment_id,
        status: 'succeeded',
        amount: 500,
        currency: 'USD',
        modified_at: now,
      },
      { contentType: 'refund_details', merchantId: sandbox.merchantId },
    );
    await applyEach(db, testApplier(db, sandbox.merchantId), [later]);
    const changes = await db.query(
      `select subject, change, is_history from change_log order by id desc limit 2`,
    );
    expect(changes).toEqual([
      { subject: 'order:ord_1', change: 'details', is_history: false },
      { subject: 'order:ord_1', change: 'status', is_history: true },
    ]);
    await send();
    expect(webhooks().map(({ type }) => type)).toEqual(['order.updated']);
  } finally {
    await sandbox.close();
  }
});

test("each change of an order's status sends a webhook, and so does each change of its totals", async () => {
  await send();
  const events = [
    paymentEvent('ord_1', 0, {
      status: 'requires_capture',
      capture_method: 'manual',
      amount_capturable: 6540,
      amount_received: 0,
    }),
    paymentEvent('ord_1', 1, { capture_method: 'manual' }),
    refundEvent('ord_1', 'a', 1000),
    refundEvent('ord_1', 'b', 500),
    disputeEvent('ord_1', 'opened', 0),
    disputeEvent('ord_1', 'won', 1),
    refundEvent('ord_1', 'c', 5040),
    paymentEvent('ord_2', 0, { status: 'failed', amount_received: 0 }),
    paymentEvent('ord_3', 0, { status: 'cancelled', amount_received: 0 }),
  ];
  for (const event of events) {
    await apply(event);
    await send();
  }
  const sent = webhooks().map(({ type, data }) => [data.order.order_id, type]);
  expect(sent).toEqual([
    ['ord_1', 'order.authorized'],
    ['ord_1', 'order.paid'],
    ['ord_1', 'order.partially_refunded'],
    ['ord_1', 'order.updated'],
    ['ord_1', 'order.disputed'],
    ['ord_1', 'order.partially_refunded'],
    ['ord_1', 'order.refunded'],
    ['ord_2', 'order.failed'],
    ['ord_3', 'order.cancelled'],
  ]);
  const numbers = webhooks().map(({ data }) => data.change.number);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(shop.posts.map(({ id }) => id)).size).toBe(sent.length);
});

test('a change of details that keeps the totals sends no webhook', async () => {
  await send();
  await apply(paymentEvent('ord_1', 0, {}));
  await send();
  await apply(paymentEvent('ord_1', 5, { description: 'gift' }));
  await send();
  const [last] = await db.query<{ change: string }>(
    'select change from changes order by number desc limit 1',
  );
  expect(last).toEqual({ change: 'details' });
  expect(webhooks().map(({ type }) => type)).toEqual(['order.paid']);
});

test('the order in a webhook has the JSON of the admin API', async () => {
  await send();
  await apply(paymentEvent('ord_1', 0, {}), refundEvent('ord_1', 'a', 1000));
  await send();
  const tallyhook = await startTallyhook({ db, roles: ['console'] });
  try {
    const response = await fetch(`http://127.0.0.1:${tallyhook.consolePort}/api/v1/orders/ord_1`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const body = (await response.json()) as Record<string, unknown>;
    const { timeline, timeline_complete, refresh, ...state } = body;
    expect([timeline, timeline_complete, refresh]).toEqual([expect.any(Array), true, null]);
    expect(webhooks().at(-1)?.data.order).toEqual(state);
  } finally {
    await tallyhook.close();
  }
});

test('changes during a stop send their webhooks afterwards', async () => {
  await send();
  await apply(paymentEvent('ord_1', 0, { status: 'processing', amount_received: 0 }));
  await apply(paymentEvent('ord_1', 1, {}));
  await apply(refundEvent('ord_1', 'a', 6540));
  await send();
  expect(webhooks().map(({ type }) => type)).toEqual([
    'order.pending',
    'order.paid',
    'order.refunded',
  ]);
  // Each webhook has the current order.
  expect(webhooks().map(({ data }) => data.order.status)).toEqual([
    'refunded',
    'refunded',
    'refunded',
  ]);
});

test('two workers at the same time write each webhook once', async () => {
  await enqueue();
  await apply(...Array.from({ length: 30 }, (_, number) => paymentEvent(`ord_${number}`, 0, {})));
  // Numbers the changes first, so that all workers read the same ones.
  await createOrderFeed(db).readLastNumber();
  await Promise.all([enqueue(), enqueue(), enqueue()]);
  expect(await readMessages(db, 'shop')).toHaveLength(30);
});

const SEED = testSeed();

test(`a receiver that fails at random gets all webhooks of each order in sequence (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  await send();
  const orderIds = Array.from({ length: 12 }, (_, number) => `ord_${number}`);
  for (const orderId of orderIds) {
    await apply(
      paymentEvent(orderId, 0, { status: 'processing', amount_received: 0 }),
      paymentEvent(orderId, 1, {}),
      refundEvent(orderId, 'a', 100),
      refundEvent(orderId, 'b', 6440),
    );
  }
  await enqueue();
  shop.behave(() => {
    const share = random();
    if (share < 0.15) return { does: 'respond', status: 500 };
    if (share < 0.3) return { does: 'respond', status: 400 };
    if (share < 0.4) return { does: 'read_and_disconnect' };
    return ACCEPT;
  });
  const dueMessages = async () =>
    (await readMessages(db, 'shop')).filter(({ state }) => state === 'due');
  for (let round = 0; round < 400 && (await dueMessages()).length > 0; round += 1) {
    await notifier.deliver();
    vi.setSystemTime(Date.now() + MINUTE_MS);
  }
  expect(await dueMessages()).toEqual([]);
  for (const orderId of orderIds) {
    const own = shop.posts
      .map(({ body, id, outcome }) => ({ id, outcome, ...(JSON.parse(body) as OrderWebhook) }))
      .filter(({ data }) => data.order.order_id === orderId);
    // The first attempts are in sequence, whether accepted or not: no webhook overtakes an earlier one.
    const firsts = own.filter(({ id }, index) => own.findIndex((one) => one.id === id) === index);
    expect(firsts.map(({ type }) => type)).toEqual([
      'order.pending',
      'order.paid',
      'order.partially_refunded',
      'order.refunded',
    ]);
    const accepted = own.filter(({ outcome }) => outcome === 'accept').map(({ id }) => id);
    expect(accepted).toEqual(firsts.map(({ id }) => id));
  }
});

test('a webhook that is rejected for three days fails with an alert, and the next one is sent', async () => {
  await send();
  await apply(paymentEvent('ord_1', 0, {}));
  await apply(refundEvent('ord_1', 'a', 1000));
  await enqueue();
  shop.behave(({ type }) => (type === 'order.paid' ? { does: 'respond', status: 422 } : ACCEPT));
  await notifier.deliver();
  expect(webhooks()).toEqual([]);
  vi.setSystemTime(Date.now() + 72 * 60 * MINUTE_MS);
  await notifier.deliver();
  expect(webhooks().map(({ type }) => type)).toEqual(['order.partially_refunded']);
  const raised = await db.query(
    `select severity, order_id as "orderId", state from alerts where rule = 'order_webhook_failed'`,
  );
  expect(raised).toEqual([{ severity: 'warning', orderId: 'ord_1', state: 'resolved' }]);
});
