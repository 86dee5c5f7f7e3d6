import { afterAll, beforeAll, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import { contentHash } from '../../src/ledger/contentHash.ts';
import { readResource } from '../../src/ledger/domain/snapshot.ts';
import { type EventApplier, replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { receive, testApplier } from '../support/ledger.ts';

let db: TestDatabase;
let applier: EventApplier;

beforeAll(async () => {
  db = await createTestDatabase();
  applier = testApplier(db);
});
afterAll(() => db.drop());

/** The rows of a payment, its order and its total, each with the transaction that wrote it. */
async function readRows({ payment_id: id }: { readonly payment_id: string }) {
  const rows = await db.query<object>(
    `select 'resource' as row, xmin::text, to_jsonb(r) as written from resources r where id = $1
      union all
     select 'order', o.xmin::text, to_jsonb(o)
       from orders o join resources r using (order_key) where r.id = $1
      union all
     select 'total', t.xmin::text, to_jsonb(t)
       from order_totals t join resources r using (order_key) where r.id = $1`,
    [id],
  );
  expect(rows).toHaveLength(3);
  return rows;
}

test('a replayed event of which everything is known writes no row of its payment and order', async () => {
  const payment = paymentObject();
  const ids = await receive(db, [eventBody(payment)]);
  await applier.applyBatch(ids);
  const before = await readRows(payment);
  await db.transaction((tx) => replayEvents(tx, ids));
  expect(await applier.applyBatch(ids)).toBe(1);
  expect(await readRows(payment)).toEqual(before);
});

test('a webhook about something known is recorded, and leaves the order as it is', async () => {
  const payment = paymentObject();
  await applier.applyBatch(await receive(db, [eventBody(payment)]));
  const [, ...before] = await readRows(payment);
  const [earlier] = await readWebhookTimes(payment.payment_id);
  await applier.applyBatch(await receive(db, [eventBody(payment)]));
  const [, ...after] = await readRows(payment);
  expect(after).toEqual(before);
  const [later] = await readWebhookTimes(payment.payment_id);
  expect(later?.getTime()).toBeGreaterThan(earlier?.getTime() ?? Infinity);
});

test('an event that is applied for the first time by a replay counts as a webhook about its payment', async () => {
  const payment = paymentObject();
  const [id = 0] = await receive(db, [eventBody(payment)]);
  expect(await applier.markDead(id, 5, 'a test')).toBe(true);
  await db.transaction((tx) => replayEvents(tx, [id]));
  await applier.applyBatch([id]);
  expect(await readWebhookTimes(payment.payment_id)).toEqual([expect.any(Date)]);
});

test('a response that shows what is known writes no row of the payment and its order', async () => {
  const payment = paymentObject();
  await applier.applyBatch(await receive(db, [eventBody(payment)]));
  const before = await readRows(payment);
  await retrieve(payment);
  expect(await readRows(payment)).toEqual(before);
});

test('a response that schedules a check writes the payment alone', async () => {
  const payment = paymentObject({ status: 'processing' });
  await applier.applyBatch(await receive(db, [eventBody(payment)]));
  const [, ...before] = await readRows(payment);
  await db.query('update resources set next_check_at = null where id = $1', [payment.payment_id]);
  await retrieve(payment);
  const [, ...after] = await readRows(payment);
  expect(after).toEqual(before);
  expect(
    await db.query('select next_check_at from resources where id = $1', [payment.payment_id]),
  ).toEqual([{ next_check_at: expect.any(Date) }]);
});

test('an order is updated by what is new about a part of it, also if its status stays as it is', async () => {
  const payment = paymentObject();
  await applier.applyBatch(await receive(db, [eventBody(payment)]));
  const before = await readOrder(payment.payment_id);
  const refund = { refund_id: unique('ref'), payment_id: payment.payment_id, status: 'pending' };
  const asRefund = { eventType: 'refund_succeeded', contentType: 'refund_details' };
  const body = { ...refund, amount: 100, currency: 'USD', created: '2026-11-02T10:00:00.000Z' };
  await applier.applyBatch(await receive(db, [eventBody(body, asRefund)]));
  const after = await readOrder(payment.payment_id);
  expect(after.status).toBe(before.status);
  expect(after.updated_at.getTime()).toBeGreaterThan(before.updated_at.getTime());
});

async function readOrder(paymentId: string) {
  const [row] = await db.query<{ status: string; updated_at: Date }>(
    'select o.status, o.updated_at from orders o join resources r using (order_key) where r.id = $1',
    [paymentId],
  );
  if (!row) throw new Error(`no order of ${paymentId}`);
  return row;
}

async function readWebhookTimes(id: string): Promise<readonly (Date | null)[]> {
  const rows = await db.query<{ at: Date | null }>(
    'select webhook_applied_at as at from resources where id = $1',
    [id],
  );
  return rows.map(({ at }) => at);
}

async function retrieve(payment: { readonly payment_id: string }): Promise<void> {
  const observedMicros = Date.now() * 1_000;
  const reading = readResource(payment, observedMicros);
  if (reading.outcome !== 'read') throw new Error(reading.outcome);
  const { ref, content } = reading;
  const observation = {
    ref,
    content,
    contentHash: contentHash(content),
    source: 'retrieve',
    observedMicros,
    webhookEventId: undefined,
  } as const;
  await db.transaction((tx) =>
    applySnapshots(tx, {
      observations: [observation],
      toRetrieve: [],
      alsoLock: [],
      nowMs: Date.now(),
      history: undefined,
    }),
  );
}
