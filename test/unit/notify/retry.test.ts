import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FailureFacts,
  type Health,
  isDown,
  isWaiting,
  latestTimes,
  planRetry,
  TRIED_WITHIN_MS,
} from '../../../src/notify/domain/retry.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';

const NOW = Date.UTC(2026, 10, 21);

function failed(fields: Partial<FailureFacts>): FailureFacts {
  return {
    result: { outcome: 'unavailable', response: 'HTTP 503' },
    attempts: 1,
    createdMs: NOW,
    isProbe: false,
    health: undefined,
    nowMs: NOW,
    jitter: 1,
    ...fields,
  };
}

/** The health of a channel that each probe found unavailable. */
const unavailableFor = (failures: number, failingSinceMs = NOW): Health => ({
  failingSinceMs,
  lastError: 'HTTP 503',
  outage: { failures, retryAtMs: NOW, waitingSinceMs: NOW - 1_000 },
});

/** The health of a channel that responds and rejects. */
const refusing: Health = { failingSinceMs: NOW, lastError: 'HTTP 400', outage: undefined };

describe('an unavailable channel', () => {
  test.each([
    [0, 5],
    [1, 10],
    [2, 20],
    [5, 160],
    [6, 300],
    [40, 300],
  ])('after %i failed probes waits %i s', (before, seconds) => {
    const health = before === 0 ? undefined : unavailableFor(before);
    const plan = planRetry(failed({ health, isProbe: before > 0 }));
    expect(plan.health.outage).toEqual({
      failures: before + 1,
      retryAtMs: NOW + seconds * 1000,
      waitingSinceMs: NOW,
    });
  });

  test('does not wait longer because of attempts that were in progress when the outage was detected', () => {
    const health = unavailableFor(1);
    const plan = planRetry(failed({ health, nowMs: NOW + 14_000 }));
    expect(plan.health).toEqual(health);
    expect(plan.nextAttemptMs).toBe(NOW + 19_000);
    const refused = planRetry(
      failed({ health, result: { outcome: 'refused', response: 'HTTP 400' } }),
    );
    expect(refused.health.outage).toEqual(health.outage);
  });

  test('after refused messages waits 5 s, as at any start of an outage', () => {
    expect(planRetry(failed({ health: refusing })).health.outage).toEqual({
      failures: 1,
      retryAtMs: NOW + 5_000,
      waitingSinceMs: NOW,
    });
  });

  test('is available again when the probe is refused, and the next outage starts with 5 s', () => {
    const result = { outcome: 'refused', response: 'HTTP 400' } as const;
    const { health } = planRetry(failed({ health: unavailableFor(6), isProbe: true, result }));
    expect(health.outage).toBeUndefined();
    expect(planRetry(failed({ health })).health.outage?.retryAtMs).toBe(NOW + 5_000);
  });

  test('waits as long as its response requests, at most an hour', () => {
    const waitUntil = (retryAfterMs: number) =>
      planRetry(failed({ result: { outcome: 'unavailable', response: 'HTTP 429', retryAfterMs } }))
        .health.outage?.retryAtMs;
    expect(waitUntil(90_000)).toBe(NOW + 90_000);
    expect(waitUntil(1)).toBe(NOW + 5_000);
    expect(waitUntil(99 * HOUR_MS)).toBe(NOW + HOUR_MS);
  });

  test('a message that failed often waits longer than the channel, so that another message is tried', () => {
    const { nextAttemptMs, health } = planRetry(
      failed({ attempts: 6, health: unavailableFor(1), isProbe: true }),
    );
    expect(health.outage?.retryAtMs).toBe(NOW + 10_000);
    expect(nextAttemptMs).toBe(NOW + 160_000);
  });
});

describe('a refused message', () => {
  const refused = { outcome: 'refused', response: 'HTTP 400' } as const;

  test.each([
    [1, 30],
    [2, 60],
    [10, 30 * 512],
    [11, 6 * 3600],
    [99, 6 * 3600],
  ])('after attempt %i waits %i s, and its channel continues', (attempts, seconds) => {
    const plan = planRetry(failed({ result: refused, attempts }));
    expect(plan.nextAttemptMs).toBe(NOW + seconds * 1000);
    expect(plan.health.outage).toBeUndefined();
  });
});

test.each(['unavailable', 'refused'] as const)(
  'a message fails three days after it was created, not before: %s',
  (outcome) => {
    const since = (ageMs: number) =>
      planRetry(failed({ result: { outcome, response: 'x' }, createdMs: NOW - ageMs }))
        .nextAttemptMs;
    const threeDaysMs = 3 * 24 * HOUR_MS;
    expect(since(threeDaysMs - 1)).toBeDefined();
    expect(since(threeDaysMs)).toBeUndefined();
    // Also the probe of a channel that was unavailable meanwhile.
    const probe = planRetry(
      failed({
        result: { outcome, response: 'x' },
        createdMs: NOW - threeDaysMs,
        health: unavailableFor(9, NOW - threeDaysMs),
        isProbe: true,
      }),
    );
    expect(probe.nextAttemptMs).toBeUndefined();
    // Also what was in progress when the outage was found.
    const meanwhile = planRetry(
      failed({
        result: { outcome, response: 'x' },
        createdMs: NOW - threeDaysMs,
        health: unavailableFor(1),
      }),
    );
    expect(meanwhile.nextAttemptMs).toBeUndefined();
  },
);

test('a channel with due messages is tried within the time after which it counts as unused', () => {
  const waitMs = (fields: Partial<FailureFacts>) =>
    (planRetry(failed(fields)).nextAttemptMs ?? 0) - NOW;
  const refusedMs = waitMs({ result: { outcome: 'refused', response: 'x' }, attempts: 99 });
  const requestedMs = waitMs({
    result: { outcome: 'unavailable', response: 'x', retryAfterMs: 99 * HOUR_MS },
  });
  expect(TRIED_WITHIN_MS).toBeGreaterThanOrEqual(refusedMs + requestedMs);
});

test('a message fails at once after a 410', () => {
  const gone = planRetry(failed({ result: { outcome: 'gone', response: 'HTTP 410' } }));
  expect(gone.nextAttemptMs).toBeUndefined();
  expect(isDown(gone.health, NOW)).toBe(true);
});

test('a channel is down when it accepted nothing for ten minutes', () => {
  const tenMinutesMs = 10 * 60_000;
  expect(isDown(unavailableFor(9, NOW - tenMinutesMs + 1), NOW)).toBe(false);
  expect(isDown(unavailableFor(9, NOW - tenMinutesMs), NOW)).toBe(true);
});

test('a channel waits until its time, unless the wait began in the future (rule 6)', () => {
  const isWaitingFrom = (sinceMs: number, retryMs: number) =>
    isWaiting({ failures: 1, retryAtMs: NOW + retryMs, waitingSinceMs: NOW + sinceMs }, NOW);
  expect([0, 1, HOUR_MS].map((ms) => isWaitingFrom(0, ms))).toEqual([false, true, true]);
  expect([MINUTE_MS, MINUTE_MS + 1].map((ms) => isWaitingFrom(ms, HOUR_MS))).toEqual([true, false]);
});

test('nothing that happened lies further ahead than a minute, and no lease than two (rule 6)', () => {
  expect(latestTimes(NOW)).toEqual({ pastMs: NOW + MINUTE_MS, leaseMs: NOW + 2 * MINUTE_MS });
});

test('every wait is in the future, at least half of the wait without jitter', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 200 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.constantFrom('unavailable' as const, 'refused' as const),
      (attempts, before, jitter, outcome) => {
        const input = {
          attempts,
          ...(before > 0 && { health: unavailableFor(before), isProbe: true }),
        };
        const result = { outcome, response: 'x' };
        const { nextAttemptMs = 0 } = planRetry(failed({ ...input, result, jitter }));
        const { nextAttemptMs: longest = 0 } = planRetry(failed({ ...input, result, jitter: 1 }));
        expect(nextAttemptMs - NOW).toBeGreaterThanOrEqual((longest - NOW) / 2 - 1);
        expect(nextAttemptMs).toBeLessThanOrEqual(longest);
      },
    ),
  );
});
