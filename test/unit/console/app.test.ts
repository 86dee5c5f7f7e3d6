import type { RequestHandler } from 'express';
import request from 'supertest';
import { expect, test } from 'vitest';
import { createTokenVerifier } from '../../../src/access/verifyToken.ts';
import { createConsoleApp } from '../../../src/console/app.ts';
import { InexactSum } from '../../../src/contract/money.ts';
import { createChangeFeed } from '../../../src/ledger/changeFeed.ts';
import { createBalanceReader } from '../../../src/ledger/read/balances.ts';
import { NO_TRUSTED_PROXIES } from '../../../src/platform/clientAddress.ts';
import type { Database } from '../../../src/platform/db/database.ts';
import { UnsafeInteger } from '../../../src/platform/db/failures.ts';
import { readsOfPrimary } from '../../../src/platform/db/reads.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';

const noQueue = {
  depth: () => Promise.reject(new Error('no queue')),
  failed: () => Promise.reject(new Error('no queue')),
};

const TOKEN = 'token-0123456789abcdef';

function failing(error: Error): Database {
  const fail = () => Promise.reject(error);
  return {
    query: fail,
    prepared: fail,
    examinePooling: fail,
    transaction: fail,
    session: fail,
    probe: fail,
    close: fail,
  };
}

function appOver(
  error: Error,
  token = TOKEN,
  pages: RequestHandler = (_request, _response, next) => next(),
) {
  const db = failing(error);
  const clock = { nowMs: () => 0 };
  return createConsoleApp({
    feed: createChangeFeed(db),
    balances: createBalanceReader(db),
    pages,
    tokens: createTokenVerifier({ adminToken: token, db, clock }),
    trustedProxies: NO_TRUSTED_PROXIES,
    refusals: { note: () => undefined, close: () => Promise.resolve() },
    db,
    reads: readsOfPrimary(db),
    refresher: undefined,
    authorizations: undefined,
    refunds: undefined,
    disputes: undefined,
    payouts: undefined,
    enqueueEvents: () => Promise.reject(new Error('no queue')),
    channels: [],
    channelTargets: [],
    testChannel: () => Promise.resolve(undefined),
    queues: {
      backend: 'postgres',
      check: () => Promise.resolve(undefined),
      queues: { events: noQueue, reconcile: noQueue },
    },
    schedules: [],
    installation: { name: 'Tallyhook', consoleUrl: undefined },
    sessionIdleMs: 60_000,
    enqueueRuns: () => Promise.reject(new Error('no queue')),
    isReady: () => true,
    metrics: createMetrics(),
    clock,
    log: createLog('silent'),
  });
}

async function retrieve(error: Error): Promise<request.Response> {
  const refreshed = request(appOver(error)).get('/api/v1/orders');
  return await refreshed.set('Authorization', `Bearer ${TOKEN}`);
}

test.each([[undefined], [''], ['Bearer'], ['Bearer ']])(
  'an empty token admits nobody with the header %j',
  async (authorization) => {
    const refreshed = request(appOver(new Error('it was admitted'), '')).get('/api/v1/orders');
    if (authorization !== undefined) refreshed.set('Authorization', authorization);
    expect((await refreshed).status).toBe(401);
  },
);

test.each([
  ['the database is unavailable', { code: 'ECONNREFUSED' }, 503],
  ['the database goes down', { code: '57P01' }, 503],
  ['a sum does not fit its type', { code: '22003' }, 422],
  ['the database refuses for another reason', { code: '42P01' }, 500],
  // Only errors that Express creates for requests have a status that the sender may see.
  ['a status of success is no reason', { status: 200 }, 500],
])('when %s the response states that, without the cause', async (_what, fields, status) => {
  const response = await retrieve(Object.assign(new Error('secret detail'), fields));
  expect(response.status).toBe(status);
  expect(response.body.error.type).toBe('api_error');
  expect(response.text).not.toContain('secret detail');
});

test('a sum beyond the exact integers has an error of its own', async () => {
  const response = await retrieve(new UnsafeInteger('9007199254747531'));
  expect(response.status).toBe(422);
  expect(response.body.error.message).toContain('2^53');
  const named = await retrieve(new InexactSum(9_007_199_254_747_531n));
  expect(named.status).toBe(422);
  expect(named.body.error.message).toContain('9007199254747531');
});

test('a time that the database returns in another form is not reported as a sum', async () => {
  const response = await retrieve(new RangeError('the database returned the time 01/11/2026'));
  expect(response.status).toBe(500);
  expect(response.body.error.message).not.toContain('sum');
});

test('pages that cannot be loaded fail the request, and what failed is not shown', async () => {
  const pages = () => Promise.reject(new Error('secret detail'));
  const response = await request(appOver(new Error('not read'), TOKEN, pages)).get('/orders');
  expect(response.status).toBe(500);
  expect(response.text).not.toContain('secret detail');
});
