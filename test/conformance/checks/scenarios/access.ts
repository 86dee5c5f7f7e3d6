/** Keys, errors, rate limits. */
import { expect } from 'vitest';
import { ENDPOINTS, type EndpointName, keyKindOf } from '../../../../src/contract/index.ts';
import { cardPayment } from '../../../support/sandboxRequests.ts';
import type { Body, Reply } from '../../../support/serviceApi.ts';
import { ok, refused, type Service } from '../service.ts';
import type { Scenario, Scenarios } from './scenario.ts';

const withKey = (service: Service, key: string | undefined, path = '/health'): Promise<Reply> =>
  service.call('GET', path, undefined, key === undefined ? {} : { 'api-key': key });

const newKey = async (service: Service, fields: object = {}): Promise<Body> =>
  ok(await service.asAdmin('POST', '/api_keys/merchant_local', { name: 'Back office', ...fields }));

const keyOf = async (service: Service, kind: 'secret' | 'publishable' | 'admin'): Promise<string> =>
  (await service.control('POST', '/api_keys', { kind })).api_key;

const KEYS: Scenarios = {
  everyEndpointNeedsKey: async (service) => {
    for (const { method, path } of Object.values(ENDPOINTS)) {
      const filled = path.replaceAll(/:\w+/g, 'nobody');
      refused(await service.call(method, filled, undefined, {}), 401, 'AU_01');
    }
  },
  adminKeyCreatesKeys: async (service) => {
    await newKey(service);
    const mine = { 'api-key': service.apiKey, 'content-type': 'application/json' };
    refused(await service.call('POST', '/api_keys/merchant_local', { name: 'x' }, mine), 403);
  },
  newKeyIsWhole: async (service) => {
    const made = await newKey(service, { description: 'By hand' });
    for (const field of ['key_id', 'merchant_id', 'name', 'description', 'api_key', 'created']) {
      expect(made[field], field).toEqual(expect.any(String));
    }
    expect(made).toHaveProperty('expiration');
  },
  newKeyWorks: async (service) => {
    ok(await withKey(service, (await newKey(service)).api_key));
  },
  keyIsShownOnce: async (service) => {
    const { key_id, api_key } = await newKey(service);
    const views = [
      await service.asAdmin('GET', `/api_keys/merchant_local/${key_id}`),
      await service.asAdmin('GET', '/api_keys/merchant_local/list?limit=100'),
      await service.asAdmin('POST', `/api_keys/merchant_local/${key_id}`, { name: 'Till' }),
    ];
    for (const view of views) expect(JSON.stringify(ok(view))).not.toContain(api_key);
  },
  neverIsNull: async (service) => {
    expect((await newKey(service, { expiration: 'never' })).expiration).toBeNull();
    expect((await newKey(service)).expiration).toBeNull();
  },
  keyExpires: async (service) => {
    const { now } = await service.control('GET', '/clock');
    const expiration = new Date(Date.parse(now) + 60_000).toISOString();
    const { api_key } = await newKey(service, { expiration });
    ok(await withKey(service, api_key));
    await service.advance(61_000);
    refused(await withKey(service, api_key), 401);
  },
  sandboxSecretKind: kind('snd_1', 'sandboxSecret'),
  productionSecretKind: kind('prd_1', 'productionSecret'),
  sandboxPublishableKind: kind('pk_snd_1', 'sandboxPublishable'),
  productionPublishableKind: kind('pk_prd_1', 'productionPublishable'),
  adminKind: async (service) => {
    expect(keyKindOf('admin_1')).toBe('admin');
    expect(await keyOf(service, 'admin')).toMatch(/^admin_/);
  },
  publishableKeyMovesNothing: async (service) => {
    const key = await keyOf(service, 'publishable');
    expect(key).toMatch(/^pk_snd_/);
    const headers = { 'api-key': key, 'content-type': 'application/json' };
    for (const name of Object.keys(ENDPOINTS) as EndpointName[]) {
      const { method, path } = ENDPOINTS[name];
      if (name === 'health') continue;
      const filled = path.replaceAll(/:\w+/g, 'nobody');
      refused(await service.call(method, filled, undefined, headers), 403);
    }
  },
  missingKeyIs401: async (service) => {
    const error = refused(await withKey(service, undefined), 401, 'AU_01');
    expect(error.type).toBe('authentication_error');
  },
  invalidKeyIs401: async (service) => {
    const error = refused(await withKey(service, 'snd_of_nobody'), 401, 'AU_01');
    expect(error.type).toBe('authentication_error');
  },
  revokedKeyIsAu02: async (service) => {
    const { key_id, api_key } = await newKey(service);
    ok(await service.asAdmin('DELETE', `/api_keys/merchant_local/${key_id}`));
    const error = refused(await withKey(service, api_key), 401, 'AU_02');
    expect(error.type).toBe('authentication_error');
  },
  forbiddenIs403: async (service) => {
    refused(await withKey(service, await keyOf(service, 'publishable'), '/payments/nobody'), 403);
  },
};

function kind(key: string, expected: string): Scenario {
  return () => {
    expect(keyKindOf(key)).toBe(expected);
  };
}

const fails =
  (status: 500 | 502 | 503, type: string, code: string): Scenario =>
  async (service) => {
    const faults = { requests: [{ fault: 'server_error', status, times: 1 }] };
    const reply = await service.withFaults(faults, () => service.get('/payments/nobody'));
    expect(refused(reply, status, code).type).toBe(type);
  };

const provokes =
  (code: string): Scenario =>
  async (service) => {
    const payment_id = `refused-${code}`;
    const faults = { requests: [{ fault: 'processing_error', code, times: 1 }] };
    const request = cardPayment({ payment_id });
    const reply = await service.withFaults(faults, () => service.post('/payments', request));
    expect(refused(reply, reply.status, code).type).toBe('processing_error');
    expect(reply.status).toBeGreaterThanOrEqual(400);
    // An error means that no payment was attempted.
    refused(await service.get(`/payments/${payment_id}`), 404);
  };

/** One request more than the budget of a key allows. */
async function exceed(service: Service): Promise<{ readonly key: string; readonly last: Reply }> {
  const key = await keyOf(service, 'secret');
  await service.control('PUT', '/rate_limit', { per_minute: 2 });
  let last = await withKey(service, key);
  // If a minute ends between two of them, the count starts again.
  for (let sent = 1; sent < 8 && last.status !== 429; sent += 1) last = await withKey(service, key);
  return { key, last };
}

const restored =
  (scenario: Scenario): Scenario =>
  async (service) => {
    try {
      await scenario(service);
    } finally {
      await service.control('PUT', '/rate_limit', { per_minute: 1_000_000 });
    }
  };

const ERRORS: Scenarios = {
  status200: async (service) => {
    ok(await service.get('/health'));
  },
  status400: async (service) => {
    const error = refused(await service.post('/payments', {}), 400);
    expect(error.type).toBe('invalid_request');
  },
  status404: async (service) => {
    const error = refused(await service.get('/payments/nobody'), 404, 'IR_05');
    expect(error.type).toBe('invalid_request');
  },
  status409: async (service) => {
    const { payment_id } = await service.payment();
    refused(await service.post(`/payments/${payment_id}/capture`, {}), 409);
  },
  status422: async (service) => {
    const { payout_id } = await service.payout();
    refused(await service.post(`/payouts/${payout_id}/fulfill`), 422);
  },
  status429: restored(async (service) => {
    const { last } = await exceed(service);
    expect(refused(last, 429, 'RL_01').type).toBe('rate_limit_error');
  }),
  status500: fails(500, 'api_error', 'HE_00'),
  status502: fails(502, 'connector_error', 'CE_01'),
  status503: fails(503, 'api_error', 'HE_00'),
  provokesIr01: async (service) => {
    const error = refused(
      await service.post('/payments', cardPayment({ amount: undefined })),
      400,
      'IR_01',
    );
    expect(error.type).toBe('invalid_request');
  },
  provokesIr04: async (service) => {
    const error = refused(
      await service.post('/payments', cardPayment({ amount: 'x' })),
      400,
      'IR_04',
    );
    expect(error.type).toBe('invalid_request');
  },
  provokesPe01: provokes('PE_01'),
  provokesPe02: provokes('PE_02'),
  provokesPe03: provokes('PE_03'),
  errorMeansNoAttempt: async (service) => {
    const payment_id = 'never-attempted';
    const faults = { requests: [{ fault: 'server_error', status: 502, times: 1 }] };
    const request = cardPayment({ payment_id });
    refused(await service.withFaults(faults, () => service.post('/payments', request)), 502);
    refused(await service.post('/payments', cardPayment({ payment_id, currency: 'no' })), 400);
    refused(await service.get(`/payments/${payment_id}`), 404);
  },
  everyRefusalIsAnEnvelope: async (service) => {
    const { payment_id } = await service.payment();
    const replies = [
      await service.call('GET', '/health', undefined, {}),
      await service.get('/payments/nobody'),
      await service.get('/no/such/route'),
      await service.post('/payments', 'no json'),
      await service.post('/payments', {}),
      await service.post(`/payments/${payment_id}/cancel`, {}),
      await service.post(`/payments/${payment_id}/capture`, {}),
      await service.put('/payouts/nobody', { amount: 1, currency: 'EUR' }),
    ];
    for (const reply of replies) {
      refused(reply, reply.status);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(Object.keys(reply.body)).toEqual(['error']);
    }
  },
};

const HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;

function expectRate({ headers }: Reply): void {
  for (const name of HEADERS) expect(headers.get(name), name).toMatch(/^\d+$/);
}

const RATE: Scenarios = {
  sendsRateLimit: restored(async (service) => {
    await service.control('PUT', '/rate_limit', { per_minute: 77 });
    expect((await service.get('/health')).headers.get('x-ratelimit-limit')).toBe('77');
  }),
  sendsRateRemaining: async (service) => {
    const read = async () => (await service.get('/health')).headers;
    let [first, second] = [await read(), await read()];
    if (first.get(HEADERS[2]) !== second.get(HEADERS[2])) [first, second] = [second, await read()];
    expect(Number(second.get(HEADERS[1]))).toBe(Number(first.get(HEADERS[1])) - 1);
  },
  sendsRateReset: async (service) => {
    const { headers } = await service.get('/health');
    const inSeconds =
      Number(headers.get(HEADERS[2])) - Date.parse(headers.get('date') ?? '') / 1000;
    expect(inSeconds).toBeGreaterThanOrEqual(0);
    expect(inSeconds).toBeLessThanOrEqual(60);
  },
  sendsRateWith401: async (service) => {
    expectRate(await withKey(service, undefined));
    expectRate(await withKey(service, 'snd_of_nobody'));
    const revoked = await keyOf(service, 'secret');
    await service.control('POST', '/api_keys/revoke', { api_key: revoked });
    expectRate(await withKey(service, revoked));
  },
  sendsRateWith403: async (service) => {
    expectRate(await withKey(service, await keyOf(service, 'publishable'), '/payments/nobody'));
  },
  sendsRateWith404: async (service) => {
    expectRate(await service.get('/payments/nobody'));
  },
  sendsRateWithUnknownRoute: async (service) => {
    expectRate(await service.get('/no/such/route'));
  },
  sendsRateWith400: async (service) => {
    expectRate(await service.post('/payments', {}));
  },
  servesAfterReset: restored(async (service) => {
    const { key, last } = await exceed(service);
    expect(last.status).toBe(429);
    const resetMs = Number(last.headers.get(HEADERS[2])) * 1000;
    await service.advance(resetMs - Date.parse(last.headers.get('date') ?? ''));
    ok(await withKey(service, key));
  }),
};

export const ACCESS: Scenarios = { ...KEYS, ...ERRORS, ...RATE };
