/** Refunds and disputes with bodies that name more than one payment. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applySnapshots } from '../../src/ledger/applySnapshots.ts';
import type { Observation } from '../../src/ledger/domain/snapshot.ts';
import { retryWithMoreLocks } from '../../src/ledger/lockSetChanged.ts';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { readOpenFindings, readResourceStates, receive, testApplier } from '../support/ledger.ts';
import { observe, permutations, SECOND } from '../support/observations.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  const report = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  await db.drop();
  expect(report.checks.flatMap(({ offenders }) => offenders)).toEqual([]);
});

const AS_REFUND = { eventType: 'refund_succeeded', contentType: 'refund_details' };

/** Two payments on orders of their own, and a refund that names first one and then the other. */
function scene() {
  const payments = [1, 2].map(() => paymentObject({ metadata: { order_id: unique('ord') } }));
  const [one, two] = payments.map((payment) => payment.payment_id);
  const refund = {
    refund_id: unique('ref'),
    amount: 1000,
    currency: 'USD',
    status: 'succeeded',
  };
  return {
    refundId: refund.refund_id,
    bodies: [
      ...payments.map((payment) => eventBody(payment)),
      eventBody({ ...refund, payment_id: one, modified_at: '2026-11-02T10:00:01Z' }, AS_REFUND),
      eventBody({ ...refund, payment_id: two, modified_at: '2026-11-02T10:00:02Z' }, AS_REFUND),
    ],
    newest: two,
  };
}

const orders = [...permutations([0, 1, 2, 3])];

test.each(orders.map((order) => [order]))(
  'one by one in the order %j: applied, with a finding',
  async (order) => {
    const { bodies, refundId, newest } = scene();
    const applier = testApplier(db);
    for (const place of order)
      await applier.applyBatch(await receive(db, [bodies[place] ?? Buffer.of()]));
    expect(await readResourceStates(db, [refundId])).toMatchObject([{ payment_id: newest }]);
    expect(await readOpenFindings(db, `refund:${refundId}`)).toEqual([
      { class: 'payment_conflict' },
    ]);
  },
);

test.each([[1], [2]])(
  'in batches that end after %i events: applied, with a finding',
  async (first) => {
    for (const order of orders) {
      const { bodies, refundId, newest } = scene();
      const applier = testApplier(db);
      const shuffled = order.map((place) => bodies[place] ?? Buffer.of());
      await applier.applyBatch(await receive(db, shuffled.slice(0, first)));
      await applier.applyBatch(await receive(db, shuffled.slice(first)));
      expect(await readResourceStates(db, [refundId])).toMatchObject([{ payment_id: newest }]);
      expect(await readOpenFindings(db, `refund:${refundId}`)).toEqual([
        { class: 'payment_conflict' },
      ]);
    }
  },
);

test('a correction by the service that names the first payment again is applied', async () => {
  const [one, two] = [unique('pay'), unique('pay')];
  const refund = { refund_id: unique('ref'), currency: 'USD', status: 'succeeded' };
  const applier = testApplier(db);
  const receiveOne = async (body: object, timestamp: string) =>
    applier.applyBatch(
      await receive(db, [eventBody({ ...refund, ...body }, { ...AS_REFUND, timestamp })]),
    );
  // Undated, and sent late: it belongs to the epoch that the retrieves below open.
  await receiveOne({ amount: 1000, payment_id: one }, '2026-11-20T10:00:00.000Z');
  await receiveOne(
    { amount: 1000, payment_id: two, modified_at: '2026-11-02T10:00:00Z' },
    '2026-11-02T10:00:00.000Z',
  );
  const retrieved = { status: 'succeeded', amountMinor: 900, currency: 'USD' };
  for (const seconds of [0, 100]) {
    await applyObservation(
      observe(retrieved, {
        kind: 'refund',
        id: refund.refund_id,
        source: 'retrieve',
        observedMicros: Date.UTC(2026, 10, 10) * 1000 + seconds * SECOND,
      }),
    );
  }
  expect(await readResourceStates(db, [refund.refund_id])).toMatchObject([
    { epoch: 1, payment_id: one },
  ]);
});

function applyObservation(one: Observation): Promise<void> {
  return retryWithMoreLocks((alsoLock) =>
    db.transaction((tx) =>
      applySnapshots(tx, {
        observations: [one],
        toRetrieve: [],
        alsoLock,
        nowMs: Date.now(),
        history: undefined,
      }),
    ),
  );
}
