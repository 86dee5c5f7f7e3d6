/** One URL for each form in which Redis runs. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { parseRedisUrl } from '../../../src/platform/queue/redisAddress.ts';

test('the servers, their login and the name of the primary are read', () => {
  const url =
    'rediss+sentinel://app:p%40ss@one.example,two.example:5000,[::1]/orders/2?sentinel_password=a%26b@c';
  expect(parseRedisUrl(url)).toEqual({
    form: 'sentinel',
    hosts: [
      { host: 'one.example', port: 26_379 },
      { host: 'two.example', port: 5_000 },
      { host: '::1', port: 26_379 },
    ],
    isTls: true,
    user: 'app',
    password: 'p@ss',
    service: 'orders',
    db: 2,
    sentinelUser: undefined,
    sentinelPassword: 'a&b@c',
  });
  expect(parseRedisUrl('redis+cluster://:a:b@10.0.0.1')).toEqual({
    form: 'cluster',
    hosts: [{ host: '10.0.0.1', port: 6_379 }],
    isTls: false,
    user: undefined,
    password: 'a:b',
  });
  const single = 'redis://app:secret@queue.example:6380/1';
  expect(parseRedisUrl(single)).toEqual({ form: 'single', url: single, isTls: false });
});

test.each([
  ['http://queue.example', 'must begin with redis://'],
  ['redis://one.example,two.example', 'names several servers'],
  ['redis+sentinel://one.example', 'must end with the name'],
  ['redis+sentinel://one.example/orders/x', 'must end with the name'],
  ['redis+sentinel://one.example/orders?password=hush', 'has an option other than'],
  ['redis+sentinel:///orders', 'must name its servers'],
  ['redis+cluster://one.example:70000', 'must name its servers'],
  ['redis+cluster://one.example,,two.example', 'must name its servers'],
  ['redis+cluster://one.example/1', 'has one database'],
  ['redis+cluster://app:100%@one.example', '%-encoded'],
])('%s is refused at the start', (url, problem) => {
  expect(() => loadConfig({ REDIS_URL: url })).toThrow('REDIS_URL: ');
  expect(parseRedisUrl(url)).toMatchObject({ problem: expect.stringContaining(problem) });
});

test('prefix and certificates are checked', () => {
  const url = 'redis+cluster://one.example';
  expect(loadConfig({ REDIS_URL: url }).redisPrefix).toBe('bull');
  expect(() => loadConfig({ REDIS_URL: url, REDIS_PREFIX: '{shop}' })).toThrow('REDIS_PREFIX');
  expect(() => loadConfig({ REDIS_URL: url, REDIS_CA_FILE: '/ca.pem' })).toThrow(
    'REDIS_CA_FILE: needs a REDIS_URL that begins with rediss',
  );
});
