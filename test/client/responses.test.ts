/** Responses are parsed leniently, and errors are reported exactly. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createAdminClient, type createClient } from '../../src/client/index.ts';
import { errorOf } from './failing.ts';
import {
  API_KEY,
  clientOf,
  createFakeTime,
  type PaymentService,
  startPaymentService,
} from './paymentService.ts';

const CARD_NUMBER = '4242424242424242';
type Client = ReturnType<typeof createClient>;
const error = (type: string, code: string, message = '') => ({ error: { type, code, message } });

async function serviceReturning(status: number, body: unknown, headers = {}) {
  const service = await startPaymentService();
  service.always = () => ({ status, body, headers });
  return service;
}

describe('responses', () => {
  it('may have unknown fields, nulls, and few fields', async () => {
    const news = { payment_id: 'p', status: 'frozen', amount: null, novelty: { deep: [1] } };
    const service = await serviceReturning(201, news);
    expect(await clientOf(service).payments.retrieve('p')).toEqual(news);
  });

  it('without the id of the resource are unreadable, and leave the outcome unknown', async () => {
    const service = await serviceReturning(200, { status: 'succeeded' });
    const client = clientOf(service);
    expect(await errorOf(client.payments.retrieve('p'))).toMatchObject({
      kind: 'unreadable_response',
      outcomeUnknown: false,
      message: expect.stringMatching(/the response does not match the contract: payment_id$/),
    });
    expect(await errorOf(client.payments.capture('p'))).toMatchObject({
      kind: 'unreadable_response',
      outcomeUnknown: true,
      retryable: false,
      attempts: 1,
    });
    service.fail({ kind: 'response', status: 503 }, { kind: 'cutBefore' });
    expect((await errorOf(client.payments.retrieve('p'))).attempts).toBe(3);
  });

  it('with invalid money are rejected by the name of the field, without its value', async () => {
    const service = await serviceReturning(200, {
      payment_id: 'p',
      amount: 65.4,
      currency: 978,
      error_code: 51,
    });
    const { message } = await errorOf(clientOf(service).payments.retrieve('p'));
    expect(message).toMatch(/: amount, currency$/);
    expect(message).not.toMatch(/65|978/);
  });

  it('with other invalid fields are read without them', async () => {
    const odd = {
      payment_id: 'p',
      amount: 6540,
      error_code: 51,
      metadata: [],
      order_details: [{ name: 'Shirt', quantity: 1.5 }],
      refunds: [{ amount: 1 }],
    };
    const service = await serviceReturning(200, odd);
    expect(await clientOf(service).payments.retrieve('p')).toEqual({
      payment_id: 'p',
      amount: 6540,
      order_details: [{ name: 'Shirt' }],
    });
  });

  const removals = (service: PaymentService) => {
    const { customers, disputes } = clientOf(service);
    const { apiKeys } = createAdminClient({ ...service, apiKey: 'admin_1234567890' });
    return [
      () => disputes.deleteEvidence({ dispute_id: 'd', evidence_type: 'receipt' }),
      () => customers.delete('c'),
      () => apiKeys.revoke('m', 'k'),
    ];
  };

  it('to a removal may be without a body, and to a change of money not', async () => {
    const service = await serviceReturning(200, '');
    for (const remove of removals(service)) expect(await remove()).toBeUndefined();
    const accepted = clientOf(service).disputes.accept('d');
    expect(await errorOf(accepted)).toMatchObject({ outcomeUnknown: true });
  });

  it('to a removal may have other fields, and are no page of a proxy', async () => {
    const deleted = await serviceReturning(200, { deleted: true });
    const [, removeCustomer, revoke] = removals(deleted);
    expect(await removeCustomer?.()).toEqual({ deleted: true });
    expect(await revoke?.()).toEqual({ deleted: true });
    const proxy = await serviceReturning(200, '<!doctype html><title>Maintenance</title>');
    for (const remove of removals(proxy)) {
      expect(await errorOf(remove())).toMatchObject({
        kind: 'unreadable_response',
        outcomeUnknown: true,
      });
    }
  });

  it('with evidence may be a list of files, which are read in their groups', async () => {
    const service = await serviceReturning(200, [
      { evidence_type: 'receipt', file_metadata_response: { file_id: 'file_1', file_size: 9 } },
      { evidence_type: 'invoice', file_metadata_response: { file_id: 'file_2' } },
      { evidence_type: 'refund_policy', file_metadata_response: null },
    ]);
    expect(await clientOf(service).disputes.retrieveEvidence('d')).toEqual({
      dispute_id: 'd',
      evidence: { product_information: { receipt: 'file_1' } },
    });
    const empty = await serviceReturning(200, []);
    const none = await clientOf(empty).disputes.retrieveEvidence('d');
    expect(none.evidence).toEqual({});
  });

  it('of the health check may be any text', async () => {
    const service = await serviceReturning(200, 'health is good');
    await clientOf(service).health();
  });

  it('of the health check are no page of a website, which shows nothing about the key', async () => {
    const service = await serviceReturning(200, '\n<!doctype html><title>Dashboard</title>');
    const { kind } = await errorOf(clientOf(service).health());
    expect(kind).toBe('unreadable_response');
  });
});

describe('lists', () => {
  const rows = [{ payment_id: 'a' }, { payment_id: 'b', extra: true }];
  it.each([
    ['payments', { count: 2, total_count: 9, data: rows }, 9, undefined],
    ['others', { data: rows, total_count: 9, has_more: true }, 9, true],
    ['a bare array', rows, undefined, undefined],
    ['odd counts', { data: rows, total_count: '9', has_more: 'yes' }, undefined, undefined],
    ['a part of a count', { data: rows, total_count: 1.5, has_more: false }, undefined, false],
  ])('are read from the envelope of %s', async (_, body, totalCount, hasMore) => {
    const service = await serviceReturning(200, body);
    const page = await clientOf(service).payments.list({ limit: 2, status: 'succeeded' });
    expect(page).toEqual({ items: rows, unreadable: [], totalCount, hasMore });
    expect(service.received[0]?.body).toEqual({ limit: 2, status: 'succeeded' });
  });

  it('can be filtered by query, lists included', async () => {
    const service = await serviceReturning(200, []);
    const client = clientOf(service);
    await client.payments.listByQuery({ created_gte: '2026-01-01T00:00:00Z', limit: 1 });
    await client.disputes.list({ dispute_status: ['dispute_opened', 'dispute_lost'] });
    expect(service.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /payments/list?created_gte=2026-01-01T00%3A00%3A00Z&limit=1',
      'GET /disputes/list?dispute_status=dispute_opened%2Cdispute_lost',
    ]);
  });

  /** 250 rows in pages of at most `largest`, in one of the envelopes. */
  async function walk(
    wrap: (data: unknown[], all: number, offset: number) => unknown,
    largest = 100,
  ) {
    const all = Array.from({ length: 250 }, (_, i) => ({ refund_id: `r${i}` }));
    const service = await startPaymentService();
    service.always = ({ body }) => {
      const { limit = 10, offset = 0 } = body as { limit?: number; offset?: number };
      const data = all.slice(offset, offset + Math.min(limit, largest));
      return { status: 200, body: wrap(data, all.length, offset) };
    };
    const ids: string[] = [];
    for await (const { refund_id } of clientOf(service).refunds.iterate()) ids.push(refund_id);
    return { ids, all: all.map(({ refund_id }) => refund_id), requests: service.received.length };
  }

  it.each([
    ['total_count', 3, (data: unknown[], all: number) => ({ count: 1, total_count: all, data })],
    [
      'has_more',
      3,
      (data: unknown[], all: number, offset: number) => ({
        data,
        total_count: all,
        has_more: offset + data.length < all,
      }),
    ],
    ['an empty page', 4, (data: unknown[]) => data],
  ] as const)('are walked to the end that %s reports', async (_, requests, wrap) => {
    const walked = await walk(wrap);
    expect(walked.ids).toEqual(walked.all);
    expect(walked.requests).toBe(requests);
  });

  it('are read to the end when pages have fewer rows than requested', async () => {
    const walked = await walk((data) => data, 20);
    expect(walked.ids).toEqual(walked.all);
  });

  it.each([
    ['has_more of a short page', { has_more: false, total_count: 250 }],
    ['total_count of one page', { has_more: true, total_count: 20 }],
    ['total_count of more rows than it shows', { has_more: false, total_count: 300 }],
  ])('are read to the end despite a wrong %s', async (_, envelope) => {
    const walked = await walk(
      (data) => ({ data, ...envelope, has_more: envelope.has_more && data.length > 0 }),
      20,
    );
    expect(walked.ids).toEqual(walked.all);
  });

  /** A list in which this many rows are added at the front after each page. */
  async function walkGrowing(arrivals: readonly number[], limit: number) {
    const arriving = [...arrivals];
    let all = Array.from({ length: 3 * limit }, (_, i) => ({ refund_id: `old${i}` }));
    const old = all.map(({ refund_id }) => refund_id);
    const service = await startPaymentService();
    service.always = ({ body }) => {
      const { offset = 0 } = body as { offset?: number };
      const data = all.slice(offset, offset + limit);
      const page = { count: data.length, total_count: all.length, data };
      const news = Array.from({ length: arriving.shift() ?? 0 }, (_, i) => ({
        refund_id: `new${arriving.length}-${i}`,
      }));
      all = [...news, ...all];
      return { status: 200, body: page };
    };
    const ids: string[] = [];
    for await (const { refund_id } of clientOf(service).refunds.iterate({ limit })) {
      ids.push(refund_id);
    }
    return { ids, old };
  }

  it.each([
    ['fewer than a page', [1, 0, 1]],
    ['as many as a page', [4, 0, 0]],
    ['pages and a half', [0, 6, 3]],
    ['all that was read', [0, 8]],
  ])('return every row once while %s are added at the front', async (_, arrivals) => {
    const { ids, old } = await walkGrowing(arrivals, 4);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(ids.filter((id) => id.startsWith('old'))).toEqual(old);
  });

  it('return every readable row before they report an unreadable one', async () => {
    const pages = [
      [{ refund_id: 'a' }, { refund_id: 'b', amount: 65.4 }],
      [{ amount: 1 }, { refund_id: 'c' }],
      [],
    ];
    const service = await startPaymentService();
    service.always = () => ({ status: 200, body: pages.shift() });
    const ids: string[] = [];
    const walk = async () => {
      for await (const { refund_id } of clientOf(service).refunds.iterate({ limit: 2 })) {
        ids.push(refund_id);
      }
    };
    expect((await errorOf(walk())).kind).toBe('unreadable_response');
    expect(ids).toEqual(['a', 'c']);
    const offsets = service.received.map(({ body }) => (body as { offset: number }).offset);
    expect(offsets).toEqual([0, 2, 4]);
  });

  it('go on after pages without a readable row', async () => {
    const rows = [{ amount: 1 }, { amount: 2 }, { amount: 3 }, { refund_id: 'a' }];
    const service = await startPaymentService();
    service.always = ({ body }) => {
      const { offset = 0 } = body as { offset?: number };
      const data = rows.slice(offset, offset + 1);
      return { status: 200, body: { count: data.length, total_count: rows.length, data } };
    };
    const ids: string[] = [];
    const walk = async () => {
      for await (const { refund_id } of clientOf(service).refunds.iterate({ limit: 1 })) {
        ids.push(refund_id);
      }
    };
    const { message } = await errorOf(walk());
    expect(ids).toEqual(['a']);
    expect(message).toContain('some rows do not match the contract');
  });

  it.each([
    ['unreadable', [{ profile_id: 'a' }, {}]],
    ['on another page', { data: [{ profile_id: 'a' }], has_more: true }],
    ['counted and not shown', { data: [{ profile_id: 'a' }], total_count: 2, has_more: false }],
  ])('of business profiles never omit one silently: %s', async (_, body) => {
    const service = await serviceReturning(200, body);
    const thrown = await errorOf(clientOf(service).businessProfiles.list('merchant_1'));
    expect(thrown.kind).toBe('unreadable_response');
  });

  it('are not read forever when offset is ignored', async () => {
    const service = await serviceReturning(200, [{ refund_id: 'a' }, { refund_id: 'b' }]);
    const walked = async (limit: number) => {
      const ids: string[] = [];
      for await (const { refund_id } of clientOf(service).refunds.iterate({ limit })) {
        ids.push(refund_id);
      }
      return ids;
    };
    expect(await walked(100)).toEqual(['a', 'b']);
    expect((await errorOf(walked(2))).kind).toBe('unreadable_response');
  });

  it.each([3, 4, 5])('end with an error when offset is ignored, %i rows counted', async (all) => {
    const data = [{ refund_id: 'a' }, { refund_id: 'b' }];
    const service = await serviceReturning(200, { count: 2, total_count: all, data });
    const walk = async () => {
      for await (const _ of clientOf(service).refunds.iterate({ limit: 2 }));
    };
    expect((await errorOf(walk())).kind).toBe('unreadable_response');
  });
});

describe('errors', () => {
  it.each([
    [400, 'IR_04', 'refused', false],
    [401, 'AU_02', 'refused', false],
    [403, 'ZZ_99', 'refused', false],
    [404, 'IR_05', 'refused', false],
    [418, 'ZZ_99', 'refused', false],
    [422, 'HE_00', 'refused', false],
    [429, 'ZZ_99', 'rate_limited', true],
    [500, 'ZZ_99', 'unavailable', true],
    [502, 'CE_01', 'unavailable', true],
  ])('HTTP %i with %s: %s, retryable: %s', async (status, code, kind, retryable) => {
    const service = await serviceReturning(status, error('a_new_type', code, 'why'), {
      'x-request-id': 'req-1',
    });
    const thrown = await errorOf(clientOf(service).payments.retrieve('p'));
    expect(thrown).toMatchObject({
      kind,
      retryable,
      code,
      httpStatus: status,
      requestId: 'req-1',
      operation: 'retrievePayment',
      attempts: retryable ? 5 : 1,
    });
    expect(thrown.message).toContain(code);
  });

  it('without an envelope are classified by their HTTP status', async () => {
    const service = await serviceReturning(403, '<h1>Forbidden</h1>');
    const thrown = await errorOf(clientOf(service).payments.retrieve('p'));
    expect(thrown).toMatchObject({ kind: 'refused', httpStatus: 403, code: undefined });
  });

  it('a decline is not an error: its code leads to the advice', async () => {
    const declined = { payment_id: 'p', status: 'failed', unified_code: 'UE_1001' };
    const service = await serviceReturning(200, declined);
    const { payment } = await clientOf(service).payments.create({
      amount: 1,
      currency: 'USD',
      profile_id: 'pro_1',
      payment_id: 'p',
    });
    expect(payment.unified_code).toBe('UE_1001');
  });

  it('an error with the status of a success is a refusal: nothing was done, and nothing is unknown', async () => {
    const error = { type: 'invalid_request', code: 'IR_14', message: 'It is refunded already.' };
    const service = await serviceReturning(200, { error });
    const refused = await errorOf(
      clientOf(service).refunds.create({ payment_id: 'order-1', refund_id: 'back-1', amount: 100 }),
    );
    expect(refused).toMatchObject({ kind: 'refused', code: 'IR_14', outcomeUnknown: false });
    expect(service.received).toHaveLength(1);
  });

  it('Retry-After sets the wait', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'response', status: 503, headers: { 'retry-after': '7' } });
    const time = createFakeTime();
    await clientOf(service, { time }).health();
    expect(time.waitsMs).toEqual([7125]);
  });

  it('Retry-After as a time sets the wait, by the clock of the service', async () => {
    const service = await startPaymentService();
    const headers = {
      date: 'Sun, 06 Nov 1994 08:49:30 GMT',
      'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT',
    };
    service.fail({ kind: 'response', status: 503, headers });
    const time = createFakeTime();
    await clientOf(service, { time }).health();
    expect(time.waitsMs).toEqual([7125]);
  });
});

describe('what an error quotes', () => {
  const quote = async (message: string, requestId = 'req-1') => {
    const body = error('invalid_request', 'IR_04', message);
    const service = await serviceReturning(400, body, { 'x-request-id': requestId });
    return await errorOf(clientOf(service).payments.retrieve('p'));
  };

  it.each([
    '123456789012345',
    '4242424242424242',
    '0a1b2c3d-1111-4222-8333-444455556666',
    '1f0e5f6c-4242-4242-4242-424242424242',
  ])('includes the request id %s unchanged, so that the service can find it', async (requestId) => {
    const thrown = await quote('why', requestId);
    expect(thrown.requestId).toBe(requestId);
    expect(thrown.message).toContain(requestId);
  });

  it.each(['order 202611210042', 'pay_123456789012345 is gone', '2026-11-21 10:15:00-07:00 12'])(
    'is unchanged for %j, which has no card number',
    async (text) => {
      expect((await quote(text)).message).toContain(text);
    },
  );

  it.each([
    ['The API key was revoked.', 'The API key was revoked'],
    ['Try again…', 'Try again…'],
    ['Try again...', 'Try again...'],
    ['Is it yours?', 'Is it yours?'],
  ])('is a part of a sentence: %j has no period of its own', async (text, quoted) => {
    expect((await quote(text)).message).toContain(`IR_04: ${quoted} (request req-1)`);
  });

  it.each([
    CARD_NUMBER,
    '4242 4242 4242 4242',
    '4242-4242-4242-4242 12/30',
    '17 4242 4242 4242 4242 12 30 123',
    '3782 822463 10005',
    '6304000000000000000',
  ])('is not the card number in %j', async (text) => {
    const { message } = await quote(`bad card ${text}!`);
    expect(message).toContain('bad card [digits]');
    expect(message).not.toMatch(/\d{4}[ -]?\d{4}/);
  });
});

describe('a response about something else than was requested', () => {
  const payment = { payment_id: 'pay_1', status: 'succeeded', amount: 6540, currency: 'EUR' };
  const refund = { refund_id: 're_1', payment_id: 'pay_1', amount: 100, currency: 'EUR' };
  const create = { amount: 6540, currency: 'EUR', profile_id: 'pro_1' } as const;

  it.each<[string, object, string, (client: Client) => Promise<unknown>]>([
    [
      'payment',
      { ...payment, payment_id: 'pay_OTHER' },
      'payment_id',
      (c) => c.payments.retrieve('pay_1'),
    ],
    [
      'refund',
      { ...refund, refund_id: 're_OTHER' },
      'refund_id',
      (c) => c.refunds.retrieve('re_1'),
    ],
    ['dispute', { dispute_id: 'dp_OTHER' }, 'dispute_id', (c) => c.disputes.retrieve('dp_1')],
    ['payout', { payout_id: 'po_OTHER' }, 'payout_id', (c) => c.payouts.retrieve('po_1')],
    ['customer', { customer_id: 'cus_OTHER' }, 'customer_id', (c) => c.customers.retrieve('cus_1')],
  ])('is not read as the %s', async (_name, body, field, read) => {
    const service = await serviceReturning(200, body);
    expect(await errorOf(read(clientOf(service)))).toMatchObject({
      kind: 'unreadable_response',
      outcomeUnknown: false,
      message: expect.stringMatching(
        new RegExp(`the response is about something else than was requested: ${field}$`),
      ),
    });
  });

  it.each<[string, object, string, (client: Client) => Promise<unknown>]>([
    [
      'capture',
      { ...payment, payment_id: 'pay_OTHER' },
      'payment_id',
      (c) => c.payments.capture('pay_1'),
    ],
    [
      'cancellation',
      { ...payment, payment_id: 'pay_OTHER' },
      'payment_id',
      (c) => c.payments.cancel('pay_1'),
    ],
    [
      'creation by its amount',
      { ...payment, amount: 6541 },
      'amount',
      (c) => c.payments.create(create),
    ],
    [
      'creation by its currency',
      { ...payment, currency: 'USD' },
      'currency',
      (c) => c.payments.create(create),
    ],
    [
      'refund by its payment',
      { ...refund, payment_id: 'pay_OTHER' },
      'payment_id',
      (c) => c.refunds.create({ payment_id: 'pay_1' }),
    ],
    [
      'refund by its amount',
      { ...refund, amount: 101 },
      'amount',
      (c) => c.refunds.create({ payment_id: 'pay_1', amount: 100 }),
    ],
  ])('leaves the outcome of a %s unknown', async (_name, body, field, write) => {
    const service = await serviceReturning(200, body);
    expect(await errorOf(write(clientOf(service)))).toMatchObject({
      kind: 'unreadable_response',
      outcomeUnknown: true,
      retryable: false,
      attempts: 1,
      message: expect.stringMatching(new RegExp(`: ${field}$`)),
    });
  });

  const captured = { ...payment, amount_received: 3000, status: 'partially_captured' };
  const manual = { capture_method: 'manual' };
  const multiple = { capture_method: 'manual_multiple' };
  const capture = { amount_to_capture: 3000 };

  it.each([
    ['less than requested', { ...captured, amount_received: 2999 }],
    ['nothing', { ...captured, ...multiple, amount_received: 0 }],
    ['more than the only capture requested', { ...captured, ...manual, amount_received: 3001 }],
  ])('leaves the outcome of a capture unknown if it states %s', async (_, body) => {
    const service = await serviceReturning(200, body);
    expect(await errorOf(clientOf(service).payments.capture('pay_1', capture))).toMatchObject({
      kind: 'unreadable_response',
      outcomeUnknown: true,
      retryable: false,
      attempts: 1,
      message: expect.stringMatching(/the response contradicts the request: amount_received$/),
    });
  });

  it.each([
    ['the requested amount', { ...captured, ...manual }],
    ['the sum with earlier captures', { ...captured, ...multiple, amount_received: 5000 }],
    ['no captured amount', { ...captured, amount_received: null }],
    [
      'that the capture is being processed',
      { ...payment, status: 'processing', amount_received: 0 },
    ],
  ])('is not the response to a capture that states %s', async (_, body) => {
    const service = await serviceReturning(200, body);
    await clientOf(service).payments.capture('pay_1', capture);
  });

  it.each([
    ['amount_received', { ...payment, ...multiple, amount_received: 6541 }],
    ['amount_received', { ...payment, ...manual, amount_received: 6539 }],
    ['currency', { ...payment, ...manual, amount_received: 6540, currency: 'USD' }],
  ])('contradicts a repeated capture by %s', async (field, body) => {
    const held = { ...payment, status: 'requires_capture', amount_capturable: 6540 };
    const service = await startPaymentService();
    service.always = ({ method }) => ({ status: 200, body: method === 'GET' ? held : body });
    service.fail({ kind: 'response', status: 502 });
    expect(await errorOf(clientOf(service).payments.capture('pay_1'))).toMatchObject({
      outcomeUnknown: true,
      attempts: 3,
      message: expect.stringMatching(new RegExp(`: ${field}$`)),
    });
  });

  it('is not one that leaves fields out, has null, or spells the currency in lower case', async () => {
    const lenient = { ...payment, profile_id: null, amount: undefined, currency: 'eur' };
    const service = await serviceReturning(200, lenient);
    const created = await clientOf(service).payments.create(create);
    expect(created.payment.payment_id).toBe('pay_1');
  });
});

describe('the key', () => {
  it('is sent in its header, and not to the target of a redirect', async () => {
    const elsewhere = await startPaymentService();
    const service = await serviceReturning(302, {}, { location: `${elsewhere.baseUrl}/health` });
    const thrown = await errorOf(clientOf(service).health());
    expect(thrown).toMatchObject({ kind: 'refused', httpStatus: 302, attempts: 1 });
    expect(service.received[0]?.apiKey).toBe(API_KEY);
    expect(elsewhere.received).toEqual([]);
  });

  it('and a card number are in no error, even if the service repeats them', async () => {
    const echo = error('invalid_request', 'IR_04', `bad ${CARD_NUMBER} with ${API_KEY}`);
    const service = await serviceReturning(400, echo, { 'x-request-id': API_KEY });
    const client = clientOf(service);
    const billing = undefined;
    for (const thrown of [
      await errorOf(client.payments.confirm('p', { payment_method: 'card' })),
      await errorOf(
        client.payments.confirm('p', {
          billing,
          payment_method_data: {
            card: {
              card_number: `${CARD_NUMBER}x`,
              card_exp_month: '01',
              card_exp_year: '30',
              card_cvc: '123',
            },
          },
        }),
      ),
    ]) {
      const shown = inspect(thrown, { depth: 10, showHidden: true }) + JSON.stringify(thrown);
      expect(shown).not.toContain(API_KEY);
      expect(shown).not.toContain(CARD_NUMBER);
    }
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain(API_KEY);
    service.always = () => ({ status: 200, body: {}, headers: { 'x-request-id': API_KEY } });
    expect((await errorOf(client.payments.retrieve('p'))).requestId).toBe('[key]');
  });
});
