import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FailedAttempt,
  type Health,
  isDead,
  judge,
} from '../../../src/notify/domain/retry.ts';

const NOW = Date.UTC(2026, 10, 21);
const HOUR_MS = 60 * 60_000;

function failed(fields: Partial<FailedAttempt>): FailedAttempt {
  return {
    attempted: { outcome: 'away', answer: 'HTTP 503' },
    attempts: 1,
    createdMs: NOW,
    isProbe: false,
    health: undefined,
    nowMs: NOW,
    lot: 1,
    ...fields,
  };
}

/** Of a channel that is found away by each probe. */
const awayFor = (times: number, failingSinceMs = NOW): Health => ({
  failingSinceMs,
  lastError: 'HTTP 503',
  away: { times, retryAtMs: NOW },
});

/** Of a channel that answers, and refuses. */
const refusing: Health = { failingSinceMs: NOW, lastError: 'HTTP 400', away: undefined };

describe('a channel that is away', () => {
  test.each([
    [0, 5],
    [1, 10],
    [2, 20],
    [5, 160],
    [6, 300],
    [40, 300],
  ])('and was found so by %i probes before is left alone for %i s', (before, seconds) => {
    const health = before === 0 ? undefined : awayFor(before);
    const verdict = judge(failed({ health, isProbe: before > 0 }));
    expect(verdict.health.away).toEqual({ times: before + 1, retryAtMs: NOW + seconds * 1000 });
  });

  test('is left alone no longer because of attempts that were under way when it was found so', () => {
    const health = awayFor(1);
    const verdict = judge(failed({ health, nowMs: NOW + 14_000 }));
    expect(verdict.health).toEqual(health);
    expect(verdict.nextAttemptMs).toBe(NOW + 19_000);
    const refused = judge(
      failed({ health, attempted: { outcome: 'refused', answer: 'HTTP 400' } }),
    );
    expect(refused.health.away).toEqual(health.away);
  });

  test('after messages that it refused is left alone for 5 s, as if they had not been', () => {
    expect(judge(failed({ health: refusing })).health.away).toEqual({
      times: 1,
      retryAtMs: NOW + 5_000,
    });
  });

  test('is so no longer when the probe is refused, and the next outage begins with 5 s', () => {
    const attempted = { outcome: 'refused', answer: 'HTTP 400' } as const;
    const { health } = judge(failed({ health: awayFor(6), isProbe: true, attempted }));
    expect(health.away).toBeUndefined();
    expect(judge(failed({ health })).health.away?.retryAtMs).toBe(NOW + 5_000);
  });

  test('is given the time that it asks for, an hour at most', () => {
    const asked = (retryAfterMs: number) =>
      judge(failed({ attempted: { outcome: 'away', answer: 'HTTP 429', retryAfterMs } })).health
        .away?.retryAtMs;
    expect(asked(90_000)).toBe(NOW + 90_000);
    expect(asked(1)).toBe(NOW + 5_000);
    expect(asked(99 * HOUR_MS)).toBe(NOW + HOUR_MS);
  });

  test('a message that failed often waits longer than the channel, so that another is tried', () => {
    const { nextAttemptMs, health } = judge(
      failed({ attempts: 6, health: awayFor(1), isProbe: true }),
    );
    expect(health.away?.retryAtMs).toBe(NOW + 10_000);
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
    expect(verdict.health.away).toBeUndefined();
  });
});

test.each(['away', 'refused'] as const)(
  'a message is given up three days after it was made, not before, by a channel that is %s',
  (outcome) => {
    const since = (ageMs: number) =>
      judge(failed({ attempted: { outcome, answer: 'x' }, createdMs: NOW - ageMs })).nextAttemptMs;
    const threeDaysMs = 3 * 24 * HOUR_MS;
    expect(since(threeDaysMs - 1)).toBeDefined();
    expect(since(threeDaysMs)).toBeUndefined();
    // A probe of a channel that was away meanwhile, too.
    const probe = judge(
      failed({
        attempted: { outcome, answer: 'x' },
        createdMs: NOW - threeDaysMs,
        health: awayFor(9, NOW - threeDaysMs),
        isProbe: true,
      }),
    );
    expect(probe.nextAttemptMs).toBeUndefined();
  },
);

test('a message is given up at once by 410', () => {
  const gone = judge(failed({ attempted: { outcome: 'gone', answer: 'HTTP 410' } }));
  expect(gone.nextAttemptMs).toBeUndefined();
  expect(isDead(gone.health, NOW)).toBe(true);
});

test('a channel is dead when it took nothing for ten minutes', () => {
  const tenMinutesMs = 10 * 60_000;
  expect(isDead(awayFor(9, NOW - tenMinutesMs + 1), NOW)).toBe(false);
  expect(isDead(awayFor(9, NOW - tenMinutesMs), NOW)).toBe(true);
});

test('every wait is in the future, at least half of what it is without the lot', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 200 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.constantFrom('away' as const, 'refused' as const),
      (attempts, before, lot, outcome) => {
        const input = { attempts, ...(before > 0 && { health: awayFor(before), isProbe: true }) };
        const attempted = { outcome, answer: 'x' };
        const { nextAttemptMs = 0 } = judge(failed({ ...input, attempted, lot }));
        const { nextAttemptMs: longest = 0 } = judge(failed({ ...input, attempted, lot: 1 }));
        expect(nextAttemptMs - NOW).toBeGreaterThanOrEqual((longest - NOW) / 2 - 1);
        expect(nextAttemptMs).toBeLessThanOrEqual(longest);
      },
    ),
  );
});
