/** service-interface.md §4.3, §3 and §7.6. */
import { describe, expect, test } from 'vitest';
import { DECLINE_CODES, LEGACY_DECLINE_CODES } from '../../src/contract/index.ts';
import type { UnifiedCode } from '../../src/sandbox/domain/outcomes.ts';
import { BILLING, card, cardPayment, cardPaymentOf } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';
import { checkPayment, type PaymentOperation } from './transitions/index.ts';

const target = useTarget();

const request = (fields: object = {}) => cardPayment({ profile_id: target.profileId, ...fields });
const post = (path: string, body?: object) => target.call('POST', path, body);

async function create(fields: object = {}): Promise<Body> {
  return expectResponse('createPayment', await post('/payments', request(fields)));
}

async function retrieve(id: string): Promise<Body> {
  return expectResponse('retrievePayment', await target.call('GET', `/payments/${id}`));
}

describe('create', () => {
  test('without a method it requires one, and returns a client secret', async () => {
    const reply = await post('/payments', {
      amount: 100,
      currency: 'EUR',
      profile_id: target.profileId,
    });
    const body = expectResponse('createPayment', reply);
    expect(body).toMatchObject({
      status: 'requires_payment_method',
      amount: 100,
      currency: 'EUR',
      amount_received: 0,
      capture_method: 'automatic',
    });
    expect(body.payment_id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(body.client_secret).toEqual(expect.any(String));
  });

  test('with a method and without confirm it requires confirmation', async () => {
    expect(await create({ confirm: false })).toMatchObject({ status: 'requires_confirmation' });
  });

  test('with confirm it succeeds, and returns the card without its number', async () => {
    const body = await create({ metadata: { order_id: 'ord_1' } });
    expect(body).toMatchObject({
      status: 'succeeded',
      amount: 6540,
      amount_received: 6540,
      amount_capturable: 0,
      metadata: { order_id: 'ord_1' },
      payment_method_data: { card: { last4: '4242', exp_month: '12', exp_year: '2039' } },
    });
    expect(JSON.stringify(body)).not.toContain('4242424242424242');
    expect(await retrieve(body.payment_id)).toMatchObject({ status: 'succeeded' });
  });

  test.each(['manual', 'manual_multiple'])('%s capture authorizes only', async (method) => {
    expect(await create({ capture_method: method })).toMatchObject({
      status: 'requires_capture',
      amount_received: 0,
      amount_capturable: 6540,
    });
  });

  test('a payment_id that exists is HE_01, and the payment can be read', async () => {
    const id = freshId('pay');
    await create({ payment_id: id });
    const again = await post('/payments', request({ payment_id: id, amount: 1 }));
    expect([400, 409, 422]).toContain(again.status);
    expectError(again, again.status, 'HE_01');
    expect(await retrieve(id)).toMatchObject({ amount: 6540 });
  });

  test('a repeated create is HE_01, even if it would now be rejected', async () => {
    const { body: customer } = await post('/customers', {});
    const fields = { payment_id: freshId('pay'), customer_id: customer.customer_id };
    await create(fields);
    await target.call('DELETE', `/customers/${customer.customer_id}`);
    const again = await post('/payments', request(fields));
    expectError(again, again.status, 'HE_01');
    // The sandbox requires 3-D Secure for this amount, and with it a return_url.
    const unlike = { ...fields, amount: 730_000, return_url: undefined };
    const other = await post('/payments', request(unlike));
    expectError(other, other.status, 'HE_01');
  });

  testOfOurs.each([400, 409, 422])('HE_01 has the configured status %i', async (status) => {
    const id = freshId('pay');
    await create({ payment_id: id });
    await target.control('PUT', '/faults', { he_01_status: status });
    const again = await post('/payments', request({ payment_id: id }));
    await target.control('DELETE', '/faults');
    expectError(again, status, 'HE_01');
  });

  test.each([
    ['no amount', { amount: undefined }, 'IR_01'],
    ['no currency', { currency: undefined }, 'IR_01'],
    ['no profile', { profile_id: undefined }, 'IR_01'],
    ['no billing beside the card', { billing: undefined }, 'IR_01'],
    [
      'no method to confirm',
      { payment_method: undefined, payment_method_data: undefined },
      'IR_01',
    ],
    ['an amount in text', { amount: '6540' }, 'IR_04'],
    ['a fraction', { amount: 65.4 }, 'IR_04'],
    ['a negative amount', { amount: -1 }, 'IR_04'],
    ['a currency of two letters', { currency: 'EU' }, 'IR_04'],
    ['a payment_id of 65 characters', { payment_id: 'x'.repeat(65) }, 'IR_04'],
    ['a payment_id with a space', { payment_id: 'a b' }, 'IR_04'],
    ['a payment_id that is the path of the list', { payment_id: 'list' }, 'IR_04'],
    ['an unknown capture_method', { capture_method: 'later' }, 'IR_04'],
    ['items', { items: [] }, 'IR_04'],
    ['line_items', { line_items: [] }, 'IR_04'],
    ['cart_items', { cart_items: [] }, 'IR_04'],
    ['an unknown profile', { profile_id: 'pro_of_nobody' }, 'IR_04'],
  ])('%s is refused', async (_what, fields, code) => {
    expectError(await post('/payments', request(fields)), 400, code);
  });

  testOfOurs('return_url is wanted where the customer is redirected', async () => {
    const withoutReturnUrl = request({ authentication_type: 'three_ds', return_url: undefined });
    expectError(await post('/payments', withoutReturnUrl), 400, 'IR_01');
    const wallet = { payment_method: 'wallet', payment_method_data: undefined };
    expectError(
      await post('/payments', request({ ...wallet, return_url: undefined })),
      400,
      'IR_01',
    );
  });
});

describe('update', () => {
  test('changes what was sent, moves modified_at, and leaves the status', async () => {
    const before = await create({ confirm: false, metadata: { a: '1' } });
    const after = expectResponse(
      'updatePayment',
      await post(`/payments/${before.payment_id}`, { amount: 999, description: 'new' }),
    );
    expect(after).toMatchObject({
      status: 'requires_confirmation',
      amount: 999,
      description: 'new',
      metadata: { a: '1' },
    });
    expect(Date.parse(after.modified_at)).toBeGreaterThan(Date.parse(before.modified_at));
  });
});

describe('confirm', () => {
  test('accepts the method that the create did not have', async () => {
    const { payment_id: id } = await create({
      confirm: false,
      payment_method: undefined,
      payment_method_data: undefined,
      billing: undefined,
    });
    const body = expectResponse(
      'confirmPayment',
      await post(`/payments/${id}/confirm`, {
        payment_method: 'card',
        payment_method_data: card(),
        billing: BILLING,
      }),
    );
    expect(body).toMatchObject({ status: 'succeeded', client_secret: expect.any(String) });
  });

  test('is rejected without any method', async () => {
    const { payment_id: id } = await create({
      confirm: false,
      payment_method: undefined,
      payment_method_data: undefined,
    });
    expectError(await post(`/payments/${id}/confirm`, {}), 400, 'IR_01');
  });

  testOfOurs('a failed payment can be tried again under its id', async () => {
    const failed = await create({
      payment_method_data: (cardPaymentOf('final', 'UE_1001') as Body).payment_method_data,
    });
    expect(failed).toMatchObject({ status: 'failed', manual_retry_allowed: true });
    const body = expectResponse(
      'confirmPayment',
      await post(`/payments/${failed.payment_id}/confirm`, {
        payment_method: 'card',
        payment_method_data: card(),
        billing: BILLING,
      }),
    );
    expect(body).toMatchObject({ status: 'succeeded', attempt_count: 2, amount_received: 6540 });
    expect(body).not.toHaveProperty('unified_code');
  });
});

describe('capture', () => {
  test('captures everything without an amount', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual' });
    const body = expectResponse('capturePayment', await post(`/payments/${id}/capture`));
    expect(body).toMatchObject({
      payment_id: id,
      status: 'succeeded',
      amount: 6540,
      amount_received: 6540,
      amount_capturable: 0,
      currency: 'USD',
      capture_method: 'manual',
      captured_at: expect.any(String),
    });
  });

  test('manual: a partial capture releases the rest', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual' });
    const body = (await post(`/payments/${id}/capture`, { amount_to_capture: 1000 })).body;
    expect(body).toMatchObject({
      status: 'partially_captured',
      amount_received: 1000,
      amount_capturable: 0,
    });
    expectError(await post(`/payments/${id}/capture`, {}), 409, 'IR_14');
  });

  test('manual_multiple: partial captures until nothing remains', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual_multiple' });
    const capture = async (amount: number) =>
      (await post(`/payments/${id}/capture`, { amount_to_capture: amount })).body;
    expect(await capture(1000)).toMatchObject({
      status: 'partially_captured_and_capturable',
      amount_received: 1000,
      amount_capturable: 5540,
    });
    const tooMuch = { amount_to_capture: 5541 };
    expectError(await post(`/payments/${id}/capture`, tooMuch), 400, 'IR_04');
    expect(await capture(5540)).toMatchObject({
      status: 'succeeded',
      amount_received: 6540,
      amount_capturable: 0,
    });
  });

  test('more than the capturable amount is rejected', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual' });
    expectError(await post(`/payments/${id}/capture`, { amount_to_capture: 6541 }), 400, 'IR_04');
    expect(await retrieve(id)).toMatchObject({ status: 'requires_capture' });
  });

  test('a statement descriptor has at most 22 characters, prefix and suffix together', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual' });
    const descriptor = (prefix: string, suffix: string) => ({
      statement_descriptor_prefix: prefix,
      statement_descriptor_suffix: suffix,
    });
    const tooLong = descriptor('p'.repeat(12), 's'.repeat(11));
    expectError(await post(`/payments/${id}/capture`, tooLong), 400, 'IR_04');
    const fits = descriptor('p'.repeat(11), 's'.repeat(11));
    expectResponse('capturePayment', await post(`/payments/${id}/capture`, fits));
  });
});

describe('cancel', () => {
  test('releases the authorized amount and keeps the reason', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual' });
    const reply = await post(`/payments/${id}/cancel`, { cancellation_reason: 'out of stock' });
    expect(expectResponse('cancelPayment', reply)).toMatchObject({
      payment_id: id,
      status: 'cancelled',
      amount: 6540,
      currency: 'USD',
      cancellation_reason: 'out of stock',
      cancelled_at: expect.any(String),
    });
    expect(await retrieve(id)).toMatchObject({ amount_capturable: 0 });
    expectError(await post(`/payments/${id}/capture`), 409, 'IR_14');
  });

  test('keeps the captured amount after a partial capture', async () => {
    const { payment_id: id } = await create({ capture_method: 'manual_multiple' });
    await post(`/payments/${id}/capture`, { amount_to_capture: 1000 });
    expectResponse('cancelPayment', await post(`/payments/${id}/cancel`));
    expect(await retrieve(id)).toMatchObject({
      status: 'cancelled',
      amount_received: 1000,
      amount_capturable: 0,
    });
  });
});

describe('manual review', () => {
  const reviewed = (fields: object = {}) =>
    create({
      payment_method_data: (cardPaymentOf('review') as Body).payment_method_data,
      ...fields,
    });

  testOfOurs('approve goes on to the capture', async () => {
    const { payment_id: id, status } = await reviewed();
    expect(status).toBe('requires_merchant_action');
    expect(expectResponse('approvePayment', await post(`/payments/${id}/approve`))).toMatchObject({
      payment_id: id,
      status: 'succeeded',
      captured_at: expect.any(String),
    });
    expect(await retrieve(id)).toMatchObject({ amount_received: 6540 });
  });

  testOfOurs('approve of a manual payment goes on to requires_capture', async () => {
    const { payment_id: id } = await reviewed({ capture_method: 'manual' });
    await post(`/payments/${id}/approve`);
    expect(await retrieve(id)).toMatchObject({ status: 'requires_capture', amount_received: 0 });
  });

  testOfOurs('reject ends in failed, and the payment cannot be tried again', async () => {
    const { payment_id: id } = await reviewed();
    expectResponse('rejectPayment', await post(`/payments/${id}/reject`));
    expect(await retrieve(id)).toMatchObject({
      status: 'failed',
      amount_received: 0,
      manual_retry_allowed: false,
    });
    expectError(await post(`/payments/${id}/confirm`, {}), 400, 'IR_16');
  });
});

describe('customer actions', () => {
  testOfOurs('3-D Secure leads to a page and from there back to the shop', async () => {
    const { payment_id: id, next_action: action } = await create({
      authentication_type: 'three_ds',
    });
    expect(action).toMatchObject({ type: 'redirect_to_url' });
    const url = String(action.redirect_to_url);
    expect(await (await fetch(url)).text()).toContain('<button name="action" value="complete">');
    const back = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ action: 'complete' }),
      redirect: 'manual',
    });
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toBe(
      `https://shop.example/return?payment_id=${id}&status=succeeded`,
    );
    const after = await retrieve(id);
    expect(after).toMatchObject({ status: 'succeeded' });
    expect(after).not.toHaveProperty('next_action');
  });

  testOfOurs(
    'a second click redirects as well, and a form without an action changes nothing',
    async () => {
      const { payment_id: id, next_action: action } = await create({
        authentication_type: 'three_ds',
      });
      const send = (body: URLSearchParams | string) =>
        fetch(String(action.redirect_to_url), { method: 'POST', body, redirect: 'manual' });
      for (const body of [
        JSON.stringify({ action: 'complete' }),
        new URLSearchParams({ action: 'x' }),
      ]) {
        expect((await send(body)).status).toBe(400);
      }
      expect(await retrieve(id)).toMatchObject({ status: 'requires_action' });
      const first = await send(new URLSearchParams({ action: 'complete' }));
      const second = await send(new URLSearchParams({ action: 'abandon' }));
      expect(second.status).toBe(303);
      expect(second.headers.get('location')).toBe(first.headers.get('location'));
      expect(await retrieve(id)).toMatchObject({ status: 'succeeded', attempt_count: 1 });
    },
  );

  testOfOurs.each([
    ['fail', 'UE_5001'],
    ['abandon', 'UE_5003'],
  ])('an authentication that ends as "%s" is %s', async (action, code) => {
    const { payment_id: id } = await create({ authentication_type: 'three_ds' });
    await target.control('POST', `/payments/${id}/action`, { action });
    expect(await retrieve(id)).toMatchObject({ status: 'failed', unified_code: code });
  });

  testOfOurs('a wallet redirects first', async () => {
    const { payment_id: id, status } = await create({
      payment_method: 'wallet',
      payment_method_type: 'paypal',
      payment_method_data: undefined,
    });
    expect(status).toBe('requires_action');
    await target.control('POST', `/payments/${id}/action`, { action: 'complete' });
    expect(await retrieve(id)).toMatchObject({ status: 'succeeded' });
  });

  testOfOurs('coins are processing until the chain has confirmed them', async () => {
    const { payment_id: id } = await create({
      payment_method: 'crypto',
      payment_method_type: 'crypto_currency',
      payment_method_data: { crypto: { pay_currency: 'BTC', wallet_address: 'bc1q0' } },
      return_url: undefined,
    });
    await target.control('POST', `/payments/${id}/action`, { action: 'complete' });
    expect(await retrieve(id)).toMatchObject({ status: 'processing' });
    await target.advance(600_000);
    expect(await retrieve(id)).toMatchObject({ status: 'succeeded' });
  });
});

describe('declines', () => {
  const codes = Object.keys({ ...DECLINE_CODES, ...LEGACY_DECLINE_CODES }) as UnifiedCode[];

  testOfOurs.each(codes)('%s is HTTP 200 with status failed and its message', async (code) => {
    const declined = cardPaymentOf('final', code, { profile_id: target.profileId });
    const body = expectResponse('createPayment', await post('/payments', declined));
    expect(body).toMatchObject({
      status: 'failed',
      amount_received: 0,
      unified_code: code,
      error_code: expect.any(String),
      error_message: expect.any(String),
      error_details: {
        unified_details: { category: expect.any(String), message: body.unified_message },
        issuer_details: { network_details: { name: 'Visa' } },
        connector_details: { reason: expect.any(String) },
      },
    });
    if (code in DECLINE_CODES) {
      expect(body.unified_message).toBe(DECLINE_CODES[code as keyof typeof DECLINE_CODES].message);
    }
  });

  testOfOurs.each([
    ['a number that fails its check digit', card('4242424242424241'), 'UE_1003'],
    ['a card of the past', bent({ card_exp_year: '2020' }), 'UE_1002'],
    ['a security code of four digits on a card with three', bent({ card_cvc: '1234' }), 'UE_4002'],
  ])('%s is declined', async (_what, data, code) => {
    expect(await create({ payment_method_data: data })).toMatchObject({ unified_code: code });
  });

  function bent(fields: object): object {
    const base = card() as { card: object };
    return { card: { ...base.card, ...fields } };
  }
});

/** Every reachable status of a payment, with the way to it, times every operation. */
describe('transitions', () => {
  const ways: Readonly<Record<string, () => Promise<Body>>> = {
    requires_payment_method: () =>
      create({ confirm: false, payment_method: undefined, payment_method_data: undefined }),
    requires_confirmation: () => create({ confirm: false }),
    requires_action: () => create({ authentication_type: 'three_ds' }),
    requires_merchant_action: () =>
      create({ payment_method_data: (cardPaymentOf('review') as Body).payment_method_data }),
    processing: () =>
      create({ payment_method_data: (cardPaymentOf('processing') as Body).payment_method_data }),
    requires_capture: () => create({ capture_method: 'manual' }),
    partially_captured_and_capturable: async () => {
      const payment = await create({ capture_method: 'manual_multiple' });
      await post(`/payments/${payment.payment_id}/capture`, { amount_to_capture: 1 });
      return payment;
    },
    partially_captured: async () => {
      const payment = await create({ capture_method: 'manual' });
      await post(`/payments/${payment.payment_id}/capture`, { amount_to_capture: 1 });
      return payment;
    },
    succeeded: () => create(),
    cancelled: async () => {
      const payment = await create({ capture_method: 'manual' });
      await post(`/payments/${payment.payment_id}/cancel`);
      return payment;
    },
    expired: async () => {
      const payment = await create({ capture_method: 'manual' });
      await target.advance(8 * 24 * 60 * 60 * 1000);
      return payment;
    },
  };
  const operations: Readonly<Record<string, { path: string; body: () => object | undefined }>> = {
    updatePayment: { path: '', body: () => ({ description: 'x' }) },
    confirmPayment: {
      path: '/confirm',
      body: () => ({
        payment_method: 'card',
        payment_method_data: card(),
        billing: BILLING,
        return_url: 'https://shop.example/return',
      }),
    },
    capturePayment: { path: '/capture', body: () => undefined },
    cancelPayment: { path: '/cancel', body: () => undefined },
    approvePayment: { path: '/approve', body: () => undefined },
    rejectPayment: { path: '/reject', body: () => undefined },
  };
  const pairs = Object.keys(ways).flatMap((status) =>
    Object.keys(operations).map((operation) => [operation, status] as const),
  );

  testOfOurs.each(pairs)('%s of a payment that is %s', async (operation, status) => {
    const { payment_id: id } = await (ways[status]?.() ?? Promise.reject(new Error(status)));
    const before = await retrieve(id);
    expect(before.status).toBe(status);
    const { path, body } = operations[operation] ?? { path: '', body: () => ({}) };
    const reply = await post(`/payments/${id}${path}`, body());
    const check = checkPayment(operation as PaymentOperation, status);
    if (check.allowed) {
      expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
    } else {
      expectError(reply, check.refusal.httpStatus, check.refusal.code);
      expect(await retrieve(id)).toEqual(before);
    }
  });

  test.each([
    ['GET', '', undefined],
    ['POST', '', {}],
    ['POST', '/confirm', {}],
    ['POST', '/capture', {}],
    ['POST', '/cancel', {}],
    ['POST', '/approve', undefined],
    ['POST', '/reject', undefined],
  ])('%s /payments/:payment_id%s of nobody is 404', async (method, path, body) => {
    const id = freshId('nobody');
    expectError(await target.call(method, `/payments/${id}${path}`, body), 404, 'IR_05');
  });
});
