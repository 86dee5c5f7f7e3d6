/** Lists of payments, refunds, disputes, payouts and orders over HTTP, and their rows by id. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, type Body, createApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { disputeEvent, paymentEvent, refundEvent } from '../support/payments.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;
let api: Api;

const paymentId = unique('pay');
const refundId = unique('ref');
const disputeId = unique('dp');
const payoutId = unique('po');

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  api = createApi(tallyhook);
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id: paymentId, orderId: 'ord_1' }),
    paymentEvent({ orderId: 'ord_2', currency: 'EUR', amount: 500, amount_received: 500 }),
    paymentEvent({
      orderId: 'ord_3',
      status: 'failed',
      amount_received: 0,
      unified_code: 'UE_1001',
      error_code: '51',
      error_message: 'no funds',
    }),
    refundEvent(paymentId, {
      refund_id: refundId,
      status: 'failed',
      unified_code: 'UE_9000',
      error_message: 'account closed',
      created_at: '2026-11-02T09:00:00.000Z',
    }),
    disputeEvent(paymentId, {
      dispute_id: disputeId,
      connector_reason_code: '10.4',
      connector_reason: 'fraud',
    }),
    eventBody(
      {
        payout_id: payoutId,
        merchant_order_reference_id: 'seller 7',
        amount: 700,
        currency: 'EUR',
        status: 'failed',
        unified_code: 'UE_1000',
        unified_message: 'The account is closed',
        error_code: 'AC04',
      },
      { eventType: 'payout_failed', contentType: 'payout_details' },
    ),
  ]);
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const get = async (path: string): Promise<Body> => (await api.get(`/api/v1/${path}`)).body;

describe('a row of a list', () => {
  test('of a failed refund has the reason and what to do', async () => {
    const { refunds } = await get(`refunds?status=failed`);
    expect(refunds).toMatchObject([
      {
        refund_id: refundId,
        payment_id: paymentId,
        order_id: 'ord_1',
        status: 'failed',
        amount: 1000,
        created_at: '2026-11-02T09:00:00.000Z',
        reason_detail: {
          code: 'UE_9000',
          error_message: 'account closed',
          advice: expect.stringContaining('create a new refund'),
        },
      },
    ]);
  });

  test('of a dispute has its deadline, its reason and what to do', async () => {
    const { disputes } = await get('disputes');
    expect(disputes).toMatchObject([
      {
        dispute_id: disputeId,
        order_id: 'ord_1',
        stage: 'dispute',
        evidence_due_by: '2026-11-20T10:00:00.000Z',
        reason: '10.4 fraud',
        reason_detail: {
          code: '10.4',
          message: 'fraud',
          error_code: null,
          advice: expect.stringContaining('Submit evidence before the deadline'),
        },
      },
    ]);
  });

  test('of a failed payout has its reference, the reason and what to do', async () => {
    const { payouts } = await get('payouts?order_id=seller%207');
    expect(payouts).toMatchObject([
      {
        payout_id: payoutId,
        reference: 'seller 7',
        reason_detail: { code: 'UE_1000', message: 'The account is closed', error_code: 'AC04' },
      },
    ]);
  });

  test('of a failed payment has the advice of its code, and a paid one has none', async () => {
    const { payments } = await get('payments');
    const reasons = payments.map((one: Body) => [one.order_id, one.reason_detail?.code ?? null]);
    expect(reasons.toSorted()).toEqual([
      ['ord_1', null],
      ['ord_2', null],
      ['ord_3', 'UE_1001'],
    ]);
  });

  test.each([
    ['refunds', () => refundId],
    ['disputes', () => disputeId],
    ['payouts', () => payoutId],
  ])('is the same by its id: %s', async (list, idOf) => {
    const page = await get(list);
    expect(await get(`${list}/${idOf()}`)).toEqual(page[list][0]);
    expect((await api.get(`/api/v1/${list}/nope`)).status).toBe(404);
  });
});

test('totals are counts and sums of the filter, by currency', async () => {
  const { totals } = await get('payments?totals=1');
  expect(totals).toEqual({
    count: 3,
    complete: true,
    currencies: [
      { currency: 'EUR', count: 1, amount: 500, amount_captured: 500 },
      { currency: 'USD', count: 2, amount: 13080, amount_captured: 6540 },
    ],
  });
  expect((await get('payments?totals=1&currency=EUR')).totals.count).toBe(1);
  expect((await get('payments')).totals).toBeNull();
  expect((await get('orders?totals=1&min_amount=500&max_amount=500')).totals).toMatchObject({
    count: 1,
    complete: true,
    currencies: [{ currency: 'EUR', count: 1, amount_captured: 500 }],
  });
});

test.each([
  ['payments', 'status=failed', 1],
  ['payments', 'order_id=ord_2', 1],
  ['payments', 'min_amount=501', 2],
  ['payments', 'from=2099-01-01T00:00:00Z', 0],
  ['orders', 'status=failed', 1],
  ['orders', 'currency=EUR', 1],
  ['orders', 'to=1999-01-01T00:00:00Z', 0],
  ['orders', 'open_finding=1', 0],
  ['refunds', 'uncertain=1', 0],
])('%s?%s has %i rows', async (list, query, count) => {
  expect((await get(`${list}?${query}`))[list]).toHaveLength(count);
});

test.each(['payments', 'orders'])('%s are read in pages of one by cursor', async (list) => {
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await get(`${list}?limit=1${cursor}`);
    ids.push(...page[list].map((row: Body) => row.order_id));
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  expect(ids.toSorted()).toEqual(['ord_1', 'ord_2', 'ord_3']);
});

test.each([
  ['min_amount=2&max_amount=1', 'min_amount'],
  ['from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z', 'from'],
  ['from=yesterday', 'from'],
  ['from=1969-01-01T00:00:00Z', '1970'],
  ['currency=euro', 'currency'],
  ['min_amount=-1', 'min_amount'],
  ['min_amount=9007199254740993', 'min_amount'],
  ['open_finding=yes', 'open_finding'],
  ['cursor=bm9uZQ', 'cursor'],
])('?%s is refused with a sentence about %s', async (query, named) => {
  for (const list of ['payments', 'orders']) {
    const { status, body } = await api.get(`/api/v1/${list}?${query}`);
    expect(status).toBe(400);
    expect(body.error.message).toContain(named);
  }
});
