/** What the client does, against a small server that counts requests, and the advice for declines. */
import { expect } from 'vitest';
import type { createClient } from '../../../../src/client/index.ts';
import { DECLINE_CODES, declineAdvice } from '../../../../src/contract/index.ts';
import { errorOf } from '../../../client/failing.ts';
import {
  API_KEY,
  clientOf,
  createFakeTime,
  type Fault,
  startPaymentService,
} from '../../../client/paymentService.ts';
import type { Service } from '../service.ts';
import type { Scenario, Scenarios } from './scenario.ts';

const ORDER = {
  amount: 6540,
  currency: 'USD',
  profile_id: 'pro_1',
  payment_id: 'order-1',
  metadata: { order_id: '1' },
};

const errorResponse = (status: number, headers?: Record<string, string>): Fault => ({
  kind: 'response',
  status,
  body: { error: { type: 'api_error', code: 'HE_00', message: 'Out of order' } },
  ...(headers && { headers }),
});

const retries =
  (status: number): Scenario =>
  async () => {
    const service = await startPaymentService();
    service.fail(errorResponse(status), errorResponse(status));
    await clientOf(service).payments.create(ORDER);
    expect(service.received).toHaveLength(3);
    expect(service.charges).toEqual(['order-1']);
  };

const HEADERS: Scenarios = {
  clientSendsJson: async (service) => {
    const sent = await recorded(service, (client) => client.payments.create(ORDER));
    expect(sent.get('content-type')).toMatch(/^application\/json\b/);
  },
  clientSendsKey: async (service) => {
    const sent = await recorded(service, (client) => client.payments.create(ORDER));
    expect(sent.get('api-key')).toBe(API_KEY);
  },
  clientSendsKeyEverywhere: async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.health();
    await client.payments.create(ORDER);
    await client.payments.retrieve('order-1');
    await client.payments.capture('order-1');
    expect(service.received.map(({ apiKey }) => apiKey)).toEqual([
      API_KEY,
      API_KEY,
      API_KEY,
      API_KEY,
    ]);
  },
};

/** The headers of the one request that a call sends. */
async function recorded(
  _service: Service,
  call: (client: ReturnType<typeof createClient>) => Promise<unknown>,
): Promise<Headers> {
  const seen: Headers[] = [];
  const real = globalThis.fetch;
  const service = await startPaymentService();
  globalThis.fetch = (input, init) => {
    seen.push(new Request(input, init).headers);
    return real(input, init);
  };
  try {
    await call(clientOf(service));
  } finally {
    globalThis.fetch = real;
  }
  const [headers] = seen;
  if (headers === undefined) throw new Error('the client did not use fetch');
  return headers;
}

const RETRIES: Scenarios = {
  clientRetries500: retries(500),
  clientRetries502: retries(502),
  clientRetries503: retries(503),
  clientRetries429: retries(429),
  clientBacksOff: async () => {
    const service = await startPaymentService();
    service.fail(errorResponse(503), errorResponse(503), errorResponse(503), errorResponse(503));
    const time = createFakeTime();
    await clientOf(service, { time, random: () => 0.5 }).payments.create(ORDER);
    const [first = 0, ...others] = time.waitsMs;
    expect(first).toBeGreaterThan(0);
    expect(others).toEqual([first * 2, first * 4, first * 8]);
  },
  clientJitters: async () => {
    const waits: number[] = [];
    for (const random of [0.2, 0.9]) {
      const service = await startPaymentService();
      service.fail(errorResponse(503));
      const time = createFakeTime();
      await clientOf(service, { time, random: () => random }).payments.create(ORDER);
      waits.push(time.waitsMs[0] ?? 0);
    }
    expect(waits[0]).toBeLessThan(waits[1] ?? 0);
  },
  clientDoesNotRetry4xx: async () => {
    for (const status of [400, 401, 403, 404, 409, 422]) {
      const service = await startPaymentService();
      service.fail(errorResponse(status));
      await errorOf(clientOf(service).payments.create(ORDER));
      expect(service.received).toHaveLength(1);
    }
  },
  clientRetriesCreateWithSameId: async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'failAfter', status: 502 });
    const { payment } = await clientOf(service).payments.create(ORDER);
    const creates = service.received.filter(({ method }) => method === 'POST');
    expect(creates.map(({ body }) => (body as typeof ORDER).payment_id)).toEqual([
      'order-1',
      'order-1',
    ]);
    expect([payment.payment_id, service.charges]).toEqual(['order-1', ['order-1']]);
  },
  clientDoesNotRepeatWithoutId: async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutAfter' });
    const { payment_id, ...without } = ORDER;
    const error = await errorOf(clientOf(service).payments.create(without));
    expect(error).toMatchObject({ outcomeUnknown: true, attempts: 1 });
    expect(service.charges).toHaveLength(1);
  },
  clientRetriesCaptureAfterRetrieve: async () => {
    const service = await startPaymentService();
    const client = clientOf(service);
    await client.payments.create({ ...ORDER, capture_method: 'manual' });
    service.fail(errorResponse(502));
    await client.payments.capture('order-1');
    expect(service.captures).toEqual(['order-1']);
    expect(service.received.slice(1).map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
  },
  clientReadsExistingPayment: async () => {
    const service = await startPaymentService();
    service.fail({ kind: 'cutAfter' });
    const { payment, origin } = await clientOf(service).payments.create(ORDER);
    expect([payment.payment_id, origin]).toEqual(['order-1', 'existing']);
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
    expect(service.charges).toEqual(['order-1']);
  },
  clientWaitsForReset: async () => {
    const service = await startPaymentService();
    const time = createFakeTime();
    const reset = Math.floor(time.nowMs() / 1000) + 30;
    service.fail(
      errorResponse(429, {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(reset),
        date: new Date(time.nowMs()).toUTCString(),
      }),
    );
    await clientOf(service, { time }).payments.create(ORDER);
    expect(time.nowMs()).toBeGreaterThanOrEqual(reset * 1000);
  },
  status201: async () => {
    const service = await startPaymentService();
    service.fail({
      kind: 'response',
      status: 201,
      body: { payment_id: 'order-1', status: 'succeeded' },
    });
    const { payment, origin } = await clientOf(service).payments.create(ORDER);
    expect([payment.status, origin]).toEqual(['succeeded', 'created']);
  },
};

const adviceOf = (code: string): string => declineAdvice(code).retry;

/** Every code of the family, except the named ones, has this advice. */
const family =
  (digit: string, allowed: readonly string[], except: readonly string[] = []): Scenario =>
  () => {
    const codes = Object.keys(DECLINE_CODES).filter((code) => code.startsWith(`UE_${digit}`));
    expect(codes.length).toBeGreaterThan(0);
    for (const code of [...codes, `UE_${digit}777`]) {
      if (!except.includes(code)) expect(allowed, code).toContain(adviceOf(code));
    }
  };

const legacy =
  (coarse: string, granular: string): Scenario =>
  async (service) => {
    expect(adviceOf(coarse)).toBe(adviceOf(granular));
    expect(declineAdvice(coarse)).toMatchObject({ legacy: true, customerMessage: undefined });
    const failed = await service.paymentOf('final', coarse as 'UE_1000');
    expect(failed).toMatchObject({
      status: 'failed',
      unified_code: coarse,
      unified_message: expect.stringMatching(/./),
    });
  };

const ADVICE: Scenarios = {
  adviceFollowsCode: async (service) => {
    const failed = await service.paymentOf('final', 'UE_3002');
    expect(adviceOf(failed.unified_code)).toBe('with_backoff');
    expect(adviceOf(failed.error_code)).toBe('never');
  },
  family1IsNotRetried: family('1', ['never'], ['UE_1018']),
  family2IsNotRetried: family('2', ['never'], ['UE_2002']),
  family3IsRetried: family('3', ['with_backoff']),
  family4IsFixed: family('4', ['fix_request']),
  family5IsSometimesRetried: () => {
    expect(adviceOf('UE_5777')).toBe('sometimes');
    const codes = Object.keys(DECLINE_CODES).filter((code) => code.startsWith('UE_5'));
    // A timer must not retry any of them, because nobody would be there to authenticate.
    for (const code of codes) expect(adviceOf(code), code).not.toBe('with_backoff');
  },
  abandonedIsRetried: () => {
    expect(adviceOf('UE_5003')).toBe('with_customer');
  },
  unrecognizedIsTerminal: () => {
    expect([adviceOf('UE_9000'), adviceOf('ZZ_1')]).toEqual(['never', 'never']);
  },
  requiresThreeDs: () => {
    expect(adviceOf('UE_2002')).toBe('with_3ds');
  },
  duplicateIsChecked: () => {
    expect(adviceOf('UE_1018')).toBe('check_earlier_payment');
  },
  legacy1000IsHandled: legacy('UE_1000', 'UE_1001'),
  legacy2000IsHandled: legacy('UE_2000', 'UE_2001'),
  legacy3000IsHandled: legacy('UE_3000', 'UE_3001'),
  legacy4000IsHandled: legacy('UE_4000', 'UE_4001'),
};

export const CLIENT: Scenarios = { ...HEADERS, ...RETRIES, ...ADVICE };
