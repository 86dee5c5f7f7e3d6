/** What the log has of rejected requests, and what a token may do that cannot be verified again. */
import express, { type Express } from 'express';
import request from 'supertest';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Verified } from '../../../src/access/verifyToken.ts';
import type { Refusal } from '../../../src/audit/domain/entry.ts';
import { authenticate, authorize } from '../../../src/console/auth.ts';
import { MAX_FAILURES } from '../../../src/console/failures.ts';
import { NO_TRUSTED_PROXIES } from '../../../src/platform/clientAddress.ts';

let verified: Verified;
let logged: readonly object[];
let refused: readonly string[];
let denied: readonly Refusal[];
let app: Express;

const valid = (role: 'viewer' | 'metrics', isStale = false): Verified => ({
  outcome: 'valid',
  holder: { name: 'ann', role },
  isStale,
});

beforeEach(() => {
  logged = [];
  refused = [];
  denied = [];
  const parts = {
    tokens: {
      verify: () => Promise.resolve(verified),
      verifyDigest: () => Promise.resolve(verified),
    },
    trustedProxies: NO_TRUSTED_PROXIES,
    clock: { nowMs: () => 0 },
    refused: (reason: string) => {
      refused = [...refused, reason];
    },
    logRefusal: (facts: object, event: string) => {
      logged = [...logged, { ...facts, event }];
    },
    refusals: {
      note: (one: Refusal) => {
        denied = [...denied, one];
      },
      close: () => Promise.resolve(),
    },
  };
  app = express();
  app.use(authenticate(parts));
  app.get(
    '/metrics',
    authorize('GET /metrics', () => ['read_metrics'], parts),
  );
  app.get(
    '/orders',
    authorize('GET /orders', () => ['read'], parts),
  );
  app.use((_request, response) => {
    response.status(200).end();
  });
});

const get = (path: string) =>
  request(app).get(path).set('Authorization', 'Bearer something').set('Host', 'x');

const ADDRESS = expect.stringMatching(/^(127\.0\.0\.1|::1)$/);

test('the first failure of an address is logged with it, and the one that limits it', async () => {
  verified = { outcome: 'invalid' };
  for (let failure = 0; failure < MAX_FAILURES + 5; failure += 1) await get('/orders');
  expect(logged).toEqual([
    { event: 'console.unauthorized', address: ADDRESS },
    { event: 'console.address_limited', address: ADDRESS, failures: MAX_FAILURES },
  ]);
  expect(refused.filter((reason) => reason === 'limited')).toHaveLength(5);
});

test('a request that the role does not permit is logged with who sent it, and recorded', async () => {
  verified = valid('metrics');
  expect((await get('/orders')).status).toBe(403);
  const what = { subject: 'GET /orders', permission: 'read' };
  expect(logged).toEqual([
    { event: 'console.forbidden', name: 'ann', role: 'metrics', address: ADDRESS, ...what },
  ]);
  expect(denied).toMatchObject([
    { subject: { kind: 'request', id: what.subject }, detail: { permission: what.permission } },
  ]);
});

describe('while the database cannot be read', () => {
  test('a token of an outdated list reads metrics, and nothing else', async () => {
    verified = valid('viewer', true);
    expect((await get('/metrics')).status).toBe(200);
    const { status, headers } = await get('/orders');
    expect([status, headers['retry-after']]).toEqual([503, '5']);
  });

  test('a token that cannot be verified yet is not a failure of its address', async () => {
    verified = { outcome: 'unverifiable' };
    for (let once = 0; once < MAX_FAILURES + 5; once += 1) {
      expect((await get('/metrics')).status).toBe(503);
    }
    expect(refused).toEqual([]);
  });
});
