import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { readCurrentOrders } from '../../src/ledger/read/orderFeed.ts';
import { orderWithPartsJson } from '../../src/representation/order.ts';
import { type Api, type Body, createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';

const MAX = Number.MAX_SAFE_INTEGER;

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({
    db,
    roles: ['console'],
  });
  api = createApi(tallyhook);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const apply = async (...bodies: readonly Buffer[]): Promise<void> => {
  await applyEach(db, testApplier(db), bodies);
  await createChangeFeed(db).publish();
};
const order = (id: string) => `/api/v1/orders/${encodeURIComponent(id)}`;

describe('one order', () => {
  test('has its totals by currency, its parts and its status', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId }),
      paymentEvent({ orderId, currency: 'EUR', amount: 500, amount_received: 500 }),
      refundEvent(paymentId, { amount: 1500 }),
      disputeEvent(paymentId, { amount: '2000' }),
    );
    const { status, body } = await api.get(order(orderId));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      order_id: orderId,
      order_key: `order:${orderId}`,
      named_by: 'order',
      status: 'disputed',
      moved_to: [],
      expected: null,
      parts_complete: true,
      timeline_complete: true,
      totals: [
        { currency: 'EUR', status: 'paid', amount_captured: 500 },
        {
          currency: 'USD',
          status: 'disputed',
          amount_authorized: 0,
          amount_captured: 6540,
          amount_refunded: 1500,
          amount_refund_pending: 0,
          amount_disputed: 2000,
          amount_charged_back: 0,
        },
      ],
    });
    const parts = body.parts.map(({ kind, amount, amount_captured, deadline_at }: Body) => [
      kind,
      amount,
      amount_captured,
      deadline_at,
    ]);
    expect(parts.slice(0, 2).toSorted()).toEqual([
      ['payment', 500, 500, null],
      ['payment', 6540, 6540, null],
    ]);
    expect(parts.slice(2)).toEqual([
      ['refund', 1500, null, null],
      ['dispute', 2000, null, '2026-11-20T10:00:00.000Z'],
    ]);
  });

  test('is found by the id of a part, and distinguished from an order with the same id', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(paymentEvent({ payment_id: paymentId, orderId }));
    expect((await api.get(order(paymentId))).body.order_id).toBe(orderId);
    expect((await api.get(`${order(paymentId)}?by=payment`)).body.order_id).toBe(orderId);
    expect((await api.get(`${order(paymentId)}?by=order`)).status).toBe(404);
    const [refundId, disputeId] = [unique('ref'), unique('dp')];
    await apply(
      refundEvent(paymentId, { refund_id: refundId }),
      disputeEvent(paymentId, { dispute_id: disputeId }),
    );
    for (const id of [refundId, disputeId]) {
      expect((await api.get(order(id))).body.order_id).toBe(orderId);
      expect((await api.get(`/api/v1/balances?order_id=${id}`)).status).toBe(200);
      expect((await api.get(`${order(id)}?by=payment`)).status).toBe(404);
    }

    const twin = unique('twin');
    await apply(
      paymentEvent({ payment_id: twin }),
      paymentEvent({ orderId: twin, amount: 1, amount_received: 1 }),
    );
    const captured = async (path: string) => {
      const { body } = await api.get(path);
      return [body.named_by, body.totals[0].amount_captured];
    };
    expect(await captured(order(twin))).toEqual(['order', 1]);
    expect(await captured(`${order(twin)}?by=order`)).toEqual(['order', 1]);
    expect(await captured(`${order(twin)}?by=payment`)).toEqual(['payment', 6540]);
  });

  test('names the order that its payments moved to', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId }),
      paymentEvent({ payment_id: paymentId, orderId, modified_at: '2026-11-01T11:00:00.000Z' }),
    );
    expect((await api.get(order(paymentId))).body).toMatchObject({
      status: 'moved',
      moved_to: [`order:${orderId}`],
      totals: [],
      parts: [],
    });
  });

  test('that is unknown is a 404 with a sentence', async () => {
    const { status, body } = await api.get(order('no such/order'));
    expect(status).toBe(404);
    expect(body.error).toMatchObject({ type: 'invalid_request', code: 'IR_05' });
    expect(body.error.message).toContain('"no such/order"');
  });

  test.each([
    'ord/1?x=1&y#z',
    'Bestellung №7 – größer',
    '..',
    '%2e',
    'a b',
    '"; drop table orders; --',
  ])('may have the id %j', async (name) => {
    const orderId = `${name}${unique('.')}`;
    await apply(paymentEvent({ orderId }));
    expect((await api.get(order(orderId))).body.order_id).toBe(orderId);
  });
});

describe('the timeline', () => {
  test('lists every event, snapshot, transfer, status, finding and alert in order, each with its cause', async () => {
    const [orderId, paymentId, refundId] = [unique('ord'), unique('pay'), unique('ref')];
    const payment = { payment_id: paymentId, orderId, amount: 7000, amount_received: 7000 };
    await api.put(order(orderId), { amount: 7000, currency: 'USD' });
    await apply(
      paymentEvent({
        ...payment,
        status: 'processing',
        amount_received: 0,
        modified_at: '2026-11-01T09:00:00.000Z',
      }),
      paymentEvent(payment),
      refundEvent(paymentId, { refund_id: refundId, amount: 7000 }),
      refundEvent(paymentId, {
        refund_id: refundId,
        amount: 7000,
        status: 'failed',
        modified_at: '2026-11-05T10:00:00.000Z',
      }),
      paymentEvent({
        ...payment,
        status: 'mystery',
        modified_at: '2026-11-06T10:00:00.000Z',
      }),
    );
    const { timeline } = (await api.get(`${order(orderId)}?recorded=1`)).body;
    const followed = timeline.filter(({ type }: Body) => type !== 'event');
    const labels = followed.map((entry: Body) =>
      [entry.type, entry.kind, entry.leg ?? entry.class ?? entry.rule ?? entry.status]
        .filter(Boolean)
        .join(' '),
    );
    expect(labels).toEqual([
      'registered',
      'snapshot payment processing',
      'status pending',
      'alert_opened payment_stuck',
      'snapshot payment succeeded',
      'transfer payment captured',
      'status paid',
      'alert_resolved payment_stuck',
      'snapshot refund succeeded',
      'transfer refund requested',
      'transfer refund settled',
      'status refunded',
      'snapshot refund failed',
      'transfer refund settled',
      'transfer refund released',
      'status paid',
      'alert_opened refund_failed',
      'snapshot payment mystery',
      'status partially_captured',
      'finding_opened unknown_status',
      'alert_opened unknown_status',
    ]);
    const times = followed.map(({ at }: Body) => at);
    expect(times).toEqual(times.toSorted());

    const events = timeline.filter(({ type }: Body) => type === 'event');
    expect(events).toHaveLength(5);
    for (const entry of followed) {
      if (!entry.cause) continue;
      const event = events.find(({ number }: Body) => number === entry.cause.event_number);
      expect(entry.cause).toEqual({
        source: 'webhook',
        event_number: event.number,
        event_id: event.event_id,
      });
      expect(timeline.indexOf(event)).toBeLessThan(timeline.indexOf(entry));
    }
    const causes = followed.flatMap(({ cause }: Body) => cause?.event_number ?? []);
    expect(
      causes.map((number: number) => events.findIndex((one: Body) => one.number === number)),
    ).toEqual([0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4]);
    expect(
      timeline.filter(({ is_current }: Body) => is_current).map(({ status }: Body) => status),
    ).toEqual(['failed', 'mystery']);
    expect(followed[5]).toMatchObject({ amount: 7000, amount_cumulative: 7000, currency: 'USD' });
    expect(followed[13]).toMatchObject({
      leg: 'settled',
      debit: 'psp.clearing',
      credit: 'refund.in_flight',
      amount: 7000,
      amount_cumulative: 0,
    });

    const effective = (await api.get(order(orderId))).body.timeline;
    const timeOf = (entry: Body): string => entry.effective_at ?? entry.at;
    expect(effective).toEqual(
      timeline.toSorted((a: Body, b: Body) => timeOf(a).localeCompare(timeOf(b))),
    );
    expect(effective[0]).toMatchObject({
      type: 'snapshot',
      status: 'processing',
      effective_at: '2026-11-01T09:00:00.000000Z',
    });
    const path = `/api/v1/resources/payment/${paymentId}/timeline`;
    const [first] = (await api.get(path)).body.timeline;
    expect(first).toEqual(effective[0]);
    expect((await api.get(`${path}?recorded=1`)).body.timeline[0].type).toBe('event');
  });

  test('has the order of the commits, even if the transaction that began first committed last', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    const captured = (amount: number, second: number) =>
      paymentEvent({
        payment_id: paymentId,
        orderId,
        status: 'partially_captured_and_capturable',
        capture_method: 'manual',
        amount_received: amount,
        amount_capturable: 6540 - amount,
        modified_at: `2026-11-01T10:00:0${second}.000Z`,
      });
    const late: typeof db = {
      ...db,
      transaction: (work) =>
        db.transaction(async (tx) => {
          await tx.query('select now()');
          await apply(captured(1000, 1));
          return work(tx);
        }),
    };
    await testApplier(late).applyBatch(await receive(db, [captured(3000, 2)]));
    await createChangeFeed(db).publish();
    const { timeline } = (await api.get(`${order(orderId)}?recorded=1`)).body;
    const entries = timeline.filter(({ type }: Body) => type !== 'event');
    const received = entries.flatMap(({ amount_received }: Body) => amount_received ?? []);
    expect(received).toEqual([1000, 3000]);
    const inAll = entries.flatMap(({ leg, amount_cumulative }: Body) =>
      leg === 'captured' ? [amount_cumulative] : [],
    );
    expect(inAll).toEqual([1000, 3000]);
    expect(entries.map(({ at }: Body) => at)).toEqual(entries.map(({ at }: Body) => at).toSorted());
  });

  test('lists the end of a finding after the observation that closed it', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId, status: 'mystery' }),
      paymentEvent({ payment_id: paymentId, orderId, modified_at: '2026-11-01T11:00:00.000Z' }),
    );
    const { timeline } = (await api.get(`${order(orderId)}?recorded=1`)).body;
    const types = timeline.map(({ type }: Body) => type);
    expect(types).toContain('finding_opened');
    expect(types.slice(-2)).toEqual(['finding_closed', 'alert_resolved']);
    expect(types.indexOf('finding_closed')).toBeGreaterThan(types.lastIndexOf('snapshot'));
  });

  test('has the decline of a failed payment, with advice', async () => {
    const orderId = unique('ord');
    await apply(
      paymentEvent({
        orderId,
        status: 'failed',
        amount_received: 0,
        unified_code: 'UE_2002',
        unified_message: 'Additional authentication is required',
      }),
    );
    const { parts, timeline } = (await api.get(order(orderId))).body;
    const decline = {
      unified_code: 'UE_2002',
      message: 'Additional authentication is required',
      retry: 'with_3ds',
    };
    expect(parts[0].decline).toMatchObject(decline);
    const snapshot = timeline.find(({ type }: Body) => type === 'snapshot');
    expect(snapshot.decline).toMatchObject(decline);
    expect(snapshot.text).toContain('UE_2002 Additional authentication is required');
    expect(snapshot.text).toContain('Retry with 3-D Secure');
  });

  test('is limited to a thousand parts, and shows if there are more', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(paymentEvent({ payment_id: paymentId, orderId }));
    const addParts = (from: number, to: number) =>
      db.query(
        `insert into resources
         select (jsonb_populate_record(r, jsonb_build_object('id', r.id || '_' || i))).*
           from resources r, generate_series($2::int, $3::int) i
          where r.id = $1`,
        [paymentId, from, to],
      );
    await addParts(2, 1_000);
    const whole = (await api.get(order(orderId))).body;
    expect(whole.parts).toHaveLength(1_000);
    expect(whole.parts_complete).toBe(true);
    await addParts(1_001, 1_001);
    const cut = (await api.get(order(orderId))).body;
    expect(cut.parts).toHaveLength(1_000);
    expect(cut.parts_complete).toBe(false);
    const pages: { kind: string; id: string }[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = (await api.get(`${order(orderId)}/parts?limit=100${next}`)).body;
      pages.push(...page.parts);
      cursor = page.next_cursor;
    }
    expect(pages).toHaveLength(1_001);
    expect(new Set(pages.map(({ id }) => id)).size).toBe(1_001);
    // Order webhooks have the same parts.
    const [stored] = await readCurrentOrders(db, [`order:${orderId}`]);
    if (!stored) throw new Error('the order does not exist');
    expect(orderWithPartsJson(stored)).toMatchObject({ parts: cut.parts, parts_complete: false });
  });

  test('a payment with more refunds and disputes than are listed states so', async () => {
    const paymentId = unique('pay');
    await apply(paymentEvent({ payment_id: paymentId }), refundEvent(paymentId, { amount: 1 }));
    const read = async () => (await api.get(`/api/v1/payments/${paymentId}`)).body;
    await db.query(
      `insert into resources
       select (jsonb_populate_record(r, jsonb_build_object('id', r.id || '_' || i))).*
         from resources r, generate_series(1, 999) i
        where r.kind = 'refund' and r.payment_id = $1`,
      [paymentId],
    );
    const whole = await read();
    expect(whole.refunds).toHaveLength(1_000);
    expect(whole.children_complete).toBe(true);
    await db.query(
      `insert into resources
       select (jsonb_populate_record(r, jsonb_build_object('id', r.id || '_more'))).*
         from resources r
        where r.kind = 'refund' and r.payment_id = $1
        order by r.id limit 1`,
      [paymentId],
    );
    const cut = await read();
    expect(cut.refunds).toHaveLength(1_000);
    expect(cut.children_complete).toBe(false);
  });

  test('is limited to the newest entries, and shows if there are more', async () => {
    const orderId = unique('ord');
    await db.query(
      `insert into order_expectations (order_key, order_id, currency, amount_minor, registered_by,
                                       registered_at, replaced_at)
       select 'order:' || $1, $1, 'USD', i, 'shop', now() - (601 - i) * interval '1 hour', now()
         from generate_series(1, 600) i`,
      [orderId],
    );
    await api.put(order(orderId), { amount: 1, currency: 'USD' });
    const { timeline, timeline_complete } = (await api.get(order(orderId))).body;
    expect(timeline_complete).toBe(false);
    expect(timeline).toHaveLength(500);
    expect(timeline.at(-1).by).toBe('admin');
    expect(timeline[0].amount).toBe(102);
  });
});

describe('amounts', () => {
  test.each([
    ['JPY', 500, '500 JPY'],
    ['KWD', 6540, '6.540 KWD'],
    ['USD', 6540, '65.40 USD'],
    ['USD', 0, '0.00 USD'],
    ['USD', MAX, '90071992547409.91 USD'],
    ['JPY', MAX, '9007199254740991 JPY'],
    ['KWD', MAX, '9007199254740.991 KWD'],
  ])('of %s are exact: %i is %s', async (currency, amount, text) => {
    const orderId = unique('ord');
    await apply(paymentEvent({ orderId, currency, amount, amount_received: amount }));
    const { body } = await api.put(order(orderId), { amount, currency });
    expect(body.order.expected).toMatchObject({ amount, comparison: 'paid', difference: 0 });
    const found = (await api.get(order(orderId))).body;
    expect(found.totals).toMatchObject([{ currency, amount_captured: amount }]);
    const snapshot = found.timeline.find(({ type }: Body) => type === 'snapshot');
    expect(snapshot).toMatchObject({ amount, amount_received: amount });
    expect(snapshot.text).toContain(`received ${text}`);
  });
});

describe('registering an expected amount', () => {
  const comparison = async (orderId: string) => (await api.get(order(orderId))).body.expected;

  test('shows the order before its first payment, and compares the payments with the expected amount', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    const put = await api.put(order(orderId), { amount: 10_000, currency: 'USD' });
    expect(put.status).toBe(201);
    expect(put.body).toMatchObject({
      registration: 'registered',
      order: { order_id: orderId, status: 'registered', totals: [] },
    });
    expect(await comparison(orderId)).toMatchObject({ comparison: 'unpaid', difference: -10_000 });
    await apply(
      paymentEvent({ payment_id: paymentId, orderId, amount: 4_000, amount_received: 4_000 }),
    );
    expect(await comparison(orderId)).toMatchObject({
      comparison: 'underpaid',
      difference: -6_000,
    });
    await apply(paymentEvent({ orderId, amount: 6_000, amount_received: 6_000 }));
    expect(await comparison(orderId)).toMatchObject({ comparison: 'paid', difference: 0 });
    await apply(paymentEvent({ orderId, amount: 1, amount_received: 1 }));
    expect(await comparison(orderId)).toMatchObject({ comparison: 'overpaid', difference: 1 });
    await apply(refundEvent(paymentId));
    expect(await comparison(orderId)).toMatchObject({ comparison: 'overpaid', difference: 1 });
  });

  test('detects a payment in another currency', async () => {
    const orderId = unique('ord');
    await api.put(order(orderId), { amount: 6540, currency: 'USD' });
    await apply(paymentEvent({ orderId, currency: 'EUR' }));
    expect(await comparison(orderId)).toMatchObject({ comparison: 'other_currency' });
  });

  test('is idempotent, and another amount replaces with both on record, by name', async () => {
    const orderId = unique('ord');
    const shop = createApi(tallyhook, await createTestToken(db, { name: 'shop', role: 'shop' }));
    await api.put(order(orderId), { amount: 100, currency: 'usd' });
    const again = await shop.put(order(orderId), { amount: 100, currency: 'USD' });
    expect([again.status, again.body.registration]).toEqual([200, 'unchanged']);
    expect(again.body.order.expected.registered_by).toBe('admin');
    const other = await shop.put(order(orderId), { amount: 200, currency: 'USD' });
    expect([other.status, other.body.registration]).toEqual([200, 'replaced']);
    const { expected, timeline } = (await api.get(order(orderId))).body;
    expect(expected).toMatchObject({ amount: 200, currency: 'USD', registered_by: 'shop' });
    expect(timeline.map(({ text }: Body) => text)).toEqual([
      'admin registered an expected amount of 1.00 USD.',
      'shop registered an expected amount of 2.00 USD.',
    ]);
  });

  test('is possible for a payment without an order id', async () => {
    const paymentId = unique('pay');
    await apply(paymentEvent({ payment_id: paymentId }));
    const put = await api.put(`${order(paymentId)}?by=payment`, { amount: 6540, currency: 'USD' });
    expect(put.body.order).toMatchObject({
      order_key: `payment:${paymentId}`,
      status: 'paid',
      expected: { comparison: 'paid' },
    });
  });

  test.each([
    ['no body', undefined],
    ['no amount', { currency: 'USD' }],
    ['no currency', { amount: 1 }],
    ['a negative amount', { amount: -1, currency: 'USD' }],
    ['a fraction', { amount: 1.5, currency: 'USD' }],
    ['a text', { amount: '100', currency: 'USD' }],
    ['an amount that is not exact', { amount: MAX + 1, currency: 'USD' }],
    ['an invalid currency', { amount: 1, currency: 'US' }],
    ['a currency that is valid only in upper case', { amount: 1, currency: 'aß' }],
    ['an unknown field', { amount: 1, currency: 'USD', note: 'x' }],
    ['a list', [{ amount: 1, currency: 'USD' }]],
  ])('rejects %s and registers nothing', async (_what, body) => {
    const orderId = unique('ord');
    const { status, body: response } = await api.put(order(orderId), body);
    expect(status).toBe(400);
    expect(response.error.message).toMatch(/body/i);
    expect((await api.get(order(orderId))).status).toBe(404);
  });
});

describe('the list', () => {
  const walk = async (query: string, between: () => Promise<void>) => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body }: { body: Body } = await api.get(
        `/api/v1/orders?limit=3${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...body.orders.map(({ order_key }: Body) => order_key.replace('order:', '')));
      cursor = body.next_cursor;
      await between();
    }
    return seen;
  };

  test('returns every order once, newest first, while others are added', async () => {
    const orderIds = Array.from({ length: 8 }, () => unique('list'));
    for (const orderId of orderIds) await apply(paymentEvent({ orderId }));
    const added: string[] = [];
    const seen = await walk('', async () => {
      const orderId = unique('later');
      added.push(orderId);
      if (added.length < 5) await apply(paymentEvent({ orderId }));
    });
    expect(seen.filter((orderId) => orderIds.includes(orderId))).toEqual(orderIds.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.some((orderId) => added.includes(orderId))).toBe(false);
  });

  test('returns orders of the same time once each, even if a page ends between them', async () => {
    const bodies = Array.from({ length: 7 }, () =>
      paymentEvent({ orderId: unique('together'), status: 'cancelled', amount_received: 0 }),
    );
    await testApplier(db).applyBatch(await receive(db, bodies));
    const seen = await walk('&status=cancelled', () => Promise.resolve());
    expect(seen.filter((orderId) => orderId.startsWith('together'))).toHaveLength(7);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('returns only orders with the requested status', async () => {
    const orderId = unique('ord');
    await apply(paymentEvent({ orderId, status: 'failed', amount_received: 0 }));
    const { body } = await api.get('/api/v1/orders?status=failed');
    expect(body.orders.map((one: Body) => one.order_id)).toContain(orderId);
    expect(new Set(body.orders.map(({ status }: Body) => status))).toEqual(new Set(['failed']));
  });

  test('returns orders that are only registered if requested, page by page', async () => {
    const orderIds = Array.from({ length: 5 }, () => unique('registered'));
    for (const orderId of orderIds) await api.put(order(orderId), { amount: 1, currency: 'USD' });
    const seen = await walk('&status=registered', () => Promise.resolve());
    expect(seen.filter((orderId) => orderIds.includes(orderId))).toEqual(orderIds.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
  });
});
