/** The client respects the service's limit and waits after a 429, by the service's headers and clock. */
import { describe, expect, it } from 'vitest';
import { createLocalBudget, type Lane } from '../../src/client/index.ts';
import { errorOf } from './failing.ts';
import { clientOf, createFakeTime, type FakeTime, startPaymentService } from './paymentService.ts';

const PAYMENT = { payment_id: 'order-1', status: 'succeeded' };

/** A service of `limit` requests in each window of a minute. */
async function startLimited(limit: number, time: FakeTime) {
  const service = await startPaymentService();
  let resetAtMs = 0;
  let left = 0;
  let processed = 0;
  let refused = 0;
  service.always = () => {
    if (time.nowMs() >= resetAtMs) {
      resetAtMs = time.nowMs() + 60_000;
      left = limit;
    }
    const isOver = left === 0;
    if (isOver) refused += 1;
    else {
      left -= 1;
      processed += 1;
    }
    return {
      status: isOver ? 429 : 200,
      body: isOver ? { error: { type: 'rate_limit_error', code: 'RL_01', message: '' } } : PAYMENT,
      headers: {
        Date: new Date(time.nowMs()).toUTCString(),
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(left),
        'X-RateLimit-Reset': String(Math.ceil(resetAtMs / 1000)),
      },
    };
  };
  return Object.assign(service, { counts: () => ({ processed, refused }) });
}

describe('the rate limit', () => {
  it('after a 429 the client waits until the reset, and then the call succeeds', async () => {
    const time = createFakeTime();
    const service = await startLimited(1, time);
    await clientOf(service, { time }).payments.retrieve('order-1');
    // Another client, which learns the limit from a 429.
    const startedAtMs = time.nowMs();
    await clientOf(service, { time }).payments.retrieve('order-1');
    expect(service.counts()).toEqual({ processed: 2, refused: 1 });
    expect(time.nowMs() - startedAtMs).toBeGreaterThanOrEqual(60_000);
    expect(time.nowMs() - startedAtMs).toBeLessThan(62_000);
  });

  // Some services of the family send none of the headers of the rate limit.
  it.each(['operator', 'webhook'] as const)(
    'holds every call back for the time that Retry-After names: %s',
    async (lane) => {
      const time = createFakeTime();
      const service = await startPaymentService();
      const freeAtMs = time.nowMs() + 30_000;
      service.always = () =>
        time.nowMs() < freeAtMs
          ? {
              status: 429,
              body: { error: { type: 'rate_limit_error', code: 'RL_01', message: '' } },
              headers: { 'Retry-After': String(Math.ceil((freeAtMs - time.nowMs()) / 1000)) },
            }
          : { status: 200, body: PAYMENT };
      const budget = createLocalBudget(time);
      const once = clientOf(service, { time, budget, retry: { maxAttempts: 1 } });
      await errorOf(once.payments.retrieve('order-1'));
      await once.payments.retrieve('order-1', {}, { lane });
      expect(time.nowMs()).toBeGreaterThanOrEqual(freeAtMs);
      expect(service.received).toHaveLength(2);
    },
  );

  it('is not exceeded by a client that knows it', async () => {
    const time = createFakeTime();
    const service = await startLimited(10, time);
    const client = clientOf(service, { time });
    for (let i = 0; i < 35; i += 1) {
      await client.payments.retrieve('order-1', {}, { lane: 'webhook' });
    }
    expect(service.counts()).toEqual({ processed: 35, refused: 0 });
  });

  it('is shared by clients of one budget, for any number of concurrent calls', async () => {
    const time = createFakeTime();
    const service = await startLimited(10, time);
    const calls = { all: 1, waiting: 0, ended: 0 };
    let allWait: Promise<void> | undefined;
    const loggedTime = {
      ...time,
      sleep: async (delayMs: number, signal: AbortSignal) => {
        calls.waiting += 1;
        // Time must not advance while requests are in flight, and only once for all waits.
        allWait ??= expect.poll(() => calls.waiting + calls.ended).toBe(calls.all);
        await allWait;
        await time.sleep(delayMs, signal);
        calls.waiting -= 1;
        allWait = undefined;
      },
    };
    const budget = createLocalBudget(time);
    // In any interleaving of the calls, some wait for more than one reset.
    const retry = { totalTimeoutMs: 600_000 };
    const clients = [0, 1].map(() => clientOf(service, { time: loggedTime, budget, retry }));
    const call = async (i: number) => {
      await clients[i % 2]?.payments.retrieve('order-1', {}, { lane: 'webhook' });
      calls.ended += 1;
    };
    await call(0);
    calls.all = 20;
    await Promise.all(Array.from({ length: 19 }, (_, i) => call(i)));
    expect(service.counts()).toEqual({ processed: 20, refused: 0 });
  });

  it('keeps a reserve for the shop: background work waits while less than 30 % is left', async () => {
    const time = createFakeTime();
    const service = await startLimited(10, time);
    const client = clientOf(service, { time });
    const call = (lane: Lane) => client.payments.retrieve('order-1', {}, { lane });
    for (let i = 0; i < 8; i += 1) await call('operator');
    const startedAtMs = time.nowMs();
    await call('operator');
    await call('webhook');
    expect(time.nowMs()).toBe(startedAtMs);
    await call('discovery');
    expect(time.nowMs() - startedAtMs).toBeGreaterThanOrEqual(59_000);
    expect(service.counts().refused).toBe(0);
  });

  it('fails a call without sending it if the wait would exceed its time limit', async () => {
    const time = createFakeTime();
    const service = await startLimited(1, time);
    const client = clientOf(service, { time, retry: { totalTimeoutMs: 30_000 } });
    await client.payments.retrieve('order-1');
    const error = await errorOf(client.payments.retrieve('order-1'));
    expect(error).toMatchObject({ kind: 'rate_limited', retryable: true, attempts: 0 });
    expect(service.received).toHaveLength(1);
  });

  // A timeout after it was sent would leave its outcome unknown for no reason.
  it('never sends a capture with too little time for its response', async () => {
    const time = createFakeTime();
    const service = await startLimited(1, time);
    const retry = { totalTimeoutMs: 65_000, attemptTimeoutMs: 30_000 };
    const client = clientOf(service, { time, retry });
    await client.payments.retrieve('order-1');
    const refused = await errorOf(client.payments.capture('order-1'));
    expect(refused).toMatchObject({ kind: 'rate_limited', retryable: true, outcomeUnknown: false });
    const late = clientOf(service, { time, retry });
    expect(await errorOf(late.payments.capture('order-1'))).toMatchObject({
      kind: 'rate_limited',
      attempts: 1,
      outcomeUnknown: false,
    });
    expect(service.counts()).toEqual({ processed: 1, refused: 1 });
    // A timeout of a read does no harm.
    await client.payments.retrieve('order-1');
    expect(service.counts().processed).toBe(2);
  });

  it('leaves a second capture unsent if the retrieve before it took the time for its response', async () => {
    const base = createFakeTime();
    let slowMs = 0;
    const time = { ...base, nowMs: () => base.nowMs() + slowMs };
    const service = await startPaymentService();
    const held = { payment_id: 'order-1', status: 'requires_capture', capture_method: 'manual' };
    service.always = ({ method }) => {
      slowMs += method === 'POST' ? 25_000 : 91_000;
      return method === 'POST' ? { status: 502, body: '' } : { status: 200, body: held };
    };
    const error = await errorOf(clientOf(service, { time }).payments.capture('order-1'));
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(error).toMatchObject({
      kind: 'outcome_unknown',
      outcomeUnknown: true,
      message: expect.stringContaining('too little time is left for its response'),
    });
  });

  it('that cannot be used discards no response, and the error is of the client', async () => {
    const service = await startPaymentService();
    const outage = new Error('connection terminated');
    const refund = { payment_id: 'order-1', refund_id: 'ref_1', amount: 100 };
    const deaf = { ...createLocalBudget(), update: () => Promise.reject(outage) };
    const refunded = await clientOf(service, { budget: deaf }).refunds.create(refund);
    expect(refunded.refund).toMatchObject({ refund_id: 'ref_1', status: 'succeeded' });
    expect(service.refunds).toEqual(['ref_1']);

    const closed = { ...createLocalBudget(), acquire: () => Promise.reject(outage) };
    const error = await errorOf(clientOf(service, { budget: closed }).payments.capture('order-1'));
    expect(error).toMatchObject({
      kind: 'unavailable',
      message: 'capturePayment: the rate budget cannot be used (connection terminated)',
      attempts: 0,
      outcomeUnknown: false,
      retryable: true,
      cause: outage,
    });
    expect(service.captures).toEqual([]);
  });

  it('that fails before a repetition leaves the outcome unknown', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutAfter' });
    const local = createLocalBudget();
    let acquired = 0;
    const acquire = (lane: Lane) => {
      acquired += 1;
      return acquired === 1 ? local.acquire(lane) : Promise.reject(new Error('closed'));
    };
    const client = clientOf(service, { budget: { ...local, acquire } });
    const order = { payment_id: 'order-1', amount: 100, currency: 'USD', profile_id: 'pro_1' };
    const error = await errorOf(client.payments.create(order));
    expect(error).toMatchObject({ kind: 'unavailable', attempts: 1, outcomeUnknown: true });
    expect(service.charges).toEqual(['order-1']);
  });

  it('ends the wait when the caller aborts', async () => {
    const time = createFakeTime();
    const service = await startLimited(1, time);
    const gone = new AbortController();
    const client = clientOf(service, {
      time: { ...time, sleep: () => Promise.resolve(gone.abort(new Error('page closed'))) },
    });
    await client.payments.retrieve('order-1');
    const error = await errorOf(client.payments.capture('order-1', {}, { signal: gone.signal }));
    expect(error).toMatchObject({ kind: 'aborted', outcomeUnknown: false, attempts: 0 });
    expect(error.cause).toEqual(new Error('page closed'));
    expect(service.captures).toEqual([]);
  });
});
