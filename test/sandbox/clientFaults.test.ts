/** The client against the sandbox: nothing is charged, captured or refunded twice. */
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

/** Payments, refunds and attempts to charge in the sandbox. */
function counted(): Promise<unknown> {
  return sandbox.control('GET', '/resources/sums');
}

test('a burst of faults charges every order once', async () => {
  const ORDERS = 40;
  const burst = ['cut_before', 'cut_after', 'server_error', 'garbage'].map((fault) => ({
    fault,
    rate: 0.15,
    path: '/payments',
  }));
  const seed = Date.now() % 1_000_000;
  await fail(burst, { seed });
  const persistent = createClient({ ...sandbox, retry: { baseDelayMs: 2, maxAttempts: 50 } });
  const created = await Promise.all(
    Array.from({ length: ORDERS }, (_, i) => persistent.payments.create(order(`burst-${i}`))),
  );
  expect(created.map(({ payment }) => payment.status)).toEqual(created.map(() => 'succeeded'));
  expect(await counted(), `seed ${seed}`).toMatchObject({
    data: [{ count: ORDERS, attempts: ORDERS, amount_received: ORDERS * 6540 }],
  });
});

test('a capture without a response is not repeated', async () => {
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

test('a list that rejects large pages is read in smaller ones', async () => {
  const ids = Array.from({ length: 12 }, (_, n) => `pay_${n}`);
  for (const id of ids) await client.payments.create(order(id));
  await fail([], { lists: { max_limit: 10 } });
  const read: string[] = [];
  for await (const { payment_id: id } of client.payments.iterate()) read.push(id);
  expect(read.toSorted()).toEqual(ids.toSorted());
  const chosen = client.payments.iterate({ limit: 50 })[Symbol.asyncIterator]();
  await expect(chosen.next()).rejects.toMatchObject({ httpStatus: 422, code: 'IR_06' });
});

test('a refund without a response is found by its id', async () => {
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

test('the client survives a burst of 503, unknown codes, a redirect and unexpected fields', async () => {
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
