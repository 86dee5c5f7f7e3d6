/** The client sends only what the contract allows, and only to the configured address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  type CreatePaymentRequest,
  createClient,
  DEFAULT_RETRY_POLICY,
  type RetryPolicy,
} from '../../src/client/index.ts';
import { errorOf } from './failing.ts';
import { API_KEY, clientOf, createFakeTime, startPaymentService } from './paymentService.ts';

const ORDER: CreatePaymentRequest = { amount: 1, currency: 'USD', profile_id: 'pro_1' };

/** An address without a listener: the server on it was closed. */
async function freeAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return `http://127.0.0.1:${port}`;
}

describe('requests', () => {
  it('with an unknown field are not sent: a misspelled payment_id would make a retry charge twice', async () => {
    const service = await startPaymentService();
    const misspelt = { ...ORDER, paymentId: 'order-1' };
    const error = await errorOf(clientOf(service).payments.create(misspelt));
    expect(error).toMatchObject({ kind: 'invalid_request', attempts: 0, outcomeUnknown: false });
    expect(error.problems).toMatchObject([{ code: 'IR_04', field: 'paymentId' }]);
    expect(service.received).toEqual([]);
  });

  it.each(['.', '..', 'list', '', '\n', 'a\u0000b'])('with the id %j are not sent', async (id) => {
    const service = await startPaymentService();
    const error = await errorOf(clientOf(service).payments.retrieve(id));
    expect(error.kind).toBe('invalid_request');
    expect(service.received).toEqual([]);
  });

  it('encode an id so that it cannot name another path', async () => {
    const service = await startPaymentService();
    const ids = ['../payouts/1', 'a/b?c#d', '%2e%2e', 'ü', 'Jane Doe'];
    for (const id of ids) await errorOf(clientOf(service).payments.retrieve(id));
    expect(service.received.map(({ path }) => path)).toEqual([
      '/payments/..%2Fpayouts%2F1',
      '/payments/a%2Fb%3Fc%23d',
      '/payments/%252e%252e',
      '/payments/%C3%BC',
      '/payments/Jane%20Doe',
    ]);
  });

  it('go to paths below that of the base URL', async () => {
    const service = await startPaymentService();
    await errorOf(clientOf(service, { baseUrl: `${service.baseUrl}/v1/` }).health());
    expect(service.received[0]?.path).toBe('/v1/health');
  });

  it('that were aborted in flight have an unknown outcome', async () => {
    const service = await startPaymentService();
    const gone = new AbortController();
    service.fail({ kind: 'hangAfter' });
    const call = clientOf(service).payments.capture('order-1', {}, { signal: gone.signal });
    await expect.poll(() => service.captures).toHaveLength(1);
    gone.abort();
    expect(await errorOf(call)).toMatchObject({ kind: 'aborted', outcomeUnknown: true });
  });

  it('wait for a response no longer than the time that is left of the call', async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'hangAfter' });
    const retry = { attemptTimeoutMs: 5_000, totalTimeoutMs: 200, maxAttempts: 1 };
    const error = await errorOf(clientOf(service, { retry }).health());
    expect(error).toMatchObject({ kind: 'unavailable', retryable: true });
    expect(error.message).toContain('no response within 200 ms');
  });

  it('of an aborted caller are not sent', async () => {
    const service = await startPaymentService();
    const signal = AbortSignal.abort();
    expect(await errorOf(clientOf(service).health({ signal }))).toMatchObject({ kind: 'aborted' });
    expect(service.received).toEqual([]);
  });

  it('of many calls may share one signal without a leak warning', async () => {
    const service = await startPaymentService();
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const keep = (warning: Error) => warnings.push(warning);
    process.on('warning', keep);
    const client = clientOf(service);
    await Promise.all(Array.from({ length: 30 }, () => client.health({ signal })));
    await setImmediate();
    process.off('warning', keep);
    expect(warnings).toEqual([]);
  });

  it('that could not connect are retried, and certainly had no effect', async () => {
    const baseUrl = await freeAddress();
    const client = createClient({ baseUrl, apiKey: API_KEY, time: createFakeTime() });
    const error = await errorOf(client.payments.capture('order-1'));
    expect(error).toMatchObject({
      kind: 'unavailable',
      attempts: 5,
      outcomeUnknown: false,
      retryable: true,
    });
  });
});

describe('a client', () => {
  const make = (change: Partial<ClientOptions>) => () =>
    createClient({ baseUrl: 'https://pay.example', apiKey: API_KEY, ...change });

  it.each([
    'http://pay.example',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'ftp://127.0.0.1',
    'https://user:secret@pay.example',
    'https://pay.example/?key=1',
    'pay.example',
  ])('is not made for %s', (baseUrl) => {
    expect(make({ baseUrl })).toThrow(TypeError);
  });

  it.each(['localhost:8082', 'ftp://127.0.0.1'])(
    'names the scheme that is missing in %s',
    (baseUrl) => {
      expect(make({ baseUrl })).toThrow('baseUrl must begin with https://');
    },
  );

  it.each([
    'https://pay.example/api',
    'http://localhost:8082',
    'http://127.0.0.1:1',
    'http://[::1]',
  ])('is made for %s', (baseUrl) => {
    expect(make({ baseUrl })).not.toThrow();
  });

  it.each(['pk_snd_0123', 'pk_prd_0123', 'admin_0123', '', 'snd_01 23', 'snd_0123\n'])(
    'is not created with the key %j, and does not quote it',
    (apiKey) => {
      expect(make({ apiKey })).toThrow(TypeError);
      expect(make({ apiKey })).not.toThrow('0123');
    },
  );

  // NaN in a timer would time out a capture that was already sent.
  it('treats an undefined retry option as absent', async () => {
    const service = await startPaymentService();
    const unset = Object.fromEntries(Object.keys(DEFAULT_RETRY_POLICY).map((name) => [name]));
    await clientOf(service, { retry: unset }).payments.capture('order-1');
    expect(service.captures).toEqual(['order-1']);
  });

  it.each(Object.keys(DEFAULT_RETRY_POLICY))(
    'is not created with a %s that is not a number',
    (name) => {
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** 31, null, '5']) {
        const retry = { [name]: value } as Partial<RetryPolicy>;
        expect(make({ retry }), String(value)).toThrow(new RegExp(`^retry\\.${name} must be`));
      }
    },
  );

  it('is not created without an attempt or any time, but may have no wait', () => {
    for (const name of ['maxAttempts', 'totalTimeoutMs', 'attemptTimeoutMs']) {
      expect(make({ retry: { [name]: 0 } }), name).toThrow(TypeError);
    }
    expect(make({ retry: { baseDelayMs: 0, maxDelayMs: 0 } })).not.toThrow();
  });
});
