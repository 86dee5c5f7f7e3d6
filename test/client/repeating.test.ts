/** Money moves once, regardless of lost requests and responses. The service counts the movements. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CreatePaymentRequest, PaymentServiceError } from '../../src/client/index.ts';
import { errorOf } from './failing.ts';
import { clientOf, createFakeTime, type Fault, startPaymentService } from './paymentService.ts';

const ORDER: CreatePaymentRequest = {
  amount: 6540,
  currency: 'USD',
  profile_id: 'pro_1',
  payment_id: 'order-1',
  metadata: { order_id: '1' },
};
const { payment_id: _, ...WITHOUT_ID } = ORDER;

const AFTER_COMMIT: readonly Fault[] = [
  { kind: 'cutAfter' },
  { kind: 'cutWithin' },
  { kind: 'failAfter', status: 502 },
  { kind: 'pageAfter' },
  { kind: 'hangAfter' },
];
const quick = { retry: { attemptTimeoutMs: 300 } };

describe('creating a payment under its own id', () => {
  it.each(AFTER_COMMIT)('charges once when the response is lost: %j', async (fault) => {
    const service = await startPaymentService();
    service.fail(fault);
    const created = await clientOf(service, quick).payments.create(ORDER);
    expect(created).toMatchObject({ origin: 'existing', retrySafe: true });
    expect(created.payment.payment_id).toBe('order-1');
    expect(service.charges).toEqual(['order-1']);
  });

  it.each([200, 400, 409, 422, 500])(
    'reads the payment when HE_01 comes with HTTP %i',
    async (status) => {
      const service = await startPaymentService();
      service.existsStatus = status;
      service.fail({ kind: 'cutAfter' });
      const { payment, origin } = await clientOf(service).payments.create(ORDER);
      expect([payment.payment_id, origin]).toEqual(['order-1', 'existing']);
      expect(service.charges).toHaveLength(1);
      expect(service.received.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
    },
  );

  // The contract gives HE_01 no type.
  it.each([
    { code: 'HE_01', message: 'exists' },
    { type: null, code: 'HE_01', message: null },
  ])('reads the payment when HE_01 comes as %j', async (rejection) => {
    const service = await startPaymentService();
    await clientOf(service).payments.create(ORDER);
    service.fail({ kind: 'response', status: 409, body: { error: rejection } });
    const { payment, origin } = await clientOf(service).payments.create(ORDER);
    expect([payment.payment_id, origin]).toEqual(['order-1', 'existing']);
  });

  it('waits for a payment that exists but is not visible yet', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutAfter' });
    service.hiddenReads = 3;
    const { origin } = await clientOf(service).payments.create(ORDER);
    expect(origin).toBe('existing');
  });

  it('reports that the payment exists when it cannot be retrieved', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutAfter' });
    service.hiddenReads = 1000;
    const error = await errorOf(clientOf(service).payments.create(ORDER));
    expect(error).toMatchObject({ kind: 'unavailable', outcomeUnknown: true, retryable: true });
    expect(error.attempts).toBe(service.received.length);
  });

  // With the advice to retry, it would be retried forever.
  it('reports that a retry is useless when the retrieve of the payment is rejected', async () => {
    const service = await startPaymentService();
    service.always = ({ method }) => ({
      status: method === 'GET' ? 403 : 409,
      body: { error: { type: 't', code: method === 'GET' ? 'IR_22' : 'HE_01', message: '' } },
    });
    const error = await errorOf(clientOf(service).payments.create(ORDER));
    expect(error).toMatchObject({
      kind: 'refused',
      code: 'IR_22',
      httpStatus: 403,
      outcomeUnknown: true,
      retryable: false,
      attempts: 2,
    });
  });

  it('ends at its time limit, which includes the retrieve of an existing payment', async () => {
    const service = await startPaymentService();
    service.always = ({ method }) =>
      method === 'GET'
        ? { status: 404, body: { error: { type: 't', code: 'IR_05', message: '' } } }
        : { status: 409, body: { error: { type: 't', code: 'HE_01', message: '' } } };
    service.fail({ kind: 'response', status: 503, headers: { 'retry-after': '50' } });
    const time = createFakeTime();
    const retry = { totalTimeoutMs: 100_000, maxAttempts: 50, baseDelayMs: 8_000 };
    const startedAtMs = time.nowMs();
    const error = await errorOf(clientOf(service, { time, retry }).payments.create(ORDER));
    expect(error).toMatchObject({ kind: 'unavailable', retryable: true });
    expect(time.nowMs() - startedAtMs).toBeGreaterThan(54_000);
    expect(time.nowMs() - startedAtMs).toBeLessThanOrEqual(100_000);
  });

  it('does not report that after only an unreadable response', async () => {
    const service = await startPaymentService();
    const page: Fault = { kind: 'response', status: 200, body: '<h1>Welcome</h1>' };
    service.fail(page, page, page, page, page);
    const error = await errorOf(clientOf(service).payments.create(ORDER));
    expect(error).toMatchObject({ kind: 'unreadable_response', outcomeUnknown: true });
    expect(service.charges).toEqual([]);
  });

  it.each([
    ['amount', { amount: 1 }],
    ['currency', { currency: 'EUR' }],
    ['metadata.order_id', { metadata: { order_id: '2' } }],
  ])('refuses the payment of another order: %s differs', async (field, change) => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create(ORDER);
    const error = await errorOf(client.payments.create({ ...ORDER, ...change }));
    expect(error).toMatchObject({ kind: 'id_in_use', attempts: 2 });
    expect(error.message).toContain(`with another ${field}; choose another id`);
  });

  it('recognizes its own payment in any notation of the service', async () => {
    const service = await startPaymentService();
    service.always = ({ method }) =>
      method === 'GET'
        ? {
            status: 200,
            body: {
              payment_id: 'order-1',
              amount: 6540,
              currency: 'usd',
              metadata: { order_id: '7' },
            },
          }
        : { status: 409, body: { error: { type: 'invalid_request', code: 'HE_01', message: '' } } };
    const request = { ...ORDER, metadata: { order_id: 7 } };
    expect((await clientOf(service).payments.create(request)).origin).toBe('existing');
  });

  it('survives a burst of 503', async () => {
    const service = await startPaymentService();
    const burst: Fault = { kind: 'response', status: 503 };
    service.fail(burst, burst, burst);
    const time = createFakeTime();
    const { origin } = await clientOf(service, { time }).payments.create(ORDER);
    expect(origin).toBe('created');
    // Each wait is half of its ceiling: the jitter of the test is 0.5.
    expect(time.waitsMs).toEqual([125, 250, 500]);
  });

  it('fails after the attempts of the policy, and may be called again', async () => {
    const service = await startPaymentService();
    service.fail(...Array.from({ length: 20 }, () => ({ kind: 'cutBefore' }) as const));
    const error = await errorOf(clientOf(service).payments.create(ORDER));
    expect(error).toMatchObject({
      kind: 'unavailable',
      attempts: 5,
      retryable: true,
      outcomeUnknown: true,
    });
    expect(service.received).toHaveLength(5);
  });
});

describe('creating a payment without an id', () => {
  it('reports that a retry was not safe', async () => {
    const service = await startPaymentService();
    const created = await clientOf(service).payments.create(WITHOUT_ID);
    expect(created).toMatchObject({ origin: 'created', retrySafe: false });
  });

  it.each([...AFTER_COMMIT, { kind: 'cutBefore' } as const])(
    'is sent once, and its outcome is reported as unknown: %j',
    async (fault) => {
      const service = await startPaymentService();
      service.fail(fault);
      const error = await errorOf(clientOf(service, quick).payments.create(WITHOUT_ID));
      expect(error).toMatchObject({ outcomeUnknown: true, retryable: false });
      expect(service.received).toHaveLength(1);
    },
  );
});

describe('capturing and refunding', () => {
  it.each(AFTER_COMMIT)('a capture is never sent twice: %j', async (fault) => {
    const service = await startPaymentService();
    service.fail(fault);
    const error = await errorOf(clientOf(service, quick).payments.capture('order-1'));
    expect(error).toMatchObject({ outcomeUnknown: true, retryable: false, attempts: 1 });
    expect(service.captures).toHaveLength(1);
  });

  const held = { ...ORDER, capture_method: 'manual' } as const;

  it.each([500, 502, 503])(
    'a capture is sent again after %i if the payment shows that nothing was captured',
    async (status) => {
      const service = await startPaymentService();
      const client = clientOf(service);
      await client.payments.create(held);
      service.fail({ kind: 'response', status });
      expect(await client.payments.capture('order-1')).toMatchObject({ status: 'succeeded' });
      expect(service.captures).toEqual(['order-1']);
      expect(service.received.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'POST']);
    },
  );

  it('a capture that succeeded despite a 5xx is not sent again', async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create(held);
    service.fail({ kind: 'failAfter', status: 502 });
    const error = await errorOf(client.payments.capture('order-1'));
    expect(error).toMatchObject({ kind: 'outcome_unknown', outcomeUnknown: true });
    expect(service.captures).toEqual(['order-1']);
    expect(service.received.at(-1)?.method).toBe('GET');
  });

  it.each([
    ['the retrieve fails', [{ kind: 'response', status: 404 }] as const],
    ['the retrieve is refused', [{ kind: 'response', status: 403 }] as const],
  ])('a capture is not sent again when %s', async (_what, faults) => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create(held);
    service.fail({ kind: 'response', status: 502 }, ...faults);
    const error = await errorOf(client.payments.capture('order-1'));
    expect(error).toMatchObject({ httpStatus: 502, outcomeUnknown: true });
    expect(service.captures).toEqual([]);
  });

  it('a partial capture is not repeated where a second capture could take more', async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create({ ...ORDER, capture_method: 'manual_multiple' });
    service.fail({ kind: 'response', status: 502 });
    const error = await errorOf(client.payments.capture('order-1', { amount_to_capture: 100 }));
    expect(error).toMatchObject({ outcomeUnknown: true, httpStatus: 502 });
    expect(service.captures).toEqual([]);
  });

  it('a partial capture of a payment that can be captured once is sent again', async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create(held);
    service.always = ({ method }) => ({
      status: 200,
      body: {
        payment_id: 'order-1',
        status: method === 'GET' ? 'requires_capture' : 'partially_captured',
        capture_method: 'manual',
        amount: 6540,
        amount_capturable: method === 'GET' ? 6540 : 0,
        amount_received: method === 'GET' ? 0 : 100,
      },
    });
    service.fail({ kind: 'response', status: 502 });
    const captured = await client.payments.capture('order-1', { amount_to_capture: 100 });
    expect(captured).toMatchObject({ amount_received: 100 });
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'POST']);
  });

  it('a capture is not sent again if the payment shows money under the status of a hold', async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    service.always = () => ({
      status: 200,
      body: {
        payment_id: 'order-1',
        status: 'requires_capture',
        capture_method: 'manual',
        amount_received: 6540,
      },
    });
    service.fail({ kind: 'response', status: 502 });
    const error = await errorOf(client.payments.capture('order-1'));
    expect(error).toMatchObject({ httpStatus: 502, outcomeUnknown: true });
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('a capture that is rejected when it is sent again has an unknown outcome', async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create(held);
    let posts = 0;
    // The first request is processed after the retrieve, as behind a proxy that timed out.
    service.always = ({ method }) => {
      if (method === 'GET') {
        return {
          status: 200,
          body: { payment_id: 'order-1', status: 'requires_capture', capture_method: 'manual' },
        };
      }
      posts += 1;
      return posts === 1
        ? { status: 502, body: {} }
        : { status: 409, body: { error: { type: 't', code: 'IR_14', message: 'Captured' } } };
    };
    const error = await errorOf(client.payments.capture('order-1'));
    expect(error).toMatchObject({
      kind: 'outcome_unknown',
      outcomeUnknown: true,
      retryable: false,
    });
    expect([posts, error.code, error.attempts]).toEqual([2, 'IR_14', 3]);
  });

  it('a capture fails after the attempts of the policy', async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create(held);
    service.always = ({ method }) =>
      method === 'GET'
        ? {
            status: 200,
            body: { payment_id: 'order-1', status: 'requires_capture', capture_method: 'manual' },
          }
        : { status: 503, body: {} };
    const before = service.received.length;
    await errorOf(client.payments.capture('order-1'));
    const sent = service.received.slice(before).map(({ method }) => method);
    expect(sent).toEqual(['POST', 'GET', 'POST', 'GET', 'POST', 'GET', 'POST', 'GET', 'POST']);
  });

  it.each(AFTER_COMMIT)('a refund is retrieved by its id, not sent twice: %j', async (fault) => {
    const service = await startPaymentService();
    service.fail(fault);
    const request = { payment_id: 'order-1', refund_id: 'back-1', amount: 100 };
    const { refund, origin } = await clientOf(service, quick).refunds.create(request);
    expect([refund.refund_id, origin]).toEqual(['back-1', 'existing']);
    expect(service.refunds).toEqual(['back-1']);
  });

  it('the client waits for a refund that exists but is not visible yet', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutAfter' });
    service.hiddenReads = 3;
    const request = { payment_id: 'order-1', refund_id: 'back-1' };
    expect((await clientOf(service).refunds.create(request)).origin).toBe('existing');
  });

  it('a refund that is not found after a lost response stays unknown', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutBefore' });
    const request = { payment_id: 'order-1', refund_id: 'back-1' };
    const error = await errorOf(clientOf(service).refunds.create(request));
    expect(error).toMatchObject({ operation: 'createRefund', kind: 'outcome_unknown' });
    expect(service.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it.each([
    ['payment_id', { payment_id: 'order-2' }],
    ['amount', { amount: 200 }],
  ])('a refund of something else is an error: %s differs', async (field, change) => {
    const service = await startPaymentService();
    const client = clientOf(service);
    const request = { payment_id: 'order-1', refund_id: 'back-1', amount: 100 };
    await client.refunds.create(request);
    service.fail({
      kind: 'response',
      status: 400,
      body: { error: { type: 't', code: 'HE_01', message: '' } },
    });
    const error = await errorOf(client.refunds.create({ ...request, ...change }));
    expect(error).toMatchObject({ kind: 'id_in_use', attempts: 2 });
    expect(error.message).toContain(`with another ${field}; choose another id`);
  });

  it('a request that certainly had no effect is sent again', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'response', status: 429 });
    await clientOf(service).payments.capture('order-1');
    expect(service.captures).toHaveLength(1);
    expect(service.received).toHaveLength(2);
  });
});

const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    { kind: 'cutBefore' },
    { kind: 'cutAfter' },
    { kind: 'cutWithin' },
    { kind: 'pageAfter' },
  ),
  fc.record({ kind: fc.constant('failAfter' as const), status: fc.constantFrom(500, 502, 503) }),
  fc.record({
    kind: fc.constant('response' as const),
    status: fc.constantFrom(301, 400, 401, 403, 404, 409, 422, 429, 500, 503),
    body: fc.constantFrom(undefined, { error: { type: 'x', code: 'ZZ_99', message: 'new' } }),
  }),
);

it('under any faults nothing happens twice, and every reported success happened', async () => {
  const service = await startPaymentService();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyFault, { maxLength: 7 }), async (faults) => {
      run += 1;
      const id = `order-${run}`;
      const client = clientOf(service);
      service.fail(...faults);
      const [created, captured, refunded] = [
        await client.payments
          .create({ ...ORDER, payment_id: id, capture_method: 'manual' })
          .catch((e: unknown) => e),
        await client.payments.capture(id).catch((e: unknown) => e),
        await client.refunds.create({ payment_id: id, refund_id: id }).catch((e: unknown) => e),
      ];
      service.heal();
      const count = (done: readonly string[]) => done.filter((one) => one === id).length;
      for (const [result, done] of [
        [created, service.charges],
        [captured, service.captures],
        [refunded, service.refunds],
      ] as const) {
        expect(count(done)).toBeLessThanOrEqual(1);
        if (!(result instanceof PaymentServiceError)) expect(count(done)).toBe(1);
        else if (!result.outcomeUnknown) expect(count(done)).toBe(0);
      }
    }),
    { numRuns: 150 },
  );
});
