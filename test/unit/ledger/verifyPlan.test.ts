/** The plan of `tallyhook verify`. The numbers are those of src/ledger/domain/verifyPlan.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  continuesFull,
  numberRanges,
  numbersBetween,
  rangesBetween,
  rangesWanted,
  shareOf,
} from '../../../src/ledger/domain/verifyPlan.ts';
import { DAY_MS } from '../../../src/platform/time.ts';

const T0 = Date.UTC(2026, 10, 1, 1, 20);

describe('the ranges of a round (rule 1)', () => {
  test('leave out no key: each begins where the one before it ends, and the ends are open', () => {
    const ranges = rangesBetween(['b', 'm']);
    expect(ranges).toEqual([
      { after: undefined, until: 'b' },
      { after: 'b', until: 'm' },
      { after: 'm', until: undefined },
    ]);
    expect(rangesBetween([])).toEqual([{ after: undefined, until: undefined }]);
  });

  test('contain every number once', () => {
    for (const [after, until, size] of [
      [0, 1, 5],
      [0, 5, 5],
      [3, 17, 5],
      [99, 1_000, 1],
      [0, 10_000_000, 3],
    ] as const) {
      const ranges = numberRanges(after, until, size);
      expect(ranges[0]?.after).toBe(String(after));
      expect(ranges.at(-1)?.until).toBe(String(until));
      for (const [place, range] of ranges.entries()) {
        expect(range.after).toBe(place === 0 ? String(after) : ranges[place - 1]?.until);
        expect(Number(range.until)).toBeGreaterThan(Number(range.after));
      }
      expect(numbersBetween(after, until, size)).toHaveLength(ranges.length - 1);
    }
    expect(numberRanges(5, 5, 10)).toEqual([]);
  });

  test('grow with the ledger, and are at most 2,000', () => {
    expect(rangesWanted(0, 5_000)).toBe(1);
    expect(rangesWanted(5_001, 5_000)).toBe(2);
    expect(rangesWanted(1e9, 5_000)).toBe(2_000);
  });
});

describe('the share of a run (rule 3)', () => {
  const share = (days: number, ranges = 100, fullDays = 30) =>
    shareOf({ ranges, startedMs: T0, nowMs: T0 + days * DAY_MS, fullDays });

  test('runs on as many days as the setting finish the round, regardless of its size', () => {
    for (const [ranges, fullDays] of [
      [3, 30],
      [100, 30],
      [2_000, 7],
      [1, 1],
    ] as const) {
      const shares = Array.from({ length: fullDays }, (_, day) => share(day, ranges, fullDays));
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      expect(shares[0]).toBe(Math.ceil(ranges / fullDays));
      expect(shares.at(-1)).toBe(ranges);
    }
  });

  test('a second run on the same day adds nothing, and days without a run are made up', () => {
    expect(share(0.5)).toBe(share(0));
    expect(share(9)).toBe(34);
    expect(share(400)).toBe(100);
  });

  /** Days on which a run begins, each within an hour of the same time, and how many ranges it checks. */
  const nights = fc.array(
    fc.record({ minutes: fc.integer({ min: -29, max: 29 }), killedAfter: fc.nat(200) }),
    { minLength: 1, maxLength: 40 },
  );

  test('all ranges are checked on the last of `fullDays` days, however often runs are killed before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), nights, (ranges, runs) => {
        const fullDays = runs.length;
        let checked = 0;
        for (const [day, { minutes, killedAfter }] of runs.entries()) {
          const nowMs = T0 + day * DAY_MS + (day === 0 ? 0 : minutes * 60_000);
          const due = shareOf({ ranges, startedMs: T0, nowMs, fullDays }) - checked;
          expect(due).toBeGreaterThanOrEqual(0);
          // What is due in one night is bounded by the nights since a run came to its end.
          expect(due).toBeLessThanOrEqual(Math.ceil((ranges * (day + 1)) / fullDays) - checked);
          checked += day === fullDays - 1 ? due : Math.min(due, killedAfter);
        }
        expect(checked).toBe(ranges);
      }),
    );
  });

  test('a run that begins some minutes earlier than the first one is on the next day', () => {
    expect(share(1 - 10 / 1_440)).toBe(share(1));
  });
});

test('a full run that was interrupted is continued within a day', () => {
  const full = { isFull: true, startedMs: T0 };
  expect(continuesFull(full, T0 + DAY_MS - 1)).toBe(true);
  expect(continuesFull(full, T0 + DAY_MS)).toBe(false);
  expect(continuesFull({ ...full, isFull: false }, T0)).toBe(false);
});
