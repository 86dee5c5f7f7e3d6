/**
 * An order is fresh only if nothing of it was left out: neither for its size, nor because the ledger does not
 * know it yet.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { findErasable } from '../../src/ledger/store/erasure.ts';
import { insertExpectation } from '../../src/ledger/store/expectations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createRefresher, type Refresher } from '../../src/reconcile/refreshOnRead.ts';
import { createRetrieve } from '../../src/reconcile/retrieve.ts';
import { API_KEY, type PaymentService, startPaymentService } from '../client/paymentService.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, MERCHANT_ID, paymentObject, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { paymentEvent } from '../support/payments.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';

let db: TestDatabase;
let service: PaymentService;
beforeEach(async () => {
  [db, service] = await Promise.all([createTestDatabase(), startPaymentService()]);
});
afterEach(() => db.drop());

async function orderOf(payments: number): Promise<string> {
  const orderId = unique('ord');
  const bodies = Array.from({ length: payments }, (_, nth) =>
    paymentEvent({
      orderId,
      payment_id: `${orderId}_${nth}`,
      created: new Date(Date.UTC(2026, 10, 1) + nth * 60_000).toISOString(),
    }),
  );
  await applyEach(db, testApplier(db), bodies);
  return orderId;
}

function refresherOf(): Refresher {
  const client = createClient({ baseUrl: service.baseUrl, apiKey: API_KEY });
  const account = { merchantId: MERCHANT_ID, profileId: undefined };
  const parts = { db, client, clock: systemClock };
  const retrieve = createRetrieve({ ...parts, account });
  return createRefresher({ ...parts, retrieve, timeoutMs: 60_000 });
}

test('an order is not fresh while some of its payments were not retrieved', async () => {
  const refresher = refresherOf();
  service.always = ({ path }) => {
    const id = path.split('?')[0]?.split('/').at(-1) ?? '';
    return { status: 200, body: paymentObject({ payment_id: id }) };
  };
  expect(await refresher.order({ id: await orderOf(10) })).toEqual({ outcome: 'fresh' });
  expect(await refresher.order({ id: await orderOf(11) })).toEqual({
    outcome: 'partly',
    reason: 'only the newest 10 payments of the order were retrieved',
  });
});

test('a payment of a registered order is found in a list of short rows, also one that only a refund names', async () => {
  const [orderId, refundId] = [unique('ord'), unique('ref')];
  const payment = paymentObject({ metadata: { order_id: orderId } });
  const { payment_id, status, amount, currency, created } = payment;
  const refund = { refund_id: refundId, payment_id, amount: 100, currency, status: 'pending' };
  await applyEach(db, testApplier(db), [eventBody(refund, { contentType: 'refund_details' })]);
  await insertExpectation(db, {
    orderKey: `order:${orderId}`,
    orderId,
    currency: 'USD',
    amountMinor: 6540,
    registeredBy: 'shop',
  });
  const missing = { type: 'invalid_request', code: 'IR_05', message: 'no such payment' };
  service.always = ({ path }) => {
    if (path.startsWith('/payments/list')) {
      const data = [{ payment_id, status, amount, currency, created }];
      return { status: 200, body: { count: 1, total_count: 1, data } };
    }
    const isKnown = path.includes(payment_id);
    return isKnown ? { status: 200, body: payment } : { status: 404, body: { error: missing } };
  };
  expect(await refresherOf().order({ by: 'order', id: orderId })).toEqual({ outcome: 'fresh' });
});

test('a request for erasure that names too much is refused', async () => {
  const orderKeys = [`order:${await orderOf(3)}`];
  expect(await findErasable(db, { ids: [], orderKeys }, 3)).toHaveLength(3);
  await expect(findErasable(db, { ids: [], orderKeys }, 2)).rejects.toThrow(
    'more than 2 payments, refunds, disputes and payouts. Nothing was erased.',
  );
});

describe('an order of a customer who paid with a second payment', () => {
  let sandbox: TestSandbox;
  let refresher: Refresher;
  beforeEach(async () => {
    sandbox = await startTestSandbox();
    const client = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
    const account = { merchantId: sandbox.merchantId, profileId: undefined };
    const parts = { db, client, clock: systemClock };
    const retrieve = createRetrieve({ ...parts, account });
    refresher = createRefresher({ ...parts, retrieve, timeoutMs: 60_000 });
  });
  afterEach(() => sandbox.close());

  /** Tries to pay; the webhook of the payment is lost. */
  const pay = async (orderId: string, request: typeof cardPayment): Promise<string> => {
    const metadata = { order_id: orderId };
    const { body } = await sandbox.call(
      'POST',
      '/payments',
      request({ payment_id: unique('pay'), metadata }),
    );
    return body.payment_id;
  };
  const declined = (fields?: object) => cardPaymentOf('final', 'UE_1001', fields);
  const left = (fields?: object) => cardPayment({ ...fields, confirm: false });

  test.each([
    ['declined', declined],
    ['left', left],
  ] as const)(
    'is paid, although the ledger knows only the first, which was %s',
    async (_how, request) => {
      const orderId = unique('ord');
      await refresher.payment(await pay(orderId, request));
      expect(await refresher.order({ id: orderId })).toEqual({ outcome: 'fresh' });
      const second = await pay(orderId, cardPayment);
      expect(await refresher.order({ id: orderId })).toEqual({ outcome: 'fresh' });
      const [found] = await db.query(
        `select status, order_key as "orderKey" from resources where kind = 'payment' and id = $1`,
        [second],
      );
      expect(found).toEqual({ status: 'succeeded', orderKey: `order:${orderId}` });
    },
  );

  test('is paid where lists of the service reject pages of 100', async () => {
    await sandbox.control('PUT', '/faults', { lists: { max_limit: 50 } });
    const orderId = unique('ord');
    await refresher.payment(await pay(orderId, declined));
    const second = await pay(orderId, cardPayment);
    expect(await refresher.order({ id: orderId })).toEqual({ outcome: 'fresh' });
    const found = await db.query(`select status from resources where id = $1`, [second]);
    expect(found).toEqual([{ status: 'succeeded' }]);
    const unknownId = unique('ord');
    await pay(unknownId, cardPayment);
    expect(await refresher.order({ id: unknownId })).toEqual({ outcome: 'fresh' });
  });

  test('is not fresh if the list cannot be read', async () => {
    const orderId = unique('ord');
    await refresher.payment(await pay(orderId, declined));
    await sandbox.control('PUT', '/faults', {
      requests: [{ fault: 'unknown_code', method: 'POST', path: '/payments/list' }],
    });
    expect(await refresher.order({ id: orderId })).toMatchObject({
      outcome: 'partly',
      reason: expect.stringContaining('whether the order has another payment is unknown'),
    });
  });

  test('that is paid costs no request of the list', async () => {
    const orderId = unique('ord');
    await refresher.payment(await pay(orderId, cardPayment));
    await sandbox.control('PUT', '/faults', {
      requests: [{ fault: 'unknown_code', method: 'POST', path: '/payments/list' }],
    });
    expect(await refresher.order({ id: orderId })).toEqual({ outcome: 'fresh' });
  });
});
