/** The time left of a task with an uneven pace; the numbers are those of src/cli/estimate.ts. */
import { expect, test } from 'vitest';
import { type Sample, type TimeLeft, timeLeft, withSample } from '../../../src/cli/estimate.ts';
import { seededRandom, testSeed } from '../../support/random.ts';

interface Estimate {
  readonly share: number;
  readonly actualMs: number;
  readonly left: TimeLeft;
}

/** What is estimated after each step of a task. @param stepsMs how long each of its steps takes */
function estimates(stepsMs: readonly number[]): readonly Estimate[] {
  const total = stepsMs.length;
  const endMs = stepsMs.reduce((sum, ms) => sum + ms, 0);
  let samples: readonly Sample[] = [];
  let nowMs = 0;
  return stepsMs.flatMap((ms, step) => {
    nowMs += ms;
    samples = withSample(samples, { atMs: nowMs, done: step + 1 });
    const left = timeLeft(samples, { nowMs, total });
    return left ? [{ share: (step + 1) / total, actualMs: endMs - nowMs, left }] : [];
  });
}

/** By how much the time that it took is outside of the range: 1 if it is inside. */
function factor({ actualMs, left: { leastMs, mostMs } }: Estimate): number {
  return Math.max(1, leastMs / actualMs, actualMs / mostMs);
}

const repeat = (count: number, ms: number): readonly number[] =>
  Array.from({ length: count }, () => ms);

test('an even pace: the time left is exact', () => {
  const even = estimates(repeat(1_000, 50));
  expect(even.length).toBeGreaterThan(990);
  for (const { actualMs, left } of even) {
    expect(left.leastMs).toBeCloseTo(actualMs, 5);
    expect(left.mostMs).toBeCloseTo(actualMs, 5);
  }
});

test.each([
  [
    'half of the span is read in a moment, and the season takes hours',
    repeat(500, 10),
    repeat(500, 10_000),
  ],
  ['the first half takes hours', repeat(500, 10_000), repeat(500, 200)],
])(
  '1: %s: soon after the change, it is never wrong by a factor of five',
  (_name, before, after) => {
    // The first steps of a pace cannot show the next one.
    const later = estimates([...before, ...after]).filter(({ share }) => share >= 0.55);
    expect(later.length).toBeGreaterThan(100);
    expect(Math.max(...later.map(factor))).toBeLessThan(5);
  },
);

test('1: steps of random length, up to a thousand times longer: never wrong by a factor of ten', () => {
  const seed = testSeed();
  const random = seededRandom(seed);
  for (let round = 0; round < 100; round += 1) {
    const steps = Array.from({ length: 1_000 }, () => 10 * 1_000 ** random());
    const settled = estimates(steps).filter(({ share }) => share >= 0.1 && share <= 0.95);
    expect(settled.length).toBeGreaterThan(800);
    expect(Math.max(...settled.map(factor)), `TEST_SEED=${seed}`).toBeLessThan(10);
  }
});

test('2: while nothing is done, the time left grows', () => {
  const samples = [0, 1, 2, 3, 4].map((done) => ({ atMs: done * 1_000, done }));
  const at = (nowMs: number) => timeLeft(samples, { nowMs, total: 8 })?.mostMs ?? 0;
  expect(at(4_000)).toBe(4_000);
  expect(at(40_000)).toBeGreaterThanOrEqual(40_000);
});

test('3: what a resumed task did before does not count', () => {
  const samples = [
    { atMs: 0, done: 9_000 },
    { atMs: 10_000, done: 9_010 },
  ];
  expect(timeLeft(samples, { nowMs: 10_000, total: 10_000 })?.mostMs).toBe(990_000);
});

test('there is no estimate of what has not begun, is done, or has more than was expected', () => {
  expect(timeLeft([], { nowMs: 5, total: 10 })).toBeUndefined();
  expect(timeLeft([{ atMs: 0, done: 3 }], { nowMs: 0, total: 10 })).toBeUndefined();
  const samples = [
    { atMs: 0, done: 3 },
    { atMs: 9, done: 12 },
  ];
  expect(timeLeft(samples, { nowMs: 9, total: 12 })).toBeUndefined();
  expect(timeLeft(samples, { nowMs: 9, total: 10 })).toBeUndefined();
});

test('a task of hours keeps few samples, and the first of them', () => {
  let samples: readonly Sample[] = [];
  for (let done = 0; done < 10_000; done += 1) samples = withSample(samples, { atMs: done, done });
  expect(samples.length).toBeLessThanOrEqual(65);
  expect(samples[0]).toEqual({ atMs: 0, done: 0 });
  expect(samples.at(-1)).toEqual({ atMs: 9_999, done: 9_999 });
});
