import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/platform/time.ts';
import {
  coverageOfDay as coverageOf,
  DAY_RESULTS,
  type DayCoverage,
  lastDays,
  type Stretch,
} from '../../../src/reconcile/domain/coverage.ts';

const DAY = Date.parse('2026-03-02T00:00:00Z');

function coverageOfDay(stretches: readonly Stretch[], dayMs: number): DayCoverage {
  return coverageOf(stretches, { dayMs, isEmpty: false });
}

/** A run over hours of the day. */
function stretch(
  fromHour: number,
  toHour: number,
  counts: Partial<Pick<Stretch, 'rowsCompared' | 'rowsCounted' | 'found' | 'repaired'>> = {
    rowsCompared: 5,
  },
): Stretch {
  return {
    fromMs: DAY + fromHour * HOUR_MS,
    toMs: DAY + toHour * HOUR_MS,
    comparedAtMs: DAY + 30 * HOUR_MS,
    rowsCompared: 0,
    rowsCounted: 0,
    found: 0,
    repaired: 0,
    ...counts,
  };
}

const different = { rowsCompared: 5, found: 2, repaired: 1 };
const repaired = { rowsCompared: 5, found: 2, repaired: 2 };

describe('coverage of a day', () => {
  test('a day that no run touched is not compared', () => {
    expect(coverageOfDay([], DAY)).toEqual({ coverage: 'none' });
    expect(coverageOfDay([stretch(-5, 0), stretch(24, 30)], DAY)).toEqual({ coverage: 'none' });
  });

  test('a day is compared whole only without a gap (rule 2)', () => {
    expect(coverageOfDay([stretch(12, 30), stretch(-2, 12)], DAY)).toMatchObject({
      coverage: 'whole',
      result: 'equal',
      comparedToMs: DAY + DAY_MS,
    });
    expect(coverageOfDay([stretch(13, 30), stretch(-2, 12)], DAY)).toMatchObject({
      coverage: 'part',
      comparedToMs: DAY + 12 * HOUR_MS,
    });
    expect(coverageOfDay([stretch(1, 24)], DAY)).toMatchObject({
      coverage: 'part',
      comparedToMs: DAY,
    });
  });

  test('a difference counts until a later run has compared all of the stretch (rule 1)', () => {
    const older = stretch(0, 24, different);
    expect(coverageOfDay([older], DAY)).toMatchObject({ result: 'different' });
    expect(coverageOfDay([stretch(0, 23), older], DAY)).toMatchObject({ result: 'different' });
    expect(coverageOfDay([stretch(0, 24), older], DAY)).toMatchObject({ result: 'equal' });
    expect(coverageOfDay([stretch(12, 24), stretch(0, 12), older], DAY)).toMatchObject({
      result: 'equal',
    });
    expect(coverageOfDay([stretch(0, 24, repaired), older], DAY)).toMatchObject({
      result: 'repaired',
    });
  });

  test('it was last compared when any of the runs that count for it compared it', () => {
    const comparedAt = (comparedAtMs: number, from: number, to: number) => ({
      ...stretch(from, to),
      comparedAtMs,
    });
    const runs = [comparedAt(7, 0, 8), comparedAt(9, 8, 20), comparedAt(8, 20, 24)];
    expect(coverageOfDay(runs, DAY)).toMatchObject({ comparedAtMs: 9 });
    // A run of which nothing counts, because later ones compared all of it, or because it is of another day.
    const others = [comparedAt(11, 2, 6), comparedAt(12, 24, 30), comparedAt(13, 5, 5)];
    expect(coverageOfDay([...runs, ...others], DAY)).toMatchObject({ comparedAtMs: 9 });
    expect(coverageOfDay([comparedAt(13, 5, 5), ...runs], DAY)).toMatchObject({ comparedAtMs: 9 });
  });

  test('a later difference is not hidden by an earlier run', () => {
    expect(coverageOfDay([stretch(3, 4, different), stretch(0, 24)], DAY)).toMatchObject({
      coverage: 'whole',
      result: 'different',
    });
  });

  test('a day in which neither side has a row is empty, which is less than equal', () => {
    expect(coverageOfDay([stretch(0, 24, {})], DAY)).toMatchObject({ result: 'empty' });
    const without = { ...stretch(0, 24, {}), differingDays: new Set<number>() };
    expect(coverageOfDay([without], DAY)).toMatchObject({ result: 'empty' });
    expect(coverageOfDay([stretch(0, 12, {}), stretch(12, 24)], DAY)).toMatchObject({
      result: 'equal',
    });
  });

  test('a difference counts in the day of its resource, where that is known (rule 4)', () => {
    const next = DAY + DAY_MS;
    const resultOn = (dayMs: number, differingDays: ReadonlySet<number> | undefined) =>
      coverageOfDay([{ ...stretch(0, 48, different), differingDays }], dayMs);
    expect(resultOn(DAY, new Set([next]))).toMatchObject({ result: 'equal' });
    expect(resultOn(next, new Set([next]))).toMatchObject({ result: 'different' });
    expect(resultOn(DAY, undefined)).toMatchObject({ result: 'different' });
  });

  test('a day without resources is empty within a stretch that has rows, unless something differs (rule 5)', () => {
    const resultOf = (counts: Partial<Stretch>) =>
      coverageOf([stretch(0, 48, counts)], { dayMs: DAY, isEmpty: true });
    expect(resultOf({ rowsCompared: 5 })).toMatchObject({ result: 'empty' });
    expect(resultOf(different)).toMatchObject({ result: 'different' });
    expect(resultOf(repaired)).toMatchObject({ result: 'repaired' });
  });

  test('equals what each hour of the day has by its latest run', () => {
    const some = fc.record({
      from: fc.integer({ min: -4, max: 26 }),
      length: fc.integer({ min: 1, max: 30 }),
      counts: fc.constantFrom({}, { rowsCompared: 1 }, different, repaired),
    });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), (runs) => {
        const stretches = runs.map(({ from, length, counts }) =>
          stretch(from, from + length, counts),
        );
        const hours = Array.from({ length: 24 }, (_, hour) =>
          stretches.find(
            ({ fromMs, toMs }) =>
              fromMs <= DAY + hour * HOUR_MS && DAY + (hour + 1) * HOUR_MS <= toMs,
          ),
        );
        const results = hours.map((run) => run && resultOf(run));
        const covered = coverageOfDay(stretches, DAY);
        const missing = results.indexOf(undefined);
        const known = results.filter((result) => result !== undefined);
        if (known.length === 0) {
          expect(covered).toEqual({ coverage: 'none' });
          return;
        }
        const worst = Math.max(...known.map((result) => DAY_RESULTS.indexOf(result)));
        expect(covered).toMatchObject({
          coverage: missing < 0 ? 'whole' : 'part',
          result: DAY_RESULTS[worst],
          comparedToMs: DAY + (missing < 0 ? 24 : missing) * HOUR_MS,
        });
      }),
    );
  });

  test('the last days begin with today in UTC', () => {
    expect(lastDays(DAY + 23 * HOUR_MS, 3)).toEqual([DAY, DAY - DAY_MS, DAY - 2 * DAY_MS]);
  });
});

function resultOf({ rowsCompared, found, repaired: done }: Stretch) {
  if (found > done) return 'different';
  if (found > 0) return 'repaired';
  return rowsCompared > 0 ? 'equal' : 'empty';
}
