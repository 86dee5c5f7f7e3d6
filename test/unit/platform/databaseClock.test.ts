import { describe, expect, test } from 'vitest';
import { createDatabaseClock } from '../../../src/platform/db/databaseClock.ts';
import { DAY_MS } from '../../../src/platform/time.ts';

const BEGIN_MS = Date.parse('2026-03-01T10:00:00Z');

/** A machine and a database with clocks that the test sets. */
function world() {
  const state = { elapsedMs: 1_000, machineAheadMs: 0, databaseAheadMs: 0, tripMs: 2 };
  const trueMs = () => BEGIN_MS + state.elapsedMs;
  const clock = createDatabaseClock({
    machine: { nowMs: () => trueMs() + state.machineAheadMs },
    monotonicMs: () => state.elapsedMs,
    readTimeMs: () => {
      state.elapsedMs += state.tripMs / 2;
      const readMs = trueMs() + state.databaseAheadMs;
      state.elapsedMs += state.tripMs / 2;
      return Promise.resolve(readMs);
    },
  });
  return { clock, state, databaseMs: () => trueMs() + state.databaseAheadMs };
}

describe('the database clock', () => {
  test('is the machine clock before the first measurement, and has no skew (invariant 3)', () => {
    const { clock, databaseMs } = world();
    expect(clock.nowMs()).toBe(databaseMs());
    expect(clock.skewMs()).toBeUndefined();
  });

  test('follows the database, regardless of the clock of the machine (invariant 1)', async () => {
    for (const machineAheadMs of [-3 * DAY_MS, 0, 5 * DAY_MS]) {
      const { clock, state, databaseMs } = world();
      state.machineAheadMs = machineAheadMs;
      await clock.measure();
      state.elapsedMs += 60_000;
      expect(clock.nowMs()).toBe(databaseMs());
      expect(clock.skewMs()).toBe(machineAheadMs);
    }
  });

  test('does not move when the machine clock is set, and shows the skew at once (invariant 1)', async () => {
    const { clock, state, databaseMs } = world();
    await clock.measure();
    state.machineAheadMs = 3 * DAY_MS;
    expect(clock.nowMs()).toBe(databaseMs());
    expect(clock.skewMs()).toBe(3 * DAY_MS);
    state.machineAheadMs = 0;
    expect(clock.nowMs()).toBe(databaseMs());
    expect(clock.skewMs()).toBe(0);
  });

  test('keeps the measurement of a fast response when a slow one arrives (invariant 2)', async () => {
    const { clock, state, databaseMs } = world();
    await clock.measure();
    const before = clock.nowMs() - databaseMs();
    state.tripMs = 8_000;
    await clock.measure();
    expect(clock.nowMs() - databaseMs()).toBe(before);
  });

  test('corrects a slow first measurement by the next fast one (invariant 2)', async () => {
    const state = { elapsedMs: 0 };
    // The first response takes four seconds to arrive.
    const trips = [
      [0, 4_000],
      [1, 1],
    ] as const;
    let requests = 0;
    const clock = createDatabaseClock({
      machine: { nowMs: () => BEGIN_MS + state.elapsedMs },
      monotonicMs: () => state.elapsedMs,
      readTimeMs: () => {
        const [thereMs, backMs] = trips[requests] ?? [0, 0];
        requests += 1;
        state.elapsedMs += thereMs;
        const readMs = BEGIN_MS + state.elapsedMs;
        state.elapsedMs += backMs;
        return Promise.resolve(readMs);
      },
    });
    await clock.measure();
    expect(clock.skewMs()).toBe(2_000);
    await clock.measure();
    expect(Math.abs(clock.skewMs() ?? Number.NaN)).toBeLessThanOrEqual(1);
  });

  test('follows a database after its own clock moved, as after a failover (invariant 2)', async () => {
    const { clock, state, databaseMs } = world();
    await clock.measure();
    state.databaseAheadMs = -30_000;
    await clock.measure();
    expect(Math.abs(clock.nowMs() - databaseMs())).toBeLessThanOrEqual(state.tripMs / 2);
  });

  test('keeps its time while the database is unavailable', async () => {
    const { clock, state, databaseMs } = world();
    await clock.measure();
    const failing = createDatabaseClock({
      machine: clock,
      readTimeMs: () => Promise.reject(new Error('the database is unavailable')),
    });
    await expect(failing.measure()).rejects.toThrow();
    state.elapsedMs += DAY_MS;
    expect(clock.nowMs()).toBe(databaseMs());
  });
});
