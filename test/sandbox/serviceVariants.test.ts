/** Behavior of other services of the family, which the sandbox simulates by faults. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/time.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';

let sandbox: TestSandbox;
beforeEach(async () => {
  sandbox = await startTestSandbox();
});
afterEach(() => sandbox.close());

const faults = (wanted: object) => sandbox.control('PUT', '/faults', wanted);
const pay = async (id: string, fields: object = {}): Promise<Body> =>
  (await sandbox.call('POST', '/payments', cardPayment({ payment_id: id, ...fields }))).body;
const payLater = async (id: string): Promise<Body> =>
  (
    await sandbox.call(
      'POST',
      '/payments',
      cardPaymentOf('processing', 'UE_1001', { payment_id: id }),
    )
  ).body;
const capture = async (id: string, amount?: number): Promise<Body> =>
  (await sandbox.call('POST', `/payments/${id}/capture`, { amount_to_capture: amount })).body;
const retrieve = (id: string) => sandbox.call('GET', `/payments/${id}`);
const rows = async (kind: string): Promise<Body> => {
  const method = kind === 'disputes' ? 'GET' : 'POST';
  return (await sandbox.call(method, `/${kind}/list`, method === 'POST' ? {} : undefined)).body
    .data;
};
const stored = async (): Promise<Body> =>
  (await sandbox.control('GET', '/resources/payment?limit=1000')).data;
const sent = async () => {
  await sandbox.control('POST', '/settle');
  return sandbox.listener.received.map(({ event }) => event);
};

/** One resource of each kind. */
async function makeAll(): Promise<void> {
  await pay('pay_a', { metadata: { order_id: 'ord_a' } });
  await sandbox.call('POST', '/refunds', { payment_id: 'pay_a', refund_id: 'ref_a', amount: 300 });
  await sandbox.control('POST', '/disputes', { payment_id: 'pay_a', amount: 200 });
  await sandbox.call('POST', '/payouts/create', {
    amount: 900,
    currency: 'EUR',
    payout_type: 'bank',
    payout_method_data: {
      bank_transfer: {
        payout_method_type: 'sepa',
        iban: 'DE89370400440532013000',
        bic: 'ABCDEFGH',
      },
    },
    confirm: true,
    auto_fulfill: true,
  });
  await sandbox.advance(2 * SECOND_MS);
}

describe('bodies with few fields, and without times', () => {
  test('webhooks.short_objects: objects have only their ids, status, amount and currency', async () => {
    await faults({ webhooks: { short_objects: 1 } });
    await makeAll();
    const objects = new Map((await sent()).map(({ content }) => [content.type, content.object]));
    expect(objects.get('payment_details')).toEqual({
      payment_id: 'pay_a',
      merchant_id: sandbox.merchantId,
      status: 'succeeded',
      amount: 6540,
      currency: 'USD',
    });
    expect(objects.get('refund_details')).toEqual({
      refund_id: 'ref_a',
      payment_id: 'pay_a',
      status: 'succeeded',
      amount: 300,
      currency: 'USD',
    });
    expect(objects.size).toBe(4);
    for (const object of objects.values()) expect(Object.keys(object)).toHaveLength(5);
    expect((await retrieve('pay_a')).body).toHaveProperty('amount_received', 6540);
  });

  test('webhooks.short_objects is a share of events, the same ones in every run with one seed', async () => {
    const shortOnes = async () => {
      const fresh = await startTestSandbox({
        faults: { seed: 3, webhooks: { short_objects: 0.5 } },
      });
      for (let n = 0; n < 16; n += 1) {
        await fresh.call('POST', '/payments', cardPayment({ payment_id: `p${n}` }));
      }
      await fresh.control('POST', '/settle');
      const objects = fresh.listener.received.map(({ event }) => event.content.object);
      await fresh.close();
      const short = objects.filter((object) => !('created' in object));
      return short.map(({ payment_id: id }) => String(id)).toSorted();
    };
    const first = await shortOnes();
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(16);
    expect(await shortOnes()).toEqual(first);
  });

  test('lists.short_rows: rows of every kind have only id, status, amount, currency and created', async () => {
    await faults({ lists: { short_rows: true } });
    await makeAll();
    for (const kind of ['payments', 'refunds', 'disputes', 'payouts']) {
      const [row] = await rows(kind);
      expect(Object.keys(row), kind).toHaveLength(5);
      expect(row).toMatchObject({ amount: expect.anything(), created: expect.any(String) });
    }
    expect((await rows('payments'))[0]).not.toHaveProperty('amount_received');
  });

  test.each([
    ['webhooks', async () => (await sent())[0]?.content.object],
    ['lists', async () => (await rows('payments'))[0]],
    ['retrieves', async () => (await retrieve('pay_a')).body],
  ])(
    '%s.omit_fields: only bodies of this channel have no created or version',
    async (channel, show) => {
      await faults({ [channel]: { omit_fields: ['created', 'version'] } });
      await pay('pay_a');
      const shown = await show();
      expect(shown).toMatchObject({ payment_id: 'pay_a', amount_received: 6540 });
      expect(shown).not.toHaveProperty('created');
      expect(shown).not.toHaveProperty('modified_at');
      expect((await stored())[0]).toMatchObject({ created: expect.any(String) });
      await faults({ [channel]: { omit_fields: ['version'] } });
      await pay('pay_b');
      if (channel !== 'webhooks') expect(await show()).toHaveProperty('created');
    },
  );
});

describe('lagging views', () => {
  test('lists.replica_lag_ms: the list lags 30 s behind a retrieve', async () => {
    await faults({ lists: { replica_lag_ms: 30 * SECOND_MS } });
    await pay('pay_a', { capture_method: 'manual' });
    await sandbox.advance(30 * SECOND_MS);
    await capture('pay_a');
    expect((await retrieve('pay_a')).body.status).toBe('succeeded');
    expect((await rows('payments'))[0].status).toBe('requires_capture');
    await sandbox.advance(30 * SECOND_MS);
    expect((await rows('payments'))[0].status).toBe('succeeded');
  });

  test('retrieves.lag_ms: a retrieve shows the earlier state, and not found before the creation', async () => {
    await faults({ retrieves: { lag_ms: 20 * SECOND_MS } });
    await pay('pay_a', { capture_method: 'manual' });
    expect((await retrieve('pay_a')).status).toBe(404);
    await sandbox.advance(20 * SECOND_MS);
    expect((await retrieve('pay_a')).body.status).toBe('requires_capture');
    // The response to a change shows the current state.
    expect((await capture('pay_a')).status).toBe('succeeded');
    expect((await retrieve('pay_a')).body.status).toBe('requires_capture');
    await sandbox.advance(20 * SECOND_MS);
    expect((await retrieve('pay_a')).body.status).toBe('succeeded');
    expect((await rows('payments'))[0].status).toBe('succeeded');
  });

  test('retrieves.lag_ms holds for refunds, disputes and payouts, too', async () => {
    await faults({ retrieves: { lag_ms: DAY_MS } });
    await makeAll();
    const [dispute] = await rows('disputes');
    const [payout] = await rows('payouts');
    const paths = [
      '/refunds/ref_a',
      `/disputes/${dispute.dispute_id}`,
      `/payouts/${payout.payout_id}`,
    ];
    for (const path of paths) expect((await sandbox.call('GET', path)).status, path).toBe(404);
    await sandbox.advance(DAY_MS);
    for (const path of paths) expect((await sandbox.call('GET', path)).status, path).toBe(200);
  });
});

describe('payments', () => {
  test('payments.processing_first: the response is processing, and the decision comes later', async () => {
    await faults({ payments: { processing_first: 1, processing_ms: 10 * MINUTE_MS } });
    expect(await pay('paid')).toMatchObject({ status: 'processing', amount_received: 0 });
    await pay('held', { capture_method: 'manual' });
    await pay('bad', { amount: 771_001 });
    const open = await pay('open', { confirm: false });
    const confirmed = await sandbox.call('POST', `/payments/${open.payment_id}/confirm`, {});
    expect(confirmed.body.status).toBe('processing');
    await sandbox.advance(9 * MINUTE_MS);
    const statuses = async () =>
      Object.fromEntries((await stored()).map((one: Body) => [one.payment_id, one.status]));
    expect(new Set(Object.values(await statuses()))).toEqual(new Set(['processing']));
    await sandbox.advance(MINUTE_MS);
    expect(await statuses()).toEqual({
      paid: 'succeeded',
      held: 'requires_capture',
      bad: 'failed',
      open: 'succeeded',
    });
    const types = (await sent()).map(({ event_type: type }) => type);
    expect(types).toContain('payment_processing');
  });

  test('payments.surcharge: net_amount is amount and surcharge, and is what is held and received', async () => {
    await faults({ payments: { surcharge: 1, surcharge_percent: 3 } });
    expect(await pay('pay_a', { amount: 3_000 })).toMatchObject({
      amount: 3_000,
      net_amount: 3_090,
      amount_received: 3_090,
    });
    const fields = { amount: 1_000, capture_method: 'manual_multiple' };
    expect(await pay('pay_b', fields)).toMatchObject({ amount_capturable: 1_030 });
    expect(await capture('pay_b', 1_000)).toMatchObject({
      status: 'partially_captured_and_capturable',
      amount_capturable: 30,
    });
    expect(await capture('pay_b')).toMatchObject({ status: 'succeeded', amount_received: 1_030 });
    await pay('pay_c', { amount: 1_000, confirm: false });
    const changed = await sandbox.call('POST', '/payments/pay_c', { amount: 2_000 });
    expect(changed.body).toMatchObject({ amount: 2_000, net_amount: 2_030 });
    const refund = { payment_id: 'pay_a', amount: 3_090 };
    expect((await sandbox.call('POST', '/refunds', refund)).status).toBe(200);
  });

  test('payments.early_received: processing shows the full amount, failed shows null, and neither is stored', async () => {
    await faults({ payments: { early_received: 1, surcharge: 1 } });
    const net = 6540 + 196;
    expect(await payLater('pay_a')).toMatchObject({ status: 'processing', amount_received: net });
    expect((await retrieve('pay_a')).body.amount_received).toBe(net);
    expect((await rows('payments'))[0].amount_received).toBe(net);
    expect((await stored())[0].amount_received).toBe(0);
    await sandbox.advance(5 * MINUTE_MS);
    expect((await retrieve('pay_a')).body).toMatchObject({
      status: 'failed',
      amount_received: null,
    });
    expect((await stored())[0].amount_received).toBe(0);
    const received = (await sent()).map(({ content }) => content.object.amount_received);
    expect(received).toEqual([net, null]);
  });
});

test('payments.no_received: succeeded shows null in every body, and the amount is stored', async () => {
  await faults({ payments: { no_received: 1 } });
  expect(await pay('pay_a')).toMatchObject({ status: 'succeeded', amount_received: null });
  await pay('pay_b', { capture_method: 'manual' });
  expect(await capture('pay_b')).toMatchObject({ status: 'succeeded', amount_received: null });
  await pay('pay_c', { capture_method: 'manual' });
  expect(await capture('pay_c', 40)).toMatchObject({ amount_received: 40 });
  expect((await retrieve('pay_b')).body).toMatchObject({ amount_received: null });
  expect(await rows('payments')).toMatchObject([
    { payment_id: 'pay_c', amount_received: 40 },
    { payment_id: 'pay_b', amount_received: null },
    { payment_id: 'pay_a', amount_received: null },
  ]);
  const all = await stored();
  expect(all.map((payment: Body) => payment.amount_received)).toEqual([6540, 6540, 40]);
});

test('payments.no_part_status: a payment of which a part was captured stays requires_capture', async () => {
  await faults({ payments: { no_part_status: 1 } });
  await pay('pay_a', { capture_method: 'manual_multiple' });
  expect(await capture('pay_a', 3000)).toMatchObject({
    status: 'requires_capture',
    amount_received: 3000,
    amount_capturable: 3540,
  });
  expect(await stored()).toMatchObject([{ status: 'requires_capture', amount_received: 3000 }]);
  expect(await capture('pay_a')).toMatchObject({ status: 'succeeded', amount_received: 6540 });
  expect((await sent()).map((event) => event.event_type)).toEqual([
    'payment_authorized',
    'payment_authorized',
    'payment_succeeded',
  ]);
});

describe('names, forms and statuses of the family', () => {
  test('webhooks.plain_ids and unknown_types: ids are called id, and the type is unknown', async () => {
    await faults({ webhooks: { plain_ids: 1, unknown_types: 1 } });
    await makeAll();
    const events = await sent();
    const objects = new Map(events.map(({ content }) => [content.type, content.object]));
    expect(objects.get('refund_details')).toMatchObject({ id: 'ref_a', payment_id: 'pay_a' });
    for (const type of ['refund', 'dispute', 'payout']) {
      expect(objects.get(`${type}_details`)).not.toHaveProperty(`${type}_id`);
    }
    expect(objects.get('payment_details')).toMatchObject({ payment_id: 'pay_a' });
    expect(new Set(events.map((event) => event.event_type))).toEqual(new Set(['resource_updated']));
  });

  test.each([
    ['webhooks', async () => (await sent())[0]?.content.object],
    ['lists', async () => (await rows('payments'))[0]],
    ['retrieves', async () => (await retrieve('pay_a')).body],
  ])('%s.null_fields: only bodies of this channel have null there', async (channel, show) => {
    const names = ['amount_received', 'modified_at', 'cancelled_at'];
    await faults({ [channel]: { null_fields: names } });
    const made = await pay('pay_a');
    expect(made).toMatchObject({ amount_received: 6540, modified_at: expect.any(String) });
    const shown = await show();
    expect(shown).toMatchObject({ amount: 6540, amount_received: null, modified_at: null });
    expect(shown).not.toHaveProperty('cancelled_at');
  });

  test('payments.partial_authorization: a part can be captured, and no more', async () => {
    await faults({ payments: { partial_authorization: 1, authorized_percent: 70 } });
    const held = { amount: 1_000, capture_method: 'manual_multiple' };
    expect(await pay('pay_a', held)).toMatchObject({
      status: 'partially_authorized_and_requires_capture',
      amount_capturable: 700,
    });
    expect(await capture('pay_a', 600)).toMatchObject({
      status: 'partially_captured_and_capturable',
      amount_capturable: 100,
    });
    expect(await capture('pay_a')).toMatchObject({
      status: 'partially_captured',
      amount_received: 700,
      amount_capturable: 0,
    });
    expect(await pay('pay_b')).toMatchObject({ status: 'succeeded', amount_received: 6540 });
  });

  test('payments.lapse_cancels: a hold that is not captured in time ends cancelled', async () => {
    await faults({ payments: { lapse_cancels: 1 } });
    await pay('pay_a', { capture_method: 'manual' });
    await sandbox.advance(7 * DAY_MS);
    expect((await retrieve('pay_a')).body).toMatchObject({
      status: 'cancelled',
      amount_capturable: 0,
    });
    expect((await sent()).map((event) => event.event_type)).toEqual([
      'payment_authorized',
      'payment_cancelled',
    ]);
  });

  test('payments.customer_action and unknown_status show other statuses, and neither is stored', async () => {
    await faults({ payments: { customer_action: 1, unknown_status: 1 } });
    await pay('acting', { authentication_type: 'three_ds', amount: 730_000 });
    await payLater('late');
    expect((await retrieve('acting')).body.status).toBe('requires_customer_action');
    expect((await retrieve('late')).body.status).toBe('pending');
    expect((await sent()).map(({ content }) => content.object.status)).toEqual([
      'requires_customer_action',
      'pending',
    ]);
    const statuses = (await stored()).map((one: Body) => one.status);
    expect(statuses).toEqual(['requires_action', 'processing']);
  });

  test('payments.failed_capturable: a failed payment shows the full amount as capturable', async () => {
    await faults({ payments: { failed_capturable: 1 } });
    expect(await pay('pay_a', { amount: 771_001 })).toMatchObject({
      status: 'failed',
      amount_capturable: 771_001,
    });
  });

  test.each([
    ['null', null],
    ['empty', []],
    ['filled', [expect.objectContaining({ amount: 6540 })]],
  ])('payments.nested: arrays inside a payment are %s', async (nested, shown) => {
    await faults({ payments: { nested } });
    const arrays = { refunds: shown, disputes: shown, attempts: shown, captures: shown };
    expect(await pay('pay_a')).toMatchObject({ ...arrays, payment_method_data: 'card' });
  });

  test('refunds.pending_first: the response is pending, and the decision comes later', async () => {
    await faults({ refunds: { pending_first: 1, pending_ms: 10 * MINUTE_MS } });
    await pay('pay_a', { amount: 50_000 });
    for (const [id, amount] of Object.entries({ good: 300, bad: 7710, odd: 7730, slow: 7720 })) {
      const refund = { payment_id: 'pay_a', refund_id: id, amount };
      expect((await sandbox.call('POST', '/refunds', refund)).body.status).toBe('pending');
    }
    await sandbox.advance(10 * MINUTE_MS);
    const refunds: Body[] = await rows('refunds');
    expect(Object.fromEntries(refunds.map((one) => [one.refund_id, one.status]))).toEqual({
      good: 'succeeded',
      bad: 'failed',
      odd: 'review',
      slow: 'succeeded',
    });
  });

  test('errors: without a type, and with the codes and statuses of the family', async () => {
    await pay('pay_a', { capture_method: 'manual' });
    await pay('pay_b');
    const errors = async () => {
      const replies = [
        await sandbox.call('POST', '/payments/pay_a/capture', { amount_to_capture: 7_000 }),
        await sandbox.call('POST', '/payments/pay_b/capture', {}),
        await retrieve('none'),
      ];
      return replies.map(({ status, body }) => [status, body.error.type, body.error.code]);
    };
    expect(await errors()).toEqual([
      [400, 'invalid_request', 'IR_04'],
      [409, 'invalid_request', 'IR_14'],
      [404, 'invalid_request', 'IR_05'],
    ]);
    await faults({ errors: { without_type: true } });
    expect((await errors()).map(([, type]) => type)).toEqual([undefined, undefined, undefined]);
    await faults({ errors: { family: true } });
    expect(await errors()).toEqual([
      [422, 'invalid_request', 'IR_06'],
      [400, 'invalid_request', 'IR_14'],
      [404, 'invalid_request', 'HE_02'],
    ]);
    await faults({ errors: { family: true }, requests: [{ fault: 'server_error', status: 502 }] });
    expect((await retrieve('pay_a')).body.error.type).toBe('connector');
  });

  test('family_fields: each resource has the fields of the family', async () => {
    await faults({ family_fields: true });
    await makeAll();
    const [payment] = await rows('payments');
    expect(payment).toMatchObject({ created: expect.any(String), updated: expect.any(String) });
    const [refund] = await rows('refunds');
    const times = { created_at: expect.any(String), updated_at: expect.any(String) };
    expect(refund).toMatchObject(times);
    const [dispute] = await rows('disputes');
    expect(dispute).toMatchObject({
      dispute_status: 'dispute_opened',
      created_at: times.created_at,
    });
    const [payout] = await rows('payouts');
    expect(payout).toMatchObject({ status: 'success', created: expect.any(String) });
    for (const body of [payment, refund, dispute, payout]) {
      expect(body).not.toHaveProperty('modified_at');
      expect(body).not.toHaveProperty('captured_at');
    }
    for (const body of [refund, dispute]) expect(body).not.toHaveProperty('created');
    expect(dispute).not.toHaveProperty('status');
    const accepted = await sandbox.call('POST', `/disputes/accept/${dispute.dispute_id}`);
    expect(accepted.body).toMatchObject({ dispute_status: 'dispute_accepted' });
    expect(accepted.body).not.toHaveProperty('modified_at');
  });

  test('family_evidence: a dispute, a list of files, and an empty body', async () => {
    await pay('pay_a');
    const { dispute_id: id } = await sandbox.control('POST', '/disputes', { payment_id: 'pay_a' });
    await faults({ family_evidence: true });
    const form = new FormData();
    form.set('purpose', 'dispute_evidence');
    form.set('dispute_id', id);
    form.set('file', new File(['signed'], 'receipt.pdf', { type: 'application/pdf' }));
    const headers = { 'api-key': sandbox.apiKey };
    const url = `${sandbox.baseUrl}/files`;
    const uploaded = await fetch(url, { method: 'POST', headers, body: form });
    const { file_id: fileId } = (await uploaded.json()) as { file_id: string };
    const evidence = { dispute_id: id, receipt: fileId, customer_name: 'Ada' };
    const submitted = await sandbox.call('POST', '/disputes/evidence', evidence);
    expect(submitted.body).toMatchObject({ dispute_id: id, dispute_status: 'dispute_challenged' });
    expect((await sandbox.call('GET', `/disputes/evidence/${id}`)).body).toEqual([
      { evidence_type: 'receipt', file_metadata_response: { file_id: fileId } },
    ]);
    const removed = await fetch(`${sandbox.baseUrl}/disputes/evidence`, {
      method: 'DELETE',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ dispute_id: id, evidence_type: 'receipt' }),
    });
    expect([removed.status, await removed.text()]).toEqual([200, '']);
  });

  test('no_rate_headers: responses do not show the budget', async () => {
    await faults({ no_rate_headers: true });
    const headers = { 'api-key': sandbox.apiKey };
    const reply = await fetch(`${sandbox.baseUrl}/health`, { headers });
    expect([...reply.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  });
});

describe('a wrong clock', () => {
  test('clock_offset_ms: every time that is written or shown is off, and due times are not affected', async () => {
    const offsetMs = 3 * DAY_MS;
    await faults({ clock_offset_ms: offsetMs, payments: { processing_first: 1 } });
    const aheadMs = (time: unknown) => Date.parse(String(time)) - Date.now();
    const isOff = (time: unknown) => Math.abs(aheadMs(time) - offsetMs) < 10 * MINUTE_MS;
    const made = await pay('pay_a');
    const reply = await retrieve('pay_a');
    const [event] = await sent();
    const times = [
      made.created,
      made.modified_at,
      reply.headers.get('date'),
      event?.timestamp,
      event?.content.object.created,
    ];
    expect(times.map(isOff), times.join()).toEqual(times.map(() => true));
    await sandbox.advance(5 * MINUTE_MS);
    const decided = (await retrieve('pay_a')).body;
    expect(decided.status).toBe('succeeded');
    expect(isOff(decided.captured_at)).toBe(true);
  });

  test('once the clock is right again, new times are right and old ones do not change', async () => {
    await faults({ clock_offset_ms: 3 * DAY_MS, retrieves: { lag_ms: 20 * SECOND_MS } });
    const wrong = await pay('wrong', { capture_method: 'manual' });
    await faults({ retrieves: { lag_ms: 20 * SECOND_MS } });
    const right = await pay('right');
    expect(Date.parse(wrong.created) - Date.parse(right.created)).toBeGreaterThan(2 * DAY_MS);
    await capture('wrong');
    await sandbox.advance(20 * SECOND_MS);
    const changed = (await retrieve('wrong')).body;
    expect(changed).toMatchObject({ status: 'succeeded', created: wrong.created });
    expect(Date.parse(changed.modified_at)).toBeGreaterThan(Date.parse(wrong.modified_at));
  });

  test('a wrong clock changes no hold: it still expires after seven days', async () => {
    await faults({ clock_offset_ms: 30 * DAY_MS });
    await pay('held', { capture_method: 'manual_multiple' });
    await sandbox.control('DELETE', '/faults');
    await capture('held', 100);
    await sandbox.advance(6 * DAY_MS);
    expect((await retrieve('held')).body.status).toBe('partially_captured_and_capturable');
    await sandbox.advance(DAY_MS);
    expect((await retrieve('held')).body.status).toBe('expired');
  });
});
