import { describe, expect, test } from 'vitest';
import { createFailureCount, MAX_FAILURES, WINDOW_MS } from '../../../src/console/failures.ts';

function at(startMs: number) {
  let nowMs = startMs;
  return {
    clock: { nowMs: () => nowMs },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

function fail(count: ReturnType<typeof createFailureCount>, address: string, times: number): void {
  for (let failure = 0; failure < times; failure += 1) count.note(address);
}

describe('an address', () => {
  test('is rejected after too many failures, for the rest of its minute', () => {
    const time = at(1_000);
    const count = createFailureCount(time.clock);
    fail(count, '192.0.2.1', MAX_FAILURES - 1);
    expect(count.limitedForMs('192.0.2.1')).toBe(0);
    time.pass(10_000);
    fail(count, '192.0.2.1', 1);
    expect(count.limitedForMs('192.0.2.1')).toBe(WINDOW_MS - 10_000);
    expect(count.limitedForMs('192.0.2.2')).toBe(0);
    time.pass(WINDOW_MS - 10_000);
    expect(count.limitedForMs('192.0.2.1')).toBe(0);
  });

  test('starts again after its minute', () => {
    const time = at(0);
    const count = createFailureCount(time.clock);
    for (let minute = 0; minute < 5; minute += 1) {
      fail(count, '192.0.2.1', MAX_FAILURES - 1);
      time.pass(WINDOW_MS);
    }
    expect(count.limitedForMs('192.0.2.1')).toBe(0);
  });

  test.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff::1', true],
    ['2001:db8::1', '2001:db8::2', true],
    ['2001:db8::1', '2001:db8:0:0:9::', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::1', '::2', true],
    ['192.0.2.1', '192.0.2.2', false],
  ])('%s and %s count as one: %j', (one, other, isOne) => {
    const count = createFailureCount(at(0).clock);
    fail(count, one, MAX_FAILURES);
    expect(count.limitedForMs(other) > 0).toBe(isOne);
  });
});

test('the number of addresses is bounded, and the oldest is dropped first', () => {
  const count = createFailureCount(at(0).clock, 100);
  for (let host = 0; host < 1_000; host += 1) fail(count, `host-${host}`, MAX_FAILURES);
  expect(count.size()).toBe(100);
  expect(count.limitedForMs('host-0')).toBe(0);
  expect(count.limitedForMs('host-999')).toBeGreaterThan(0);
});
