/** The client against the sandbox: nothing is charged, captured or paid back twice, and the sandbox counts. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type CreatePaymentRequest,
  createClient,
  type PaymentServiceClient,
  PaymentServiceError,
} from '../../src/client/index.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';

let sandbox: TestSandbox;
let client: PaymentServiceClient;

beforeEach(async () => {
  sandbox = await startTestSandbox();
  client = createClient({ ...sandbox, retry: { baseDelayMs: 5, attemptTimeoutMs: 2_000 } });
});
afterEach(() => sandbox.close());

const order = (payment_id: string, fields: object = {}) =>
  cardPayment({ payment_id, ...fields }) as CreatePaymentRequest;
const fail = (requests: readonly object[], more: object = {}) =>
  sandbox.control('PUT', '/faults', { requests, ...more });

/** Payments, refunds and attempts to charge that the sandbox knows. */
function counted(): Promise<unknown> {
  return sandbox.control('GET', '/truth/sums');
}

test.each([400, 409, 422])(
  'a create whose answer was lost charges once; HE_01 with %i',
  async (he_01_status) => {
    await fail([{ fault: 'cut_after', path: '/payments', method: 'POST', times: 1 }], {
      he_01_status,
    });
    const { payment, origin } = await client.payments.create(order('lost'));
    expect([payment.status, origin]).toEqual(['succeeded', 'existing']);
    expect(await counted()).toMatchObject({
      data: [{ kind: 'payment', count: 1, amount_received: 6540, attempts: 1 }],
    });
  },
);

test('a storm of faults charges every order once', async () => {
  const ORDERS = 40;
  const storm = ['cut_before', 'cut_after', 'server_error', 'garbage'].map((fault) => ({
    fault,
    rate: 0.15,
    path: '/payments',
  }));
  const seed = Date.now() % 1_000_000;
  await fail(storm, { seed });
  const patient = createClient({ ...sandbox, retry: { baseDelayMs: 2, maxAttempts: 50 } });
  const created = await Promise.all(
    Array.from({ length: ORDERS }, (_, i) => patient.payments.create(order(`storm-${i}`))),
  );
  expect(created.map(({ payment }) => payment.status)).toEqual(created.map(() => 'succeeded'));
  expect(await counted(), `seed ${seed}`).toMatchObject({
    data: [{ count: ORDERS, attempts: ORDERS, amount_received: ORDERS * 6540 }],
  });
});

test('a capture whose answer was lost is not made twice', async () => {
  const { payment } = await client.payments.create(
    order('held', { capture_method: 'manual_multiple' }),
  );
  await fail([{ fault: 'cut_after', path: '/payments/held/capture', times: 1 }]);
  const error = await client.payments
    .capture('held', { amount_to_capture: 100 })
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(PaymentServiceError);
  expect(error).toMatchObject({ outcomeUnknown: true });
  expect((await client.payments.retrieve(payment.payment_id)).amount_received).toBe(100);
});

test('a refund whose answer was lost is found by its id', async () => {
  await client.payments.create(order('paid'));
  await fail([{ fault: 'cut_after', path: '/refunds', method: 'POST', times: 1 }]);
  const { refund, origin } = await client.refunds.create({
    payment_id: 'paid',
    refund_id: 'back',
    amount: 100,
  });
  expect([refund.amount, origin]).toEqual([100, 'existing']);
  expect((await client.refunds.list({ payment_id: 'paid' })).totalCount).toBe(1);
});

test('a burst of 503, unknown codes, a redirect and odd fields', async () => {
  await fail([{ fault: 'server_error', status: 503, times: 3 }]);
  expect((await client.payments.create(order('burst'))).payment.status).toBe('succeeded');
  await fail([
    { fault: 'unknown_code', times: 1 },
    { fault: 'redirect', times: 1 },
    { fault: 'extra_fields', times: 1 },
  ]);
  expect(await client.health().catch((e: unknown) => e)).toMatchObject({
    kind: 'refused',
    httpStatus: 400,
  });
  expect(await client.health().catch((e: unknown) => e)).toMatchObject({ kind: 'refused' });
  await client.payments.retrieve('burst');
});

test.each(['count', 'has_more', 'size', 'array'])(
  'a list in the envelope %s is walked whole',
  async (envelope) => {
    for (let i = 0; i < 7; i += 1) await client.payments.create(order(`p${i}`));
    await fail([], { lists: { envelope } });
    const ids: string[] = [];
    for await (const { payment_id } of client.payments.iterate({ limit: 3 })) ids.push(payment_id);
    expect(ids.toSorted()).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
  },
);

test('every call of the client is understood', async () => {
  const { payments, refunds, payouts, disputes } = client;
  await client.health();
  await payments.create(order('later', { confirm: false }));
  await payments.update('later', { amount: 500, metadata: { order_id: 'o' } });
  await payments.confirm('later', {});
  await payments.create(order('manual', { capture_method: 'manual' }));
  await payments.capture('manual', { amount_to_capture: 5 });
  await payments.create(order('gone', { capture_method: 'manual' }));
  expect((await payments.cancel('gone', { cancellation_reason: 'x' })).status).toBe('cancelled');
  expect((await payments.listByQuery({ status: 'cancelled' })).items).toHaveLength(1);
  await refunds.create({ payment_id: 'later', refund_id: 'r1', amount: 1 });
  await refunds.update('r1', { reason: 'why' });
  expect((await refunds.retrieve('r1')).reason).toBe('why');
  const payout = await payouts.create({ amount: 5, currency: 'EUR' });
  await payouts.update(payout.payout_id, {
    payout_type: 'bank',
    payout_method_data: { bank_transfer: { payout_method_type: 'sepa', iban: 'DE02', bic: 'X' } },
  });
  expect((await payouts.confirm(payout.payout_id)).status).toBe('requires_fulfillment');
  await payouts.fulfill(payout.payout_id);
  const second = await payouts.create({ amount: 5, currency: 'EUR' });
  expect((await payouts.cancel(second.payout_id)).status).toBe('cancelled');
  expect((await payouts.list()).totalCount).toBe(2);
  expect((await disputes.list()).items).toEqual([]);
});
