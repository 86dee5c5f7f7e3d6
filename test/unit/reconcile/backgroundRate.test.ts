/** Numbers are the rules of src/reconcile/domain/backgroundRate.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/platform/time.ts';
import {
  acquireBelowCeiling,
  type BackgroundUse,
  discoveryPerMinute,
  reservesOf,
} from '../../../src/reconcile/domain/backgroundRate.ts';

const NOW = Date.UTC(2026, 10, 21);

describe('the reserve (rule 1)', () => {
  const reserves = (reservePercent: number) =>
    reservesOf({ reservePercent, backgroundPerMinute: undefined });

  test.each([
    [0, 0, 0.1],
    [30, 0.3, 0.4],
    [80, 0.8, 0.9],
  ])(
    'of %i percent stops refresh at %f of the limit, discovery at %f',
    (percent, refresh, discovery) => {
      expect(reserves(percent).refresh).toBeCloseTo(refresh);
      expect(reserves(percent).discovery).toBeCloseTo(discovery);
    },
  );

  test('leaves some requests to discovery at every allowed setting', () => {
    // RATE_RESERVE_PERCENT goes up to 90.
    for (let percent = 0; percent <= 90; percent += 1) {
      expect(reserves(percent).discovery, `${percent} %`).toBeLessThanOrEqual(0.95);
      const perMinute = discoveryPerMinute(
        { reservePercent: percent, backgroundPerMinute: undefined },
        100,
      );
      expect(perMinute, `${percent} %`).toBeGreaterThan(4);
    }
  });
});

describe('the requests a minute that discovery may send', () => {
  const perMinute = (backgroundPerMinute: number | undefined, limit: number | null) =>
    discoveryPerMinute({ reservePercent: 40, backgroundPerMinute }, limit);

  test('are what the reserve and a tenth leave of the limit, or the ceiling if it is lower', () => {
    expect(perMinute(undefined, 100)).toBeCloseTo(50);
    expect(perMinute(80, 100)).toBeCloseTo(50);
    expect(perMinute(20, 100)).toBe(20);
  });

  test('are the ceiling where the limit is not known, and unlimited without both', () => {
    expect(perMinute(20, null)).toBe(20);
    expect(perMinute(undefined, null)).toBeUndefined();
  });
});

describe('the ceiling (rules 2 and 3)', () => {
  const settings = { reservePercent: 30, backgroundPerMinute: 3 };
  const UNUSED: BackgroundUse = { requests: 0, fromMs: undefined };
  const acquire = (use: BackgroundUse, nowMs: number, lane = 'refresh') =>
    acquireBelowCeiling(use, { lane, settings, nowMs });
  const used = (nowMs: number) => [1, 2, 3].reduce((use) => acquire(use, nowMs).use, UNUSED);

  test('waits until a minute has passed since the first request, and returns how long that is', () => {
    const full = used(NOW);
    expect(acquire(full, NOW).waitMs).toBe(MINUTE_MS);
    expect(acquire(full, NOW + MINUTE_MS - 1).waitMs).toBe(1);
    expect(acquire(full, NOW + MINUTE_MS)).toEqual({
      use: { requests: 1, fromMs: NOW + MINUTE_MS },
      waitMs: 0,
    });
  });

  test('starts a new minute when the clock was set back', () => {
    for (const backMs of [1, MINUTE_MS, 24 * 3600_000]) {
      expect(acquire(used(NOW), NOW - backMs)).toEqual({
        use: { requests: 1, fromMs: NOW - backMs },
        waitMs: 0,
      });
    }
  });

  test('never waits longer than a minute at any change of the clock', () => {
    const instants = fc.array(fc.integer({ min: NOW - 10 * MINUTE_MS, max: NOW + 10 * MINUTE_MS }));
    fc.assert(
      fc.property(instants, (times) => {
        let use = UNUSED;
        for (const nowMs of times) {
          const acquired = acquire(use, nowMs);
          expect(acquired.waitMs).toBeGreaterThanOrEqual(0);
          expect(acquired.waitMs).toBeLessThanOrEqual(MINUTE_MS);
          use = acquired.use;
        }
      }),
    );
  });

  test('applies to discovery as to refresh', () => {
    expect(acquire(used(NOW), NOW, 'discovery').waitMs).toBe(MINUTE_MS);
  });

  test('is none by default, and background requests are counted all the same', () => {
    const unlimited = {
      lane: 'refresh',
      settings: { ...settings, backgroundPerMinute: undefined },
    };
    expect(acquireBelowCeiling(used(NOW), { ...unlimited, nowMs: NOW })).toEqual({
      use: { requests: 4, fromMs: NOW },
      waitMs: 0,
    });
  });

  test('does not apply to the requests of webhooks and of people', () => {
    for (const lane of ['webhook', 'operator']) {
      expect(acquire(used(NOW), NOW, lane)).toEqual({ use: used(NOW), waitMs: 0 });
    }
  });
});
