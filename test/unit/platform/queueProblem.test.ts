/** Errors and replies of servers, and the reason that people read. */
import { expect, test } from 'vitest';
import {
  problemOfPostgresError,
  problemOfRedisError,
  problemOfRedisInfo,
  problemOfSearchPath,
} from '../../../src/platform/queue/problem.ts';

test.each([
  ['redis_mode:standalone\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n', undefined],
  ['redis_version:7.2.4\r\n', undefined],
  ['redis_mode:sentinel\r\n', 'REDIS_URL names a Sentinel'],
  ['redis_mode:cluster\r\nrole:master\r\n', 'REDIS_URL names a node of a Redis Cluster'],
  ['redis_mode:standalone\ncluster_enabled:1\n', 'REDIS_URL names a node of a Redis Cluster'],
  ['redis_mode:standalone\r\nrole:slave\r\n', 'REDIS_URL names a replica'],
  [
    'role:master\r\nmaxmemory_policy:volatile-lru\r\n',
    'the eviction policy of Redis is volatile-lru,',
  ],
])('INFO %j: %s', (info, reason) => {
  const problem = problemOfRedisInfo(info, 'single');
  if (reason === undefined) expect(problem).toBeUndefined();
  else expect(problem?.reason).toContain(reason);
});

test.each([
  ['WRONGPASS invalid username-password pair', 'Redis rejects the user name or the password'],
  ['NOAUTH Authentication required.', 'Redis rejects the user name or the password'],
  ["NOPERM User app has no permissions to run the 'eval' command", 'the Redis user lacks rights'],
  ['MOVED 1234 10.0.0.7:6379', 'REDIS_URL names a node of a Redis Cluster'],
  ["CROSSSLOT Keys in request don't hash to the same slot", 'REDIS_URL names a node of'],
  ["READONLY You can't write against a read only replica.", 'REDIS_URL names a replica'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'Redis has no memory left'],
  ['MISCONF Redis is configured to save RDB snapshots', 'Redis cannot save its data'],
  ["ERR unknown command 'evalsha'", 'Redis refuses a command of the queue (ERR unknown command'],
  ['Connection is closed.', 'Redis is unreachable'],
])('Redis: %s', (message, reason) => {
  const problem = problemOfRedisError(new Error(message), {
    form: 'single',
    isTls: false,
    keys: 'bull:*',
  });
  expect(problem.reason).toContain(reason);
  expect(problem.remedy).toMatch(/\.$/);
});

test('what only a Cluster can lack', () => {
  expect(problemOfRedisInfo('redis_mode:standalone\r\n', 'cluster')?.reason).toContain(
    'the server has no cluster mode',
  );
  const use = { form: 'cluster', isTls: false, keys: '{bull:*' } as const;
  for (const message of [
    'CLUSTERDOWN Hash slot not served',
    'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down',
  ]) {
    expect(problemOfRedisError(new Error(message), use).reason).toContain('no primary for some');
  }
  const lastNodeError = new Error('WRONGPASS invalid username-password pair');
  const refused = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError });
  expect(problemOfRedisError(refused, use).reason).toContain('Redis rejects the user name');
});

test.each([
  ['42501', 'the database role lacks rights on the queue'],
  ['42P01', 'the schema of the queue is missing or old'],
  ['25006', 'the database accepts no writes'],
  ['53100', 'the disk of the database is full'],
  ['ECONNREFUSED', 'the database is unavailable'],
  ['22012', 'the database refuses a statement of the queue'],
])('PostgreSQL: %s', (code, reason) => {
  const problem = problemOfPostgresError(Object.assign(new Error('as it was'), { code }));
  expect(problem.reason).toBe(`${reason} (as it was)`);
});

test('a search path that a pooler replaced', () => {
  expect(problemOfSearchPath('bullmq', 'bullmq')).toBeUndefined();
  expect(problemOfSearchPath('"$user", public', 'bullmq')?.reason).toContain('search_path');
});
