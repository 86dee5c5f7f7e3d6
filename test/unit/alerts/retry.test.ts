import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEAD_AFTER_MS,
  type FailedAttempt,
  GIVE_UP_AFTER_MS,
  isDead,
  judge,
} from '../../../src/alerts/domain/retry.ts';

const NOW = Date.UTC(2026, 10, 21);
const HOUR_MS = 60 * 60_000;

function failed(fields: Partial<FailedAttempt>): FailedAttempt {
  return {
    attempted: { outcome: 'away', answer: 'HTTP 503' },
    attempts: 1,
    createdMs: NOW,
    health: undefined,
    nowMs: NOW,
    lot: 1,
    ...fields,
  };
}

const healthAfter = (failures: number, failingSinceMs = NOW) => ({
  failures,
  failingSinceMs,
  retryAtMs: NOW,
  lastError: 'HTTP 503',
});

describe('a channel that is away', () => {
  test.each([
    [0, 5],
    [1, 10],
    [2, 20],
    [5, 160],
    [6, 300],
    [40, 300],
  ])('after %i failures before is left alone for %i s', (before, seconds) => {
    const health = before === 0 ? undefined : healthAfter(before);
    const verdict = judge(failed({ health }));
    expect(verdict.health.retryAtMs).toBe(NOW + seconds * 1000);
    expect(verdict.health.failures).toBe(before + 1);
  });

  test('is given the time that it asks for, an hour at most', () => {
    const asked = (retryAfterMs: number) =>
      judge(failed({ attempted: { outcome: 'away', answer: 'HTTP 429', retryAfterMs } })).health
        .retryAtMs;
    expect(asked(90_000)).toBe(NOW + 90_000);
    expect(asked(1)).toBe(NOW + 5_000);
    expect(asked(99 * HOUR_MS)).toBe(NOW + HOUR_MS);
  });

  test('a message that failed often waits longer than the channel, so that another is tried', () => {
    const { nextAttemptMs, health } = judge(failed({ attempts: 6, health: healthAfter(1) }));
    expect(health.retryAtMs).toBe(NOW + 10_000);
    expect(nextAttemptMs).toBe(NOW + 160_000);
  });
});

describe('a message that is refused', () => {
  const refused = { outcome: 'refused', answer: 'HTTP 400' } as const;

  test.each([
    [1, 30],
    [2, 60],
    [10, 30 * 512],
    [11, 6 * 3600],
    [99, 6 * 3600],
  ])('at its attempt %i waits %i s, and its channel goes on', (attempts, seconds) => {
    const verdict = judge(failed({ attempted: refused, attempts }));
    expect(verdict.nextAttemptMs).toBe(NOW + seconds * 1000);
    expect(verdict.health.retryAtMs).toBeUndefined();
  });
});

test('a message is given up three days after it was made, and at once by 410', () => {
  const since = (ageMs: number) => judge(failed({ createdMs: NOW - ageMs })).nextAttemptMs;
  expect(since(GIVE_UP_AFTER_MS - 1)).toBeDefined();
  expect(since(GIVE_UP_AFTER_MS)).toBeUndefined();
  const gone = judge(failed({ attempted: { outcome: 'gone', answer: 'HTTP 410' } }));
  expect(gone.nextAttemptMs).toBeUndefined();
  expect(isDead(gone.health, NOW)).toBe(true);
});

test('a channel is dead when it took nothing for ten minutes', () => {
  expect(isDead(healthAfter(9, NOW - DEAD_AFTER_MS + 1), NOW)).toBe(false);
  expect(isDead(healthAfter(9, NOW - DEAD_AFTER_MS), NOW)).toBe(true);
});

test('every wait is in the future, at least half of what it is without the lot', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 200 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.constantFrom('away' as const, 'refused' as const),
      (attempts, before, lot, outcome) => {
        const input = { attempts, ...(before > 0 && { health: healthAfter(before) }) };
        const attempted = { outcome, answer: 'x' };
        const { nextAttemptMs = 0 } = judge(failed({ ...input, attempted, lot }));
        const { nextAttemptMs: longest = 0 } = judge(failed({ ...input, attempted, lot: 1 }));
        expect(nextAttemptMs - NOW).toBeGreaterThanOrEqual((longest - NOW) / 2 - 1);
        expect(nextAttemptMs).toBeLessThanOrEqual(longest);
      },
    ),
  );
});
