import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  acquire,
  LANES,
  type Lane,
  type RateReading,
  type RateState,
  readRate,
  UNKNOWN_RATE,
  update,
} from '../../../src/client/domain/rate.ts';

const NOW = Date.UTC(2026, 0, 1);
const RESET = NOW + 30_000;
const report = (remaining: number, change: Partial<RateReading> = {}): RateReading => ({
  limit: 100,
  remaining,
  resetAtMs: RESET,
  exceeded: false,
  ...change,
});
const informed = (...readings: readonly RateReading[]): RateState =>
  readings.reduce((state, reading) => update(state, reading, NOW), UNKNOWN_RATE);
const mayTake = (state: RateState, lane: Lane, nowMs = NOW) =>
  acquire(state, lane, nowMs).admission.admitted;

/** Acquires until it is refused, up to a thousand times. */
function drain(start: RateState, lane: Lane, nowMs = NOW): number {
  let state = start;
  for (let acquired = 0; acquired < 1000; acquired += 1) {
    const next = acquire(state, lane, nowMs);
    if (!next.admission.admitted) return acquired;
    state = next.state;
  }
  return 1000;
}

describe('acquiring', () => {
  // Rule 1.
  it('delays nothing before the service has reported its limit', () => {
    for (const lane of LANES) expect(drain(UNKNOWN_RATE, lane)).toBe(1000);
    const partly = [
      informed(report(0, { remaining: undefined })),
      { ...informed(report(0)), resetAtMs: undefined },
    ];
    for (const state of partly) {
      expect(acquire(state, 'discovery', NOW)).toEqual({ state, admission: { admitted: true } });
    }
  });

  it('reserves nothing of a limit that the service did not report', () => {
    expect(drain(informed(report(5, { limit: undefined })), 'discovery')).toBe(5);
  });

  // Rule 2.
  it.each([
    ['webhook', 100],
    ['operator', 96],
    ['refresh', 71],
    ['discovery', 61],
  ] as const)('%s takes %i of 100', (lane, count) => {
    expect(drain(informed(report(100)), lane)).toBe(count);
  });

  it('stops background work while less than 30 % is left, and returns how long to wait', () => {
    const low = informed(report(29));
    expect(acquire(low, 'refresh', NOW).admission).toEqual({ admitted: false, waitMs: 30_000 });
    expect(mayTake(low, 'discovery')).toBe(false);
    expect(mayTake(low, 'operator')).toBe(true);
  });

  it('admits a lane whenever it admits a lane with lower priority', () => {
    const anyState = fc.record({
      limit: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
      remaining: fc.option(fc.nat(1000), { nil: undefined }),
      resetAtMs: fc.option(fc.integer({ min: NOW - 1000, max: NOW + 60_000 }), { nil: undefined }),
      isAssumed: fc.boolean(),
    });
    fc.assert(
      fc.property(anyState, (state) => {
        const admitted = LANES.map((lane) => mayTake(state, lane));
        expect(admitted).toEqual(admitted.toSorted((a, b) => Number(b) - Number(a)));
      }),
    );
  });
});

describe('updating', () => {
  // Rule 3: responses overtake each other.
  it('keeps the lowest remaining count of a window', () => {
    expect(drain(informed(report(10), report(90)), 'webhook')).toBe(10);
    expect(drain(informed(report(10), report(90, { resetAtMs: RESET + 999 })), 'webhook')).toBe(10);
  });

  it('takes the earliest reset of a window: whole seconds make each up to one second late', () => {
    const later = (differenceMs: number) =>
      informed(report(10), report(90, { resetAtMs: RESET + differenceMs }));
    expect(later(999)).toMatchObject({ remaining: 10, resetAtMs: RESET });
    expect(later(-2_000)).toMatchObject({ remaining: 10, resetAtMs: RESET - 2_000 });
    expect(later(2_001)).toMatchObject({ remaining: 90, resetAtMs: RESET + 2_001 });
  });

  it('keeps what a response does not report', () => {
    const known = informed(report(10));
    expect(update(known, report(90, { resetAtMs: undefined }), NOW)).toEqual(known);
    expect(update(known, report(9, { limit: undefined }), NOW)).toMatchObject({ limit: 100 });
    const without = report(0, { remaining: undefined });
    expect(informed(report(10), without)).toMatchObject({ remaining: 10 });
    expect(informed(without, report(10))).toMatchObject({ remaining: 10 });
  });

  it('starts a new window with a later reset, and ignores responses of an earlier window', () => {
    const next = report(90, { resetAtMs: RESET + 60_000 });
    expect(drain(informed(report(0), next), 'webhook')).toBe(90);
    expect(drain(informed(next, report(0)), 'webhook')).toBe(90);
  });

  // Rule 4.
  it('has nothing left after a 429 until the reset, regardless of its remaining count', () => {
    const state = informed(report(50, { exceeded: true }));
    expect(drain(state, 'webhook')).toBe(0);
    expect(drain(state, 'webhook', RESET - 1)).toBe(0);
    expect(mayTake(state, 'webhook', RESET)).toBe(true);
  });

  it('lets no more go at a reset than the window holds', () => {
    expect(drain(informed(report(0)), 'webhook', RESET)).toBe(100);
  });

  it('corrects an assumed window with the first response, earlier or later', () => {
    for (const resetAtMs of [RESET + 20_000, RESET + 100_000]) {
      const { state } = acquire(informed(report(0)), 'webhook', RESET);
      const corrected = update(state, report(40, { resetAtMs }), RESET + 10);
      expect(corrected).toMatchObject({ remaining: 40, resetAtMs, isAssumed: false });
      // What was acquired of the assumed window may be in flight, and not counted by the service yet.
      expect(update(state, report(100, { resetAtMs }), RESET + 10).remaining).toBe(99);
    }
  });

  // Rule 5: a clock that was set back makes every later reading one of an earlier window.
  it('forgets a reset that is further away than any window, because the clock was set back', () => {
    const back = NOW - 3_600_000;
    const used = informed(report(0));
    expect(drain(used, 'webhook', back)).toBe(100);
    const read = update(informed(report(90)), report(5, { resetAtMs: back + 20_000 }), back);
    expect(read).toMatchObject({ remaining: 5, resetAtMs: back + 20_000 });
    const unlimited = informed(report(0, { limit: undefined }));
    expect(acquire(unlimited, 'webhook', back)).toEqual({
      state: UNKNOWN_RATE,
      admission: { admitted: true },
    });
    expect(mayTake(used, 'webhook', RESET - 300_000)).toBe(false);
  });

  it('never admits more in one window than the service reported as left', () => {
    const step = fc.oneof(
      fc.constantFrom(...LANES).map((lane) => ({ lane })),
      fc.nat(100).map((remaining) => ({ remaining })),
    );
    fc.assert(
      fc.property(fc.nat(100), fc.array(step, { maxLength: 300 }), (start, steps) => {
        let state = informed(report(start));
        let left = start;
        for (const next of steps) {
          if ('lane' in next) {
            const acquired = acquire(state, next.lane, NOW);
            state = acquired.state;
            if (acquired.admission.admitted) left -= 1;
          } else {
            state = update(state, report(next.remaining), NOW);
            left = Math.min(left, next.remaining);
          }
          expect(left).toBeGreaterThanOrEqual(0);
          expect(state.remaining).toBe(left);
        }
      }),
    );
  });
});

describe('reading headers', () => {
  const headers = { limit: '100', remaining: '7', reset: String(RESET / 1000), date: null };

  it('takes the reset as Unix seconds', () => {
    expect(readRate(headers, false, NOW)).toEqual(report(7));
  });

  it('ignores spaces around numbers, and a limit of zero, with which nothing would be sent again', () => {
    expect(readRate({ ...headers, limit: ' 100 ' }, false, NOW).limit).toBe(100);
    expect(readRate({ ...headers, limit: '0' }, false, NOW).limit).toBeUndefined();
  });

  it('measures the wait by the clock of the service if it reports one', () => {
    const date = new Date(NOW - 3_600_000).toUTCString();
    const reset = String((NOW - 3_600_000 + 20_000) / 1000);
    expect(readRate({ ...headers, date, reset }, true, NOW).resetAtMs).toBe(NOW + 20_000);
  });

  // Rule 5.
  it.each([null, '', 'soon', '-1', '0', String(NOW / 1000 - 1), String(NOW / 1000), String(RESET)])(
    'ignores the reset %j',
    (reset) => {
      expect(readRate({ ...headers, reset }, false, NOW).resetAtMs).toBeUndefined();
    },
  );

  // Rule 5: an accepted reset delays every lane until then.
  it('accepts a reset up to five minutes ahead, and none further ahead', () => {
    const waitMs = (seconds: number) => {
      const reset = String(NOW / 1000 + seconds);
      const { resetAtMs } = readRate({ ...headers, reset }, true, NOW);
      return resetAtMs === undefined ? undefined : resetAtMs - NOW;
    };
    expect([1, 60, 300].map(waitMs)).toEqual([1_000, 60_000, 300_000]);
    const [day, year] = [24 * 3600, 365 * 24 * 3600];
    expect([301, 3600, day, year].map(waitMs)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  // Rule 4: some services send none of the headers of the limit.
  it('takes Retry-After as the reset of a 429 that has none, and only of a 429', () => {
    const none = { limit: null, remaining: null, reset: null, date: null, retryAfterMs: 30_000 };
    expect(readRate(none, true, NOW).resetAtMs).toBe(NOW + 30_000);
    expect(readRate(none, false, NOW).resetAtMs).toBeUndefined();
    expect(readRate({ ...none, retryAfterMs: 301_000 }, true, NOW).resetAtMs).toBeUndefined();
    expect(readRate({ ...headers, retryAfterMs: 1_000 }, true, NOW).resetAtMs).toBe(RESET);
  });

  it('never reads an invalid number from headers of any text', () => {
    const text = fc.option(fc.string(), { nil: null });
    fc.assert(
      fc.property(text, text, text, text, (limit, remaining, reset, date) => {
        const reading = readRate({ limit, remaining, reset, date }, false, NOW);
        for (const value of [reading.limit, reading.remaining, reading.resetAtMs]) {
          if (value !== undefined) expect(Number.isFinite(value) && value >= 0).toBe(true);
        }
      }),
    );
  });
});
