/** service-interface.md §2.3, §4.3.5, §8.1 and §4.10. */
import { beforeAll, describe, expect, test } from 'vitest';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();
/** Payments of one customer of this run, oldest first. */
const made: Body[] = [];
const CUSTOMER = freshId('customer').slice(0, 64);

beforeAll(async () => {
  await target.call('POST', '/customers', { customer_id: CUSTOMER });
  for (const [currency, capture] of [
    ['USD', 'automatic'],
    ['EUR', 'manual'],
    ['USD', 'manual'],
    ['USD', 'automatic'],
    ['EUR', 'automatic'],
  ]) {
    const request = cardPayment({
      profile_id: target.profileId,
      customer_id: CUSTOMER,
      currency,
      capture_method: capture,
    });
    made.push(expectResponse('createPayment', await target.call('POST', '/payments', request)));
  }
});

const newestFirst = () => made.toReversed().map(({ payment_id }) => payment_id);
const idsOf = (page: Body) => page.data.map((row: Body) => row.payment_id);

describe.each(['POST', 'GET'])('payments by %s', (method) => {
  const list = async (filter: Record<string, unknown>): Promise<Body> => {
    const all = { customer_id: CUSTOMER, ...filter };
    if (method === 'POST') {
      const reply = await target.call('POST', '/payments/list', all);
      return expectResponse('listPayments', reply);
    }
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(all)) query.set(name, String(value));
    return expectResponse(
      'listPaymentsByQuery',
      await target.call('GET', `/payments/list?${query}`),
    );
  };

  test('newest first, with count, total_count and data', async () => {
    const page = await list({});
    expect(page).toMatchObject({ count: 5, total_count: 5 });
    expect(idsOf(page)).toEqual(newestFirst());
    for (const row of page.data) {
      expect(row).toMatchObject({
        payment_id: expect.any(String),
        status: expect.any(String),
        amount: 6540,
        currency: expect.any(String),
        created: expect.any(String),
      });
    }
  });

  test('limit and offset select a page', async () => {
    const page = await list({ limit: 2, offset: 1 });
    expect(page).toMatchObject({ count: 2, total_count: 5 });
    expect(idsOf(page)).toEqual(newestFirst().slice(1, 3));
    expect(await list({ offset: 5 })).toMatchObject({ count: 0, total_count: 5, data: [] });
  });

  test('status and currency filter, alone and together', async () => {
    expect((await list({ status: 'requires_capture' })).total_count).toBe(2);
    expect((await list({ currency: 'USD' })).total_count).toBe(3);
    expect((await list({ currency: 'USD', status: 'requires_capture' })).total_count).toBe(1);
    expect((await list({ status: 'cancelled' })).total_count).toBe(0);
  });

  test('both bounds of created time are included', async () => {
    const [, second, , fourth] = made;
    const page = await list({ created_gte: second.created, created_lte: fourth.created });
    expect(idsOf(page)).toEqual(newestFirst().slice(1, 4));
    const none = await list({ created_gte: '2001-01-01', created_lte: '2001-01-02' });
    expect(none.total_count).toBe(0);
  });

  test('a time with a zone is the same instant', async () => {
    const at = new Date(Date.parse(made[4].created) + 2 * 3_600_000);
    const page = await list({ created_gte: at.toISOString().replace('Z', '+02:00') });
    expect(idsOf(page)).toEqual(newestFirst().slice(0, 1));
  });

  test.each([
    ['limit', 0],
    ['limit', 101],
    ['limit', 'ten'],
    ['offset', -1],
    ['status', 'unheard_of'],
    ['currency', 'dollars'],
    ['created_gte', 'yesterday'],
  ])('%s %j is refused', async (name, value) => {
    const reply =
      method === 'POST'
        ? await target.call('POST', '/payments/list', { [name]: value })
        : await target.call('GET', `/payments/list?${name}=${value}`);
    expectError(reply, 400, 'IR_04');
  });
});

test('without a limit a page has 10 rows', async () => {
  for (let count = 0; count < 6; count += 1) {
    await target.call('POST', '/payments', cardPayment({ profile_id: target.profileId }));
  }
  const page = expectResponse('listPayments', await target.call('POST', '/payments/list', {}));
  expect(page.data).toHaveLength(10);
});

test('refunds are listed by payment, status, currency and amount', async () => {
  const [{ payment_id: paymentId }] = made;
  for (const amount of [100, 200, 300]) {
    await target.call('POST', '/refunds', { payment_id: paymentId, amount });
  }
  const list = async (filter: object) =>
    expectResponse(
      'listRefunds',
      await target.call('POST', '/refunds/list', { payment_id: paymentId, ...filter }),
    );
  const all = await list({});
  expect(all).toMatchObject({ total_count: 3, has_more: false });
  expect(all.data.map(({ amount }: Body) => amount)).toEqual([300, 200, 100]);
  expect(await list({ limit: 2 })).toMatchObject({ total_count: 3, has_more: true });
  expect(await list({ limit: 2, offset: 2 })).toMatchObject({ total_count: 3, has_more: false });
  expect((await list({ amount_filter: { start_amount: 200 } })).total_count).toBe(2);
  expect((await list({ amount_filter: { end_amount: 100 } })).total_count).toBe(1);
  expect((await list({ currency: ['EUR', 'JPY'] })).total_count).toBe(0);
  expect((await list({ refund_status: ['success', 'pending'] })).total_count).toBe(3);
});

test('payouts are listed by status and reference', async () => {
  const reference = freshId('reference');
  const { body } = await target.call('POST', '/payouts/create', {
    amount: 100,
    currency: 'EUR',
    merchant_order_reference_id: reference,
  });
  const list = async (filter: object) =>
    expectResponse(
      'listPayouts',
      await target.call('POST', '/payouts/list', {
        merchant_order_reference_id: reference,
        ...filter,
      }),
    );
  const page = await list({ status: ['requires_payout_method_data', 'success'] });
  expect(page).toMatchObject({ total_count: 1, has_more: false });
  expect(page.data[0].payout_id).toBe(body.payout_id);
  expect((await list({ status: ['success'] })).total_count).toBe(0);
});

testOfOurs('disputes are listed by query, with lists of values separated by commas', async () => {
  const [{ payment_id: paymentId }] = made;
  const opened = await target.control('POST', '/disputes', { payment_id: paymentId, amount: 1 });
  const list = async (query: string) =>
    expectResponse(
      'listDisputes',
      await target.call('GET', `/disputes/list?payment_id=${paymentId}${query}`),
    );
  const page = await list('&dispute_status=dispute_opened,dispute_won&dispute_stage=dispute');
  expect(page).toMatchObject({ total_count: 1, has_more: false });
  expect(page.data[0].dispute_id).toBe(opened.dispute_id);
  expect((await list('&dispute_status=dispute_won')).total_count).toBe(0);
  expect((await list('&dispute_stage=arbitration')).total_count).toBe(0);
});
