/** service-interface.md §4.5; where it is silent, docs/decisions/0009. */
import { expect, test } from 'vitest';
import { MAX_REFUNDS_PER_PAYMENT } from '../../src/contract/index.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

const post = (path: string, body?: object) => target.call('POST', path, body);

/** A payment that received 65.40 USD, unless the fields differ. */
async function pay(fields: object = {}): Promise<string> {
  const request = cardPayment({ profile_id: target.profileId, ...fields });
  return expectResponse('createPayment', await post('/payments', request)).payment_id;
}

async function refund(paymentId: string, fields: object = {}): Promise<Body> {
  const reply = await post('/refunds', { payment_id: paymentId, ...fields });
  return expectResponse('createRefund', reply);
}

async function retrieve(refundId: string): Promise<Body> {
  return expectResponse('retrieveRefund', await target.call('GET', `/refunds/${refundId}`));
}

test('without an amount a refund covers everything, and the payment keeps its status', async () => {
  const id = await pay();
  const body = await refund(id, { reason: 'returned', metadata: { rma: '7' } });
  expect(body).toMatchObject({
    payment_id: id,
    amount: 6540,
    currency: 'USD',
    reason: 'returned',
    metadata: { rma: '7' },
    created: expect.any(String),
    modified_at: expect.any(String),
  });
  expect(['succeeded', 'pending']).toContain(body.status);
  const payment = await target.call('GET', `/payments/${id}`);
  expect(payment.body).toMatchObject({ status: 'succeeded', amount_received: 6540 });
});

test('partial refunds never exceed the received amount', async () => {
  const id = await pay();
  await refund(id, { amount: 6000 });
  expectError(await post('/refunds', { payment_id: id, amount: 541 }), 400, 'IR_13');
  await refund(id, { amount: 540 });
  expectError(await post('/refunds', { payment_id: id, amount: 1 }), 400, 'IR_13');
});

test('a refund of a partial capture cannot exceed the captured amount', async () => {
  const id = await pay({ capture_method: 'manual' });
  await post(`/payments/${id}/capture`, { amount_to_capture: 1000 });
  expectError(await post('/refunds', { payment_id: id, amount: 1001 }), 400, 'IR_13');
  expect(await refund(id)).toMatchObject({ amount: 1000 });
});

test('a payment that received nothing cannot be refunded', async () => {
  const id = await pay({ capture_method: 'manual' });
  expectError(await post('/refunds', { payment_id: id }), 400, 'IR_14');
});

test('the number of refunds of a payment is limited', async () => {
  const id = await pay();
  for (let count = 0; count < MAX_REFUNDS_PER_PAYMENT; count += 1) await refund(id, { amount: 1 });
  expectError(await post('/refunds', { payment_id: id, amount: 1 }), 400, 'IR_12');
});

test('a refund_id that exists is HE_01, and nothing is refunded again', async () => {
  const id = await pay();
  const refundId = freshId('ref');
  expect(await refund(id, { refund_id: refundId, amount: 100 })).toMatchObject({
    refund_id: refundId,
  });
  const again = await post('/refunds', { payment_id: id, refund_id: refundId, amount: 100 });
  expect([400, 409, 422]).toContain(again.status);
  expectError(again, again.status, 'HE_01');
  await refund(id, { amount: 6440 });
});

test.each([
  ['no payment', {}, 400, 'IR_01'],
  ['a payment of nobody', { payment_id: 'nobody-paid-this' }, 404, 'IR_05'],
  ['an amount of nothing', { payment_id: 'x', amount: 0 }, 400, 'IR_04'],
  ['an unknown refund_type', { payment_id: 'x', refund_type: 'later' }, 400, 'IR_04'],
])('%s is refused', async (_what, body, status, code) => {
  expectError(await post('/refunds', body), status, code);
});

test('an update changes reason and metadata, and nothing else', async () => {
  const before = await refund(await pay(), { reason: 'a' });
  const reply = await post(`/refunds/${before.refund_id}`, { reason: 'b', metadata: { n: '1' } });
  const after = expectResponse('updateRefund', reply);
  expect(after).toMatchObject({ reason: 'b', metadata: { n: '1' }, amount: 6540 });
  expect(after.status).toBe(before.status);
  expect(Date.parse(after.modified_at)).toBeGreaterThan(Date.parse(before.modified_at));
  const ignored = await post(`/refunds/${before.refund_id}`, { amount: 1 });
  expect(expectResponse('updateRefund', ignored)).toMatchObject({ amount: 6540, reason: 'b' });
});

test.each(['GET', 'POST'])('%s of an unknown refund is 404', async (method) => {
  const body = method === 'POST' ? { reason: 'x' } : undefined;
  expectError(await target.call(method, `/refunds/${freshId('nobody')}`, body), 404, 'IR_05');
});

testOfOurs('a scheduled refund is pending and settles by itself', async () => {
  const { refund_id: id, status } = await refund(await pay(), { refund_type: 'Scheduled' });
  expect(status).toBe('pending');
  await target.advance(25 * 60 * 60 * 1000);
  expect(await retrieve(id)).toMatchObject({ status: 'succeeded', refund_type: 'Scheduled' });
});

testOfOurs.each([
  [7710, 'failed'],
  [7720, 'pending'],
  [7730, 'review'],
])('a refund of %i minor units is %s', async (amount, status) => {
  expect(await refund(await pay({ amount: 10_000 }), { amount })).toMatchObject({ status });
});

testOfOurs('a refund that succeeded can fail late, and then frees its amount', async () => {
  const id = await pay();
  const { refund_id: refundId } = await refund(id);
  await target.control('POST', `/refunds/${refundId}/move`, { status: 'failed' });
  expect(await retrieve(refundId)).toMatchObject({
    status: 'failed',
    error_code: expect.any(String),
  });
  expect(await refund(id)).toMatchObject({ amount: 6540, status: 'succeeded' });
});
