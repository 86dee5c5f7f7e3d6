import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import {
  applyEach,
  readOpenFindings,
  readOrderStates,
  readResourceStates,
  receive,
  testApplier,
} from '../support/ledger.ts';
import { permutations } from '../support/observations.ts';
import { waitFor } from '../support/waitFor.ts';

let db: TestDatabase;
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db);
});
afterAll(() => db.drop());

function refundObject(paymentId: string, fields: object = {}): { refund_id: string } {
  return {
    refund_id: unique('ref'),
    payment_id: paymentId,
    amount: 1000,
    currency: 'USD',
    status: 'succeeded',
    created: '2026-11-02T10:00:00.000Z',
    modified_at: '2026-11-02T10:00:00.000Z',
    ...fields,
  } as { refund_id: string };
}

function disputeObject(paymentId: string, fields: object = {}): { dispute_id: string } {
  return {
    dispute_id: unique('dp'),
    payment_id: paymentId,
    amount: '6540',
    currency: 'USD',
    dispute_stage: 'dispute',
    dispute_status: 'dispute_opened',
    updated_at: '2026-11-03T10:00:00.000Z',
    ...fields,
  } as { dispute_id: string };
}

const asRefund = { eventType: 'refund_succeeded', contentType: 'refund_details' };
const asDispute = { eventType: 'dispute_opened', contentType: 'dispute_details' };
const asPayout = { eventType: 'payout_success', contentType: 'payout_details' };

describe('the state of a resource and its order', () => {
  const life = (paymentId: string, orderId: string) => {
    const common = {
      payment_id: paymentId,
      amount: 10_000,
      currency: 'USD',
      capture_method: 'manual',
      metadata: { order_id: orderId },
      created: '2026-11-01T10:00:00.000Z',
    };
    return [
      { ...common, status: 'processing', modified_at: '2026-11-01T10:00:01.000Z' },
      {
        ...common,
        status: 'requires_capture',
        amount_capturable: 10_000,
        amount_received: 0,
        modified_at: '2026-11-01T10:00:02.000Z',
      },
      {
        ...common,
        status: 'partially_captured_and_capturable',
        amount_capturable: 6_000,
        amount_received: 4_000,
        modified_at: '2026-11-01T10:00:03.000Z',
      },
      {
        ...common,
        status: 'partially_captured_and_capturable',
        amount_capturable: 3_000,
        amount_received: 7_000,
        modified_at: '2026-11-01T10:00:03.000Z',
      },
      {
        ...common,
        status: 'succeeded',
        amount_capturable: 0,
        amount_received: 10_000,
        modified_at: '2026-11-01T10:00:04.000Z',
      },
    ];
  };

  test('does not depend on the order of the events of a payment, or on duplicates', async () => {
    const ends = new Set<string>();
    const places = [0, 1, 2, 3, 4];
    for (const order of permutations(places)) {
      const [paymentId, orderId] = [unique('pay'), unique('ord')];
      const bodies = life(paymentId, orderId).map((object) => eventBody(object));
      const deliveries = [...order, ...order.slice(0, 2)].flatMap((place) => bodies[place] ?? []);
      await applyEach(db, applier, deliveries);
      const states = [
        await readResourceStates(db, [paymentId]),
        await readOrderStates(db, [orderId]),
      ];
      ends.add(JSON.stringify(states).replaceAll(paymentId, 'P').replaceAll(orderId, 'O'));
    }
    expect(ends.size).toBe(1);
    expect([...ends][0]).toContain('"status":"paid","authorized_minor":0,"captured_minor":10000');
  });

  test('does not depend on whether events are applied in a batch or one by one', async () => {
    const [one, other] = [unique('pay'), unique('pay')];
    const [oneOrder, otherOrder] = [unique('ord'), unique('ord')];
    await applyEach(
      db,
      applier,
      life(one, oneOrder).map((object) => eventBody(object)),
    );
    const ids = await receive(
      db,
      life(other, otherOrder)
        .map((object) => eventBody(object))
        .reverse(),
    );
    expect(await applier.applyBatch(ids)).toBe(5);
    const [first, second] = [
      await readResourceStates(db, [one]),
      await readResourceStates(db, [other]),
    ];
    expect(second).toEqual(
      first.map((row) => ({ ...row, id: other, order_key: `order:${otherOrder}` })),
    );
  });
});

describe('an event is applied once', () => {
  test('a second application of its number has no effect', async () => {
    const ids = await receive(db, [eventBody(paymentObject())]);
    expect(await applier.applyBatch(ids)).toBe(1);
    expect(await applier.applyBatch(ids)).toBe(0);
  });

  test('two workers that claim the same numbers apply each event once', async () => {
    const ids = await receive(
      db,
      Array.from({ length: 40 }, () => eventBody(paymentObject())),
    );
    const [a, b] = await Promise.all([
      applier.applyBatch(ids),
      testApplier(db).applyBatch([...ids].reverse()),
    ]);
    expect(a + b).toBe(40);
  });
});

describe('order totals', () => {
  test('are the sums of the payments of an order, per currency', async () => {
    const orderId = unique('ord');
    const metadata = { order_id: orderId };
    await applyEach(db, applier, [
      eventBody(paymentObject({ metadata })),
      eventBody(paymentObject({ metadata, amount: 100, amount_received: 100 })),
      eventBody(paymentObject({ metadata, amount: 500, amount_received: 500, currency: 'JPY' })),
    ]);
    expect(await readOrderStates(db, [orderId])).toMatchObject([
      { order_status: 'paid', currency: 'JPY', captured_minor: 500 },
      { order_status: 'paid', currency: 'USD', captured_minor: 6640 },
    ]);
  });

  test('cover a payment without an order id as an order of its own, with a key that no order id can equal', async () => {
    const payment = paymentObject();
    await applyEach(db, applier, [
      eventBody(payment),
      eventBody(paymentObject({ metadata: { order_id: payment.payment_id }, amount_received: 1 })),
    ]);
    expect(await readOrderStates(db, [payment.payment_id])).toMatchObject([
      { order_key: `order:${payment.payment_id}`, captured_minor: 1 },
      { order_key: `payment:${payment.payment_id}`, captured_minor: 6540 },
    ]);
  });

  test('include refunds and disputes of a payment, and no payouts', async () => {
    const orderId = unique('ord');
    const payment = paymentObject({ metadata: { order_id: orderId } });
    const payout = {
      payout_id: unique('po'),
      status: 'success',
      amount: 900,
      currency: 'USD',
      merchant_order_reference_id: orderId,
    };
    await applyEach(db, applier, [
      eventBody(payment),
      eventBody(refundObject(payment.payment_id), asRefund),
      eventBody(payout, asPayout),
    ]);
    expect(await readOrderStates(db, [orderId])).toMatchObject([
      { status: 'partially_refunded', captured_minor: 6540, refunded_minor: 1000 },
    ]);
    await applyEach(db, applier, [eventBody(disputeObject(payment.payment_id), asDispute)]);
    expect(await readOrderStates(db, [orderId])).toMatchObject([
      { status: 'disputed', disputed_minor: 6540, refunded_minor: 1000 },
    ]);
    expect(await readResourceStates(db, [payout.payout_id])).toMatchObject([{ order_key: null }]);
  });
});

describe('a refund or dispute that arrives before its payment', () => {
  test('creates a stub of the payment that is due for a retrieve', async () => {
    const paymentId = unique('pay');
    const refund = refundObject(paymentId);
    await applyEach(db, applier, [eventBody(refund, asRefund)]);
    expect(await readResourceStates(db, [paymentId, refund.refund_id])).toMatchObject([
      { kind: 'payment', status: null, is_check_wanted: true, order_key: `payment:${paymentId}` },
      { kind: 'refund', status: 'succeeded', order_key: `payment:${paymentId}` },
    ]);
  });

  test('creates the stub also when the only body of the payment is unreadable', async () => {
    const payment = paymentObject({ amount: 65.4 });
    const refund = refundObject(payment.payment_id);
    const bodies = [eventBody(payment), eventBody(refund, asRefund)];
    await applier.applyBatch(await receive(db, bodies));
    const orderKey = `payment:${payment.payment_id}`;
    expect(await readResourceStates(db, [payment.payment_id, refund.refund_id])).toMatchObject([
      { kind: 'payment', status: null, is_check_wanted: true, order_key: orderKey },
      { kind: 'refund', status: 'succeeded', order_key: orderKey },
    ]);
  });

  test('joins the order of its payment when that arrives', async () => {
    const [paymentId, orderId] = [unique('pay'), unique('ord')];
    await applyEach(db, applier, [
      eventBody(refundObject(paymentId), asRefund),
      eventBody(disputeObject(paymentId, { amount: 200 }), asDispute),
      eventBody(paymentObject({ payment_id: paymentId, metadata: { order_id: orderId } })),
    ]);
    expect(await readOrderStates(db, [orderId, paymentId])).toMatchObject([
      {
        order_key: `order:${orderId}`,
        captured_minor: 6540,
        refunded_minor: 1000,
        disputed_minor: 200,
      },
      { order_key: `payment:${paymentId}`, order_status: 'moved', moved_to: [`order:${orderId}`] },
    ]);
  });

  test('joins one order when all of them are in one batch, in any sequence', async () => {
    const ends = new Set<string>();
    for (const order of permutations([0, 1, 2])) {
      const [paymentId, orderId] = [unique('pay'), unique('ord')];
      const bodies = [
        eventBody(refundObject(paymentId), asRefund),
        eventBody(disputeObject(paymentId), asDispute),
        eventBody(paymentObject({ payment_id: paymentId, metadata: { order_id: orderId } })),
      ];
      await applier.applyBatch(
        await receive(
          db,
          order.flatMap((place) => bodies[place] ?? []),
        ),
      );
      const states = await readOrderStates(db, [orderId]);
      ends.add(JSON.stringify(states).replaceAll(orderId, 'O').replaceAll(paymentId, 'P'));
    }
    expect(ends.size).toBe(1);
    expect([...ends][0]).toContain(
      '"refunded_minor":1000,"refund_pending_minor":0,"disputed_minor":6540',
    );
  });
});

describe('a payment that changes', () => {
  test('its currency leaves no amount in the old currency', async () => {
    const orderId = unique('ord');
    const payment = paymentObject({ metadata: { order_id: orderId } });
    await applyEach(db, applier, [
      eventBody(payment),
      eventBody({ ...payment, currency: 'EUR', modified_at: '2026-11-01T11:00:00.000Z' }),
    ]);
    expect(await readOrderStates(db, [orderId])).toMatchObject([
      { currency: 'EUR', captured_minor: 6540 },
    ]);
  });

  test('its order takes its children along, and the empty order names the new one', async () => {
    const [from, to] = [unique('ord'), unique('ord')];
    const payment = paymentObject({ metadata: { order_id: from } });
    await applyEach(db, applier, [
      eventBody(payment),
      eventBody(refundObject(payment.payment_id), asRefund),
      eventBody({
        ...payment,
        metadata: { order_id: to },
        modified_at: '2026-11-01T11:00:00.000Z',
      }),
    ]);
    expect(await readOrderStates(db, [from, to])).toMatchObject(
      [
        {
          order_key: `order:${from}`,
          order_status: 'moved',
          moved_to: [`order:${to}`],
          currency: null,
        },
        { order_key: `order:${to}`, captured_minor: 6540, refunded_minor: 1000 },
      ].sort((a, b) => (a.order_key < b.order_key ? -1 : 1)),
    );
  });
});

describe('an order that payments leave for another one', () => {
  const payments = (orderId: string, count: number) =>
    Array.from({ length: count }, () => paymentObject({ metadata: { order_id: orderId } }));
  const movedTo = async (orderId: string) => {
    const rows = await db.query<{ status: string; movedTo: string[] }>(
      'select status, moved_to as "movedTo" from orders where order_key = $1',
      [`order:${orderId}`],
    );
    return rows[0];
  };
  const move = (payment: object, orderId: string, minute: number) =>
    eventBody({
      ...payment,
      metadata: { order_id: orderId },
      modified_at: `2026-11-01T11:${minute}:00.000Z`,
    });

  test('names that order even if it keeps other payments', async () => {
    const [from, to] = [unique('ord'), unique('ord')];
    const [one, other] = payments(from, 2);
    await applyEach(db, applier, [one, other].map(eventBodyOf));
    await applyEach(db, applier, [move(one ?? {}, to, 10)]);
    expect(await movedTo(from)).toEqual({ status: 'paid', movedTo: [`order:${to}`] });
    expect(await movedTo(to)).toEqual({ status: 'paid', movedTo: [] });
  });

  test('names each new order once, whether its payments leave together or one by one', async () => {
    const [from, to, elsewhere] = [unique('ord'), unique('ord'), unique('ord')];
    const [one = {}, other = {}, third = {}, last = {}] = payments(from, 4);
    await applyEach(db, applier, [one, other, third, last].map(eventBodyOf));
    await applier.applyBatch(await receive(db, [move(one, to, 10), move(other, to, 10)]));
    await applyEach(db, applier, [move(third, to, 11), move(last, elsewhere, 12)]);
    expect(await movedTo(from)).toEqual({
      status: 'moved',
      movedTo: [`order:${to}`, `order:${elsewhere}`],
    });
  });

  const eventBodyOf = (payment: object = {}) => eventBody(payment);
});

describe('a finding about a payment', () => {
  test('opens with an unknown status and closes with a known one', async () => {
    const payment = paymentObject({ status: 'teleported' });
    await applyEach(db, applier, [eventBody(payment)]);
    const subject = `payment:${payment.payment_id}`;
    expect(await readOpenFindings(db, subject)).toEqual([{ class: 'unknown_status' }]);
    expect(await readResourceStates(db, [payment.payment_id])).toMatchObject([
      { is_check_wanted: true },
    ]);
    await applyEach(db, applier, [
      eventBody({ ...payment, status: 'succeeded', modified_at: '2026-11-01T11:00:00.000Z' }),
    ]);
    expect(await readOpenFindings(db, subject)).toEqual([]);
  });

  test('opens for an impossible status transition, which is applied nevertheless', async () => {
    const payment = paymentObject({ status: 'cancelled', amount_received: 0 });
    await applyEach(db, applier, [
      eventBody(payment),
      eventBody({
        ...payment,
        status: 'succeeded',
        amount_received: 6540,
        modified_at: '2026-11-01T11:00:00.000Z',
      }),
    ]);
    expect(await readOpenFindings(db, `payment:${payment.payment_id}`)).toEqual([
      { class: 'status_conflict' },
    ]);
    expect(await readResourceStates(db, [payment.payment_id])).toMatchObject([
      { captured_minor: 6540 },
    ]);
  });
});

describe('a refund that another worker applies at the same time', () => {
  /** How many sessions of this database wait for a lock. */
  const readWaiting = async (): Promise<number> => {
    const rows = await db.query<{ count: number }>(
      `select count(*) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.count ?? 0;
  };

  test('keeps its order even if the second body does not name its payment', async () => {
    const orderId = unique('ord');
    const metadata = { order_id: orderId };
    const payment = paymentObject({ metadata });
    await applyEach(db, applier, [eventBody(payment)]);
    const refund = refundObject(payment.payment_id, { status: 'pending' });
    const later = {
      ...refund,
      payment_id: undefined,
      status: 'succeeded',
      modified_at: '2026-11-02T11:00:00.000Z',
    };
    const first = await receive(db, [eventBody(refund, asRefund)]);
    const second = await receive(db, [
      eventBody(paymentObject({ metadata, amount: 100, amount_received: 100 })),
      eventBody(later, asRefund),
    ]);

    const workers: Promise<number>[] = [];
    await db.transaction(async (tx) => {
      await tx.query('select from orders where order_key = $1 for update', [`order:${orderId}`]);
      for (const ids of [first, second]) {
        workers.push(testApplier(db).applyBatch(ids));
        await waitFor(
          'the worker to wait for the order',
          async () => (await readWaiting()) === workers.length,
        );
      }
    });
    expect(await Promise.all(workers)).toEqual([1, 2]);
    expect(await readResourceStates(db, [refund.refund_id])).toMatchObject([
      { order_key: `order:${orderId}`, status: 'succeeded' },
    ]);
    expect(await readOrderStates(db, [orderId])).toMatchObject([
      { captured_minor: 6640, refunded_minor: 1000 },
    ]);
  });
});

/**
 * Twelve concurrent workers on one order, with payments that join and leave it and children that
 * arrive before their parents. The failures it prevents: two workers miss each other's part, or
 * deadlock.
 */
test('twelve workers racing on one order lose nothing and never deadlock', async () => {
  const [orderId, otherId] = [unique('ord'), unique('ord')];
  const payments = Array.from({ length: 12 }, () => unique('pay'));
  const bodies = payments.flatMap((paymentId) => {
    const payment = paymentObject({ payment_id: paymentId, metadata: { order_id: otherId } });
    return [
      eventBody(refundObject(paymentId, { amount: 10 }), asRefund),
      eventBody(refundObject(paymentId, { amount: 5 }), asRefund),
      eventBody(payment),
      eventBody({
        ...payment,
        metadata: { order_id: orderId },
        modified_at: '2026-11-01T11:00:00.000Z',
      }),
    ];
  });
  // Some payments begin in the other order, so that one order becomes empty.
  const [ahead, racing] = [
    bodies.filter((_body, place) => place % 8 === 2),
    bodies.filter((_body, place) => place % 8 !== 2),
  ];
  await applyEach(db, applier, ahead);
  const ids = await receive(db, racing);
  await Promise.all(
    Array.from({ length: 12 }, async (_unused, worker) => {
      const own = testApplier(db);
      // One event takes no lane, so workers also meet at one payment.
      for (const id of ids.filter((_id, place) => place % 12 === worker)) await own.applyOne(id);
    }),
  );
  expect(await readOrderStates(db, [orderId])).toMatchObject([
    { captured_minor: 12 * 6540, refunded_minor: 12 * 15, status: 'partially_refunded' },
  ]);
  expect(await readOrderStates(db, [otherId])).toMatchObject([
    { order_status: 'moved', currency: null },
  ]);
});
