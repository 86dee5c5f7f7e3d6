import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReplyPace } from '../../../src/receiver/domain/replyPace.ts';

const LIMITS = { perSecond: 10, burst: 5, maxDelayMs: 1_000 };

test('replies are free up to the burst, and then spaced evenly', () => {
  const delayMs = createReplyPace(LIMITS);
  const delays = Array.from({ length: 9 }, () => delayMs(50_000));
  expect(delays).toEqual([0, 0, 0, 0, 0, 0, 100, 200, 300]);
});

test('the burst is free again after a rest', () => {
  const delayMs = createReplyPace(LIMITS);
  for (let count = 0; count < 100; count += 1) delayMs(0);
  expect(delayMs(1)).toBe(999);
  expect(Array.from({ length: 5 }, () => delayMs(1_600))).toEqual([0, 0, 0, 0, 0]);
});

test('at any times: no delay is negative or beyond the most, and a slow sender never waits', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 200 }), (gapsMs) => {
      const delayMs = createReplyPace(LIMITS);
      let nowMs = 0;
      for (const gapMs of gapsMs) {
        nowMs += gapMs;
        const delay = delayMs(nowMs);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(LIMITS.maxDelayMs);
      }
      const slow = createReplyPace(LIMITS);
      gapsMs.reduce((at, gapMs) => {
        expect(slow(at)).toBe(0);
        return at + Math.max(gapMs, 100);
      }, 0);
    }),
  );
});
