import { describe, expect, test } from 'vitest';
import { judgePooling } from '../../../src/doctor/domain/judgePooling.ts';

const NONE = { redisUrl: undefined, queueDatabaseUrl: undefined, migrateDatabaseUrl: undefined };
const URL = 'postgres://shop@db.example/shop';
const SHARED = { mode: 'transaction', keepsStatements: false } as const;

describe('a pooler', () => {
  test.each([{ mode: 'direct' }, { mode: 'session' }] as const)(
    'that shares no sessions needs no settings: $mode',
    (pooling) => {
      expect(judgePooling(pooling, NONE)).toMatchObject({ state: 'ok' });
    },
  );

  test('in statement mode cannot be used, regardless of the settings', () => {
    const all = { redisUrl: 'redis://q', queueDatabaseUrl: URL, migrateDatabaseUrl: URL };
    expect(judgePooling({ mode: 'statement' }, all)).toMatchObject({ state: 'failed' });
  });

  test('in transaction mode needs another address for a queue in the database', () => {
    expect(judgePooling(SHARED, NONE)).toMatchObject({
      state: 'failed',
      remedy: expect.stringContaining('QUEUE_DATABASE_URL'),
    });
    expect(judgePooling(SHARED, { ...NONE, queueDatabaseUrl: URL })).toMatchObject({ state: 'ok' });
  });

  test('in transaction mode needs another address for migrations, also with Redis', () => {
    const redis = { ...NONE, redisUrl: 'redis://q' };
    expect(judgePooling(SHARED, redis)).toMatchObject({
      state: 'warning',
      result: expect.stringContaining('session advisory lock'),
      remedy: expect.stringContaining('MIGRATE_DATABASE_URL'),
    });
    expect(judgePooling(SHARED, { ...redis, migrateDatabaseUrl: URL })).toMatchObject({
      state: 'ok',
    });
  });

  test('that loses prepared statements is reported as slower, not as a fault', () => {
    const settings = { ...NONE, queueDatabaseUrl: URL };
    const kept = judgePooling({ ...SHARED, keepsStatements: true }, settings);
    expect(kept.result).toContain('keeps prepared statements');
    const lost = judgePooling(SHARED, settings);
    expect(lost).toMatchObject({ state: 'ok', result: expect.stringContaining('plans each') });
  });
});
