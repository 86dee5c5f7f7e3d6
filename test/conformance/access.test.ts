/** service-interface.md §5, §7 and §8.1. */
import { expect, test } from 'vitest';
import { ENDPOINTS, type EndpointName } from '../../src/contract/index.ts';
import { expectError, expectResponse, isOurs, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

const endpoints = Object.keys(ENDPOINTS) as EndpointName[];
const pathOf = (name: EndpointName) => ENDPOINTS[name].path.replaceAll(/:\w+/g, 'nobody');

test('GET /health returns 200 for a valid key', async () => {
  expectResponse('health', await target.call('GET', '/health'));
});

test.each(endpoints)('%s requires a key: none is 401 with AU_01', async (name) => {
  expectError(await target.call(ENDPOINTS[name].method, pathOf(name), undefined, {}), 401, 'AU_01');
});

test.each(endpoints)('%s requires a valid key: an invented one is 401 with AU_01', async (name) => {
  const headers = { 'api-key': 'snd_nobody_was_ever_given_this_key' };
  expectError(
    await target.call(ENDPOINTS[name].method, pathOf(name), undefined, headers),
    401,
    'AU_01',
  );
});

testOfOurs('a production key is not valid here', async () => {
  const headers = { 'api-key': `prd_${target.apiKey.slice(4)}` };
  expectError(await target.call('GET', '/health', undefined, headers), 401, 'AU_01');
});

testOfOurs('a revoked key is 401 with AU_02', async () => {
  const { api_key: key } = await target.control('POST', '/api_keys', { kind: 'secret' });
  const headers = { 'api-key': key };
  expect((await target.call('GET', '/health', undefined, headers)).status).toBe(200);
  await target.control('POST', '/api_keys/revoke', { api_key: key });
  expectError(await target.call('GET', '/health', undefined, headers), 401, 'AU_02');
});

testOfOurs.each([
  ['publishable', /^\/health$/],
  ['admin', /^\/(health|api_keys)\b/],
  ['secret', /^(?!\/api_keys\b)/],
])('%s keys may do what is theirs and nothing else: 403', async (kind, allowed) => {
  const { api_key: key } = await target.control('POST', '/api_keys', { kind });
  const headers = { 'api-key': key };
  for (const name of endpoints) {
    const { method, path } = ENDPOINTS[name];
    const reply = await target.call(method, pathOf(name), undefined, headers);
    if (allowed.test(path)) expect([401, 403], path).not.toContain(reply.status);
    else expectError(reply, 403, 'IR_22');
  }
});

test.each([
  ['GET', '/nothing/here'],
  ['PATCH', '/payments'],
  ['DELETE', '/payments/pay_1'],
])('%s %s is nothing: 404 with IR_05', async (method, path) => {
  expectError(await target.call(method, path), 404, 'IR_05');
});

test.each([
  ['/payments', '{"amount":'],
  ['/payments', 'null'],
  ['/payments', '[]'],
  ['/refunds', '"text"'],
  ['/payouts/create', '17'],
])('POST %s with %j is 400, not 500', async (path, body) => {
  expectError(await target.call('POST', path, body), 400, 'IR_04');
});

testOfOurs('nothing of a request is read before its key', async () => {
  const body = JSON.stringify({ description: 'x'.repeat(2_000_000) });
  expectError(await target.call('POST', '/payments', body, {}), 401, 'AU_01');
  const headers = { 'content-encoding': 'unheard-of' };
  expectError(await target.call('POST', '/payments', '{}', headers), 401, 'AU_01');
});

testOfOurs('every response to a known key has its rate budget, errors included', async () => {
  const { api_key: admin } = await target.control('POST', '/api_keys', { kind: 'admin' });
  const key = { 'api-key': target.apiKey };
  const replies = [
    await target.call('GET', '/health', undefined, key),
    await target.call('GET', '/health', undefined, { 'api-key': admin }),
    await target.call('GET', '/payments/nobody', undefined, key),
    await target.call('GET', '/payments/nobody', undefined, { 'api-key': admin }),
    await target.call('POST', '/payments', '{', key),
    await target.call('POST', '/payments', 'x'.repeat(2_000_000), key),
    await target.call('POST', '/payments', '{}', { ...key, 'content-encoding': 'unheard-of' }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 404, 403, 400, 400, 400]);
  for (const { headers } of replies) expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
});

test('a response has the rate budget, and each request uses one of it', async () => {
  const read = async () => {
    const { headers } = await target.call('GET', '/health');
    return {
      limit: Number(headers.get('x-ratelimit-limit')),
      remaining: Number(headers.get('x-ratelimit-remaining')),
      reset: Number(headers.get('x-ratelimit-reset')),
      nowSeconds: Date.parse(headers.get('date') ?? '') / 1000,
    };
  };
  let [first, second] = [await read(), await read()];
  // If a minute ended between the two, the second has a new budget.
  if (first.reset !== second.reset) [first, second] = [second, await read()];
  expect(second.limit).toBeGreaterThan(0);
  // Others may use the account of a real service.
  expect(second.remaining).toBeLessThan(first.remaining);
  if (isOurs) expect(second.remaining).toBe(first.remaining - 1);
  expect(first.reset - first.nowSeconds).toBeGreaterThanOrEqual(0);
  expect(first.reset - first.nowSeconds).toBeLessThanOrEqual(60);
});

testOfOurs('beyond the budget the response is 429 with RL_01 until the reset', async () => {
  await target.control('PUT', '/rate_limit', { per_minute: 3 });
  const { api_key: key } = await target.control('POST', '/api_keys', { kind: 'secret' });
  const requestHealth = () => target.call('GET', '/health', undefined, { 'api-key': key });
  const replies = [
    await requestHealth(),
    await requestHealth(),
    await requestHealth(),
    await requestHealth(),
  ];
  if (new Set(replies.map(({ headers }) => headers.get('x-ratelimit-reset'))).size > 1) {
    // The minute ended meanwhile; the next one is long enough.
    replies.splice(
      0,
      4,
      await requestHealth(),
      await requestHealth(),
      await requestHealth(),
      await requestHealth(),
    );
  }
  const last = replies.at(-1);
  expect(last?.status).toBe(429);
  if (last) expectError(last, 429, 'RL_01');
  expect(last?.headers.get('x-ratelimit-remaining')).toBe('0');
  const resetMs = Number(last?.headers.get('x-ratelimit-reset')) * 1000;
  const nowMs = Date.parse(last?.headers.get('date') ?? '');
  await target.advance(resetMs - nowMs);
  expect((await requestHealth()).status).toBe(200);
  await target.control('PUT', '/rate_limit', { per_minute: 1_000_000 });
});
