/** Retrieving one resource over HTTP and applying it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify/verifyLedger.ts';
import { HOUR_MS } from '../../src/platform/time.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { clientOf, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import {
  applyEach,
  readOpenFindings,
  readOrderStates,
  readResourceStates,
  testApplier,
} from '../support/ledger.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(async () => {
  await db.drop();
});

function retrieverOf(service: PaymentService, nowMs = Date.now()) {
  return createRetrieve({
    db,
    client: clientOf(service),
    clock: { nowMs: () => nowMs },
    account: { merchantId: undefined, profileId: undefined },
  });
}

const notFound = {
  status: 404,
  body: { error: { type: 'invalid_request', code: 'IR_05', message: 'no such payment' } },
};
const lane = 'operator';

async function nextCheckOf(id: string): Promise<number | undefined> {
  const rows = await db.query<{ at: Date | null }>(
    'select next_check_at as at from resources where id = $1',
    [id],
  );
  return rows[0]?.at?.getTime();
}

test('a response is applied with its own date, and the next check is scheduled by age', async () => {
  const service = await startPaymentService();
  const id = unique('pay');
  const date = 'Sun, 01 Nov 2026 10:00:30 GMT';
  service.always = () => ({
    status: 200,
    body: paymentObject({ payment_id: id, status: 'processing', amount_received: 0 }),
    headers: { date },
  });
  const nowMs = Date.UTC(2026, 10, 1, 10, 0, 31);

  const found = await retrieverOf(service, nowMs)({ kind: 'payment', id }, { lane });

  expect(found).toMatchObject({ outcome: 'applied', before: undefined });
  const [state] = await readResourceStates(db, [id]);
  expect(state).toMatchObject({ status: 'processing', amount_minor: 6540 });
  const snapshots = await db.query(
    'select observed_micros, source from snapshots where resource_id = $1',
    [id],
  );
  expect(snapshots).toEqual([{ observed_micros: Date.parse(date) * 1000, source: 'retrieve' }]);
  // The object was modified at 10:00:00.
  expect(await nextCheckOf(id)).toBe(Date.UTC(2026, 10, 1, 10, 2));
});

test('a payment of which the last change has an older version is as the service has it after an hour', async () => {
  const service = await startPaymentService();
  const failed = paymentObject({
    status: 'failed',
    amount_received: 0,
    modified_at: '2026-11-01T10:00:02Z',
  });
  const paid = { ...failed, status: 'succeeded', amount_received: 6540 };
  const id = failed.payment_id;
  await applyEach(db, testApplier(db), [eventBody(failed)]);
  const retrieveAt = async (time: string) => {
    const date = new Date(`2026-11-01T${time}Z`);
    service.always = () => ({
      status: 200,
      // The server that made this change has a clock that is behind the other one.
      body: { ...paid, modified_at: '2026-11-01T10:00:01Z' },
      headers: { date: date.toUTCString() },
    });
    await retrieverOf(service, date.getTime())({ kind: 'payment', id }, { lane });
    const states = await readResourceStates(db, [id]);
    return { states, nextCheckMs: await nextCheckOf(id) };
  };

  // It may come from a replica that lags, and is repeated when none does, although the ledger's status is final.
  const countsMs = Date.UTC(2026, 10, 1, 11, 0, 3);
  expect(await retrieveAt('10:05:00')).toMatchObject({
    states: [{ status: 'failed', is_check_wanted: true }],
    nextCheckMs: countsMs,
  });
  const confirmedMs = Date.UTC(2026, 10, 1, 11, 1, 4);
  expect(await retrieveAt('11:00:03')).toMatchObject({
    states: [{ status: 'failed' }],
    nextCheckMs: confirmedMs,
  });
  expect(await retrieveAt('11:01:04')).toMatchObject({
    states: [{ status: 'succeeded' }],
    nextCheckMs: undefined,
  });
});

// Without a confirmed contradiction, each run reports the row as repaired, and the money stays with the other order.
test('a payment that names another order with the same version is filed under it after two retrieves', async () => {
  const service = await startPaymentService();
  const payments = [1, 2, 3, 4].map((n) =>
    paymentObject({ metadata: { order_id: unique(`before_${n}`) } }),
  );
  await applyEach(
    db,
    testApplier(db),
    payments.map((payment) => eventBody(payment)),
  );
  for (const payment of payments) {
    const id = payment.payment_id;
    const now = { ...payment, metadata: { order_id: `after_${id}` } };
    for (const second of ['00', '59']) {
      const date = `Sun, 01 Nov 2026 10:0${second === '00' ? 1 : 2}:${second} GMT`;
      service.always = () => ({ status: 200, body: now, headers: { date } });
      await retrieverOf(service)({ kind: 'payment', id }, { lane });
    }
    expect(await readResourceStates(db, [id])).toMatchObject([
      { order_key: `order:after_${id}`, captured_minor: 6540 },
    ]);
    expect(await readOpenFindings(db, `payment:${id}`)).toEqual([]);
  }
});

// The ledger kept the largest hold until the payment ended, and a capture of as much was refused.
test('a hold of which the service released a part is as large as the rest after two retrieves', async () => {
  const service = await startPaymentService();
  const orderId = unique('ord');
  const held = paymentObject({
    status: 'requires_capture',
    capture_method: 'manual',
    amount_received: 0,
    amount_capturable: 6540,
    metadata: { order_id: orderId },
  });
  const id = held.payment_id;
  await applyEach(db, testApplier(db), [eventBody(held)]);
  const rest = { ...held, amount_capturable: 5000, modified_at: '2026-11-01T10:03:00Z' };
  for (const time of ['10:05:00', '10:06:01']) {
    const date = new Date(`2026-11-01T${time}Z`).toUTCString();
    service.always = () => ({ status: 200, body: rest, headers: { date } });
    await retrieverOf(service)({ kind: 'payment', id }, { lane });
  }
  expect(await readResourceStates(db, [id])).toMatchObject([
    { authorized_minor: 5000, uncertainties: [], open_findings: [] },
  ]);
  expect(await readOrderStates(db, [orderId])).toMatchObject([{ authorized_minor: 5000 }]);
  expect(await readOpenFindings(db, `payment:${id}`)).toEqual([]);
});

// An event of few fields has the version of the response; as the head it would stay uncertain, and be retrieved each day.
test('a refund that an event reports without its amount is certain after one retrieve', async () => {
  const service = await startPaymentService();
  for (const reason of ['a', 'b', 'c', 'd']) {
    const id = unique('ref');
    const payment_id = unique('pay');
    const modified_at = '2026-11-01T10:00:00Z';
    const event = { refund_id: id, payment_id, status: 'succeeded', reason, modified_at };
    const label = { eventType: 'refund_succeeded', contentType: 'refund_details' };
    await applyEach(db, testApplier(db), [eventBody(event, label)]);
    expect(await readResourceStates(db, [id])).toMatchObject([{ uncertainties: ['incomplete'] }]);
    service.always = () => ({ status: 200, body: { ...event, amount: 100, currency: 'USD' } });
    await retrieverOf(service)({ kind: 'refund', id }, { lane });
    expect(await readResourceStates(db, [id])).toMatchObject([
      { amount_minor: 100, posts: true, uncertainties: [] },
    ]);
  }
});

// Disputes of the family carry no version. Of two bodies with one status the hash decided which is the head, and where it
// was that of the retrieve, the finding stayed open for good, and no month with the dispute could be closed.
test('a dispute of which the service corrects the amount without a version is certain after an hour', async () => {
  const service = await startPaymentService();
  for (const [before, after] of [
    [931, 928],
    [928, 931],
    [500, 501],
    [501, 500],
  ] as const) {
    const id = unique('dp');
    const dispute = { dispute_id: id, dispute_status: 'dispute_opened', dispute_stage: 'dispute' };
    const body = (amount: number) => ({ ...dispute, amount: String(amount), currency: 'EUR' });
    const label = { eventType: 'dispute_opened', contentType: 'dispute_details' };
    await applyEach(db, testApplier(db), [eventBody(body(before), label)]);
    for (const time of ['10:05:00', '11:00:00', '11:01:01']) {
      const date = new Date(`2026-11-01T${time}Z`).toUTCString();
      service.always = () => ({ status: 200, body: body(after), headers: { date } });
      await retrieverOf(service)({ kind: 'dispute', id }, { lane });
    }
    expect(await readResourceStates(db, [id])).toMatchObject([
      { amount_minor: after, uncertainties: [], open_findings: [] },
    ]);
    expect(await readOpenFindings(db, `dispute:${id}`)).toEqual([]);
  }
  const { checks } = await verifyLedger(db, { merchantId: MERCHANT_ID, rebuild: true });
  expect(checks.filter(({ failures }) => failures > 0)).toEqual([]);
});

// Services of the family send no captured amount beside `succeeded`: each such payment was retrieved each day for good.
test('a payment with an assumed amount is checked for a week, and then no longer', async () => {
  const service = await startPaymentService();
  const payment = paymentObject({ amount_received: null });
  const id = payment.payment_id;
  const body = { ...payment, error_code: 'of the response' };
  await applyEach(db, testApplier(db), [eventBody(payment)]);
  const changedMs = Date.parse('2026-11-01T10:00:00Z');
  const checkAt = async (nowMs: number) => {
    const date = new Date(nowMs).toUTCString();
    service.always = () => ({ status: 200, body, headers: { date } });
    await retrieverOf(service, nowMs)({ kind: 'payment', id }, { lane });
    return await nextCheckOf(id);
  };
  expect(await checkAt(changedMs + HOUR_MS)).toBeGreaterThan(changedMs);
  expect(await checkAt(changedMs + 6 * 24 * HOUR_MS)).toBeGreaterThan(changedMs);
  expect(await checkAt(changedMs + 7 * 24 * HOUR_MS)).toBeUndefined();
  expect(await readResourceStates(db, [id])).toMatchObject([
    { captured_minor: 6540, uncertainties: ['provisional_amount'] },
  ]);
});

test('a dry run returns what it would do and changes nothing', async () => {
  const service = await startPaymentService();
  const id = unique('pay');
  service.always = () => ({ status: 200, body: paymentObject({ payment_id: id }) });

  const found = await retrieverOf(service)({ kind: 'payment', id }, { lane, isDryRun: true });

  expect(found).toMatchObject({ outcome: 'applied', after: { status: 'succeeded' } });
  expect(await readResourceStates(db, [id])).toEqual([]);
});

test('a response about another payment is applied to neither', async () => {
  const service = await startPaymentService();
  const [payment, other] = [paymentObject({ status: 'processing' }), paymentObject()];
  await applyEach(db, testApplier(db), [eventBody(payment)]);
  service.always = () => ({ status: 200, body: other });
  const ids = [payment.payment_id, other.payment_id];
  const before = await readResourceStates(db, ids);

  const ref = { kind: 'payment', id: payment.payment_id } as const;
  expect(await retrieverOf(service)(ref, { lane })).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('about something else than was requested: payment_id'),
  });
  expect(await readResourceStates(db, ids)).toEqual(before);
});

test('a stub that is missing remotely for a day becomes an orphan', async () => {
  const service = await startPaymentService();
  service.always = () => notFound;
  const paymentId = unique('pay');
  const refund = {
    refund_id: unique('ref'),
    payment_id: paymentId,
    amount: 100,
    currency: 'USD',
    status: 'succeeded',
    modified_at: '2026-11-01T10:00:00Z',
  };
  await applyEach(db, testApplier(db), [eventBody(refund, { contentType: 'refund_details' })]);
  const ref = { kind: 'payment', id: paymentId } as const;
  const subject = `payment:${paymentId}`;

  expect(await retrieverOf(service)(ref, { lane })).toMatchObject({ outcome: 'missing' });
  expect(await readOpenFindings(db, subject)).toEqual([]);
  await retrieverOf(service, Date.now() + 25 * HOUR_MS)(ref, { lane });
  expect(await readOpenFindings(db, subject)).toEqual([{ class: 'orphan' }]);

  // The finding closes once the service has the payment.
  service.always = () => ({ status: 200, body: paymentObject({ payment_id: paymentId }) });
  await retrieverOf(service)(ref, { lane });
  expect(await readOpenFindings(db, subject)).toEqual([]);
});

test('a resource that is missing remotely keeps its state', async () => {
  const service = await startPaymentService();
  service.always = () => notFound;
  const payment = paymentObject();
  await applyEach(db, testApplier(db), [eventBody(payment)]);
  const before = await readResourceStates(db, [payment.payment_id]);

  const ref = { kind: 'payment', id: payment.payment_id } as const;
  const subject = `payment:${payment.payment_id}`;
  // A replica may lag behind the webhook.
  await retrieverOf(service, Date.now() + HOUR_MS / 2)(ref, { lane });
  expect(await readOpenFindings(db, subject)).toEqual([]);
  await retrieverOf(service, Date.now() + 2 * HOUR_MS)(ref, { lane });

  expect(await readOpenFindings(db, subject)).toEqual([{ class: 'missing_remote' }]);
  const after = await readResourceStates(db, [payment.payment_id]);
  // It may come back.
  expect(after).toEqual([
    { ...before[0], open_findings: ['missing_remote'], is_check_wanted: true },
  ]);
});

test.each([
  ['a refused key', 401, { error: { type: 'x', code: 'AU_01', message: 'm' } }, 'unauthorized'],
  ['a 404 of another server', 404, '<h1>Not Found</h1>', 'wrong_server'],
  ['garbage', 200, '<h1>Welcome</h1>', 'unreadable'],
  ['another payment', 200, paymentObject(), 'unreadable'],
  ['an unreadable amount', 200, { payment_id: 'PLACE', amount: -5 }, 'unreadable'],
  ['an unavailable service', 503, '', 'unavailable'],
])('%s changes nothing', async (_, status, body, failure) => {
  const service = await startPaymentService();
  const payment = paymentObject();
  await applyEach(db, testApplier(db), [eventBody(payment)]);
  const before = await readResourceStates(db, [payment.payment_id]);
  const text = JSON.stringify(body).replace('PLACE', payment.payment_id);
  service.always = () => ({ status, body: JSON.parse(text) });

  const ref = { kind: 'payment', id: payment.payment_id } as const;
  const found = await retrieverOf(service, Date.now() + 48 * HOUR_MS)(ref, { lane });

  expect(found).toMatchObject({ outcome: 'failed', failure });
  expect(await readResourceStates(db, [payment.payment_id])).toEqual(before);
});
