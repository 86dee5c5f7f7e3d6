/** Numbers are the rules of src/reconcile/domain/ceiling.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/platform/time.ts';
import {
  type BackgroundUse,
  discoveryPerMinute,
  reservesOf,
  takeBelowCeiling,
} from '../../../src/reconcile/domain/ceiling.ts';

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

  test('leaves something for discovery to take, whatever operators may set', () => {
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

describe('the ceiling (rules 2 and 3)', () => {
  const settings = { reservePercent: 30, backgroundPerMinute: 3 };
  const UNUSED: BackgroundUse = { taken: 0, fromMs: undefined };
  const take = (use: BackgroundUse, nowMs: number, lane = 'refresh') =>
    takeBelowCeiling(use, { lane, settings, nowMs });
  const used = (nowMs: number) => [1, 2, 3].reduce((use) => take(use, nowMs).use, UNUSED);

  test('refuses until a minute has passed since the first, and says how long that is', () => {
    const full = used(NOW);
    expect(take(full, NOW).waitMs).toBe(MINUTE_MS);
    expect(take(full, NOW + MINUTE_MS - 1).waitMs).toBe(1);
    expect(take(full, NOW + MINUTE_MS)).toEqual({
      use: { taken: 1, fromMs: NOW + MINUTE_MS },
      waitMs: 0,
    });
  });

  test('begins again when the clock went back, instead of waiting until it has caught up', () => {
    for (const backMs of [1, MINUTE_MS, 24 * 3600_000]) {
      expect(take(used(NOW), NOW - backMs)).toEqual({
        use: { taken: 1, fromMs: NOW - backMs },
        waitMs: 0,
      });
    }
  });

  test('never asks anybody to wait longer than a minute, whatever the clock does', () => {
    const instants = fc.array(fc.integer({ min: NOW - 10 * MINUTE_MS, max: NOW + 10 * MINUTE_MS }));
    fc.assert(
      fc.property(instants, (times) => {
        let use = UNUSED;
        for (const nowMs of times) {
          const taken = take(use, nowMs);
          expect(taken.waitMs).toBeGreaterThanOrEqual(0);
          expect(taken.waitMs).toBeLessThanOrEqual(MINUTE_MS);
          use = taken.use;
        }
      }),
    );
  });

  test('concerns neither what a webhook caused nor what a person asked for', () => {
    for (const lane of ['webhook', 'operator']) {
      expect(take(used(NOW), NOW, lane)).toEqual({ use: used(NOW), waitMs: 0 });
    }
  });
});
