/** Passwords and payments in clear text on a network, and ports that strangers reach. */
import { describe, expect, test } from 'vitest';
import { judgeConnections, judgePorts } from '../../../src/doctor/domain/judgeExposure.ts';
import { serversOfRedisUrl } from '../../../src/platform/queue/redisAddress.ts';

const NONE = {
  databaseUrl: undefined,
  migrateDatabaseUrl: undefined,
  queueDatabaseUrl: undefined,
  databaseReadUrl: undefined,
  redis: undefined,
};

describe('a connection', () => {
  test.each([
    ['the embedded database', undefined],
    ['loopback', 'postgres://shop:hunter2@127.0.0.1:5432/shop'],
    ['loopback by name', 'postgresql://shop@localhost/shop'],
    ['loopback, IPv6', 'postgres://shop@[::1]/shop'],
    ['a socket', 'postgres:///shop?host=/var/run/postgresql'],
    ['a socket as host', 'postgres://shop@%2Fvar%2Frun%2Fpostgresql/shop'],
    ['TLS', 'postgres://shop@db.example/shop?sslmode=require'],
    ['verified TLS', 'postgres://shop@db.example/shop?sslmode=verify-full'],
    ['a verified authority', 'postgres://shop@db.example/shop?sslmode=verify-ca'],
    ['ssl=true', 'postgres://shop@db.example/shop?ssl=true'],
  ])('to PostgreSQL is private: %s', (_, databaseUrl) => {
    expect(judgeConnections({ ...NONE, databaseUrl })).toMatchObject({ state: 'ok' });
    expect(judgeConnections({ ...NONE, migrateDatabaseUrl: databaseUrl })).toMatchObject({
      state: 'ok',
    });
    expect(judgeConnections({ ...NONE, queueDatabaseUrl: databaseUrl })).toMatchObject({
      state: 'ok',
    });
  });

  test.each([
    ['without TLS', 'postgres://shop:hunter2@db.example/shop', 'db.example'],
    ['that prefers TLS', 'postgres://shop:hunter2@db.example/shop?sslmode=prefer', 'db.example'],
    ['that disables TLS', 'postgres://shop:hunter2@10.0.0.7/shop?sslmode=disable', '10.0.0.7'],
    ['to another host in the query', 'postgres://localhost/shop?host=db.example', 'db.example'],
    [
      'to a name that begins like loopback',
      'postgres://127.0.0.1.example/shop',
      '127.0.0.1.example',
    ],
  ])('to PostgreSQL is in clear text: %s', (_, databaseUrl, host) => {
    const judgment = judgeConnections({ ...NONE, databaseUrl });
    expect(judgment).toEqual({
      state: 'warning',
      result: `DATABASE_URL connects to ${host} without TLS`,
      remedy: expect.stringContaining('sslmode=verify-full'),
    });
  });

  test('to Redis is encrypted by its scheme', () => {
    const stateOf = (url: string) =>
      judgeConnections({ ...NONE, redis: serversOfRedisUrl(url) }).state;
    expect(stateOf('redis://127.0.0.1:6379')).toBe('ok');
    expect(stateOf('rediss://:hunter2@queue.example:6379')).toBe('ok');
    expect(stateOf('redis://:hunter2@queue.example:6379')).toBe('warning');
    expect(stateOf('redis://:hunter2@queue.example:6379/?sslmode=require')).toBe('warning');
    expect(stateOf('redis+sentinel://127.0.0.1:26379,[::1]:26379/orders')).toBe('ok');
    expect(stateOf('rediss+cluster://one.example:6379,two.example:6379')).toBe('ok');
    expect(stateOf('redis+cluster://127.0.0.1:6379,two.example:6379')).toBe('warning');
  });

  test('in clear text is named by its setting, without its password', () => {
    const { result, remedy } = judgeConnections({
      databaseUrl: 'postgres://shop:hunter2@db.example/shop',
      migrateDatabaseUrl: 'postgres://owner:hunter2@db.example/shop',
      queueDatabaseUrl: 'postgres://queue:hunter2@db.example/shop',
      databaseReadUrl: 'postgres://reads:hunter2@standby.example/shop',
      redis: serversOfRedisUrl('redis://:hunter2@queue.example'),
    });
    expect(result.split('\n')).toEqual([
      'DATABASE_URL connects to db.example without TLS',
      'MIGRATE_DATABASE_URL connects to db.example without TLS',
      'QUEUE_DATABASE_URL connects to db.example without TLS',
      'DATABASE_READ_URL connects to standby.example without TLS',
      'REDIS_URL connects to queue.example without TLS',
    ]);
    expect(`${result} ${remedy}`).not.toContain('hunter2');
  });
});

describe('a port', () => {
  test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('is private at %s', (host) => {
    expect(judgePorts({ adminHost: host, metricsHost: host })).toMatchObject({ state: 'ok' });
  });

  test.each(['0.0.0.0', '::', '10.0.0.7', 'admin.example', ''])('is open at "%s"', (host) => {
    expect(judgePorts({ adminHost: host, metricsHost: undefined })).toMatchObject({
      state: 'warning',
      result: `ADMIN_HOST opens the admin port at ${host}`,
    });
    expect(judgePorts({ adminHost: undefined, metricsHost: host })).toMatchObject({
      state: 'warning',
      result: `METRICS_HOST opens the health port at ${host}`,
    });
  });

  test('is not judged in a process that does not open it', () => {
    const neither = { adminHost: undefined, metricsHost: undefined };
    expect(judgePorts(neither)).toMatchObject({ state: 'ok' });
  });
});
