/** Concurrent requests. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Reply } from '../support/serviceApi.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const TOGETHER = 12;

const together = (request: () => Promise<Reply>): Promise<Reply[]> =>
  Promise.all(Array.from({ length: TOGETHER }, request));

const count = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

test('of concurrent creates with one payment_id one creates a payment, and the others get HE_01', async () => {
  const replies = await together(() =>
    sandbox.call('POST', '/payments', cardPayment({ payment_id: 'one', amount: 4711 })),
  );
  expect(count(replies, 200)).toBe(1);
  const rejected = replies.filter(({ status }) => status !== 200);
  expect(new Set(rejected.map(({ body }) => body.error.code))).toEqual(new Set(['HE_01']));
  const { data } = await sandbox.control('GET', '/resources/payment');
  expect(data).toMatchObject([{ payment_id: 'one', amount_received: 4711, attempt_count: 1 }]);
});

test('concurrent captures never exceed what was authorized', async () => {
  const manual = cardPayment({ capture_method: 'manual_multiple', amount: 1000 });
  const { body } = await sandbox.call('POST', '/payments', manual);
  const replies = await together(() =>
    sandbox.call('POST', `/payments/${body.payment_id}/capture`, { amount_to_capture: 300 }),
  );
  expect(count(replies, 200)).toBe(3);
  const after = await sandbox.call('GET', `/payments/${body.payment_id}`);
  expect(after.body).toMatchObject({ amount_received: 900, amount_capturable: 100 });
});

test('concurrent refunds never exceed what was received', async () => {
  const { body } = await sandbox.call('POST', '/payments', cardPayment({ amount: 1000 }));
  const replies = await together(() =>
    sandbox.call('POST', '/refunds', { payment_id: body.payment_id, amount: 400 }),
  );
  expect(count(replies, 200)).toBe(2);
  const rejected = replies.filter(({ status }) => status !== 200);
  expect(new Set(rejected.map((reply) => reply.body.error.code))).toEqual(new Set(['IR_13']));
});

test('of a concurrent cancel and capture one succeeds', async () => {
  const manual = cardPayment({ capture_method: 'manual' });
  const { body } = await sandbox.call('POST', '/payments', manual);
  const path = `/payments/${body.payment_id}`;
  const replies = await Promise.all([
    sandbox.call('POST', `${path}/cancel`),
    sandbox.call('POST', `${path}/capture`),
  ]);
  expect(count(replies, 200)).toBe(1);
});
