/** Retention leaves the database to intake for nine tenths of the time, in steps that no reply notices. */
import { expect, test } from 'vitest';
import { FIRST_ROWS, mustWait, nextRows, restMs } from '../../../src/retention/domain/pace.ts';

/** Rows of the steps when each row takes this long. */
function stepsAt(msPerRow: number): readonly number[] {
  const steps: number[] = [];
  for (let rows = FIRST_ROWS; steps.length < 20; rows = nextRows(rows, rows * msPerRow)) {
    steps.push(rows);
  }
  return steps;
}

test.each([
  { machine: 'fast', msPerRow: 0.02 },
  { machine: 'slow', msPerRow: 0.2 },
])('on a $machine machine, steps settle between 15 and 50 ms', ({ msPerRow }) => {
  const tookMs = (stepsAt(msPerRow).at(-1) ?? 0) * msPerRow;
  expect(tookMs).toBeGreaterThanOrEqual(15);
  expect(tookMs).toBeLessThanOrEqual(50);
});

test('a step has 50 to 2,000 rows, however fast or slow they are', () => {
  expect(stepsAt(0).at(-1)).toBe(2_000);
  expect(stepsAt(100).at(-1)).toBe(50);
});

test('retention rests nine times as long as a step took', () => {
  expect(restMs(40)).toBe(360);
});

test('retention waits while an event has been pending for more than ten seconds', () => {
  expect([undefined, 0, 10_000, 10_001].map(mustWait)).toEqual([false, false, false, true]);
});

test('the next step has half as many rows after more than 50 ms, and twice as many after less than 15', () => {
  expect([14, 15, 20, 50, 51].map((tookMs) => nextRows(103, tookMs))).toEqual([
    206, 103, 103, 103, 51,
  ]);
});
