import { describe, expect, test } from 'vitest';
import { mergeScans, type Place, type Scan } from '../../../src/ledger/domain/listPage.ts';
import { seededRandom, testSeed } from '../../support/random.ts';

const seed = testSeed();

interface Row extends Place {
  readonly matches: boolean;
}

const newestFirst = (a: Place, b: Place) =>
  b.atMicros - a.atMicros || Number(a.id < b.id) - Number(a.id > b.id);
const isAfter = (row: Place, place: Place | undefined) =>
  place === undefined || newestFirst(place, row) < 0;

/** What a statement returns that searches at most `searched` rows of a source. */
function scanOf(
  source: readonly Row[],
  after: Place | undefined,
  { limit, searched }: { readonly limit: number; readonly searched: number },
): Scan<Row> {
  const window = source.filter((row) => isAfter(row, after)).slice(0, searched);
  const rows = window.filter(({ matches }) => matches).slice(0, limit + 1);
  return { rows, end: rows.length > limit ? undefined : window[searched - 1] };
}

describe(`pages of several sources (seed ${seed})`, () => {
  test('have every match once, newest first, however few rows a statement searches', () => {
    const random = seededRandom(seed);
    for (let round = 0; round < 300; round += 1) {
      const sources = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, source) =>
        Array.from({ length: Math.floor(random() * 30) }, (_row, n) => ({
          atMicros: Math.floor(random() * 10),
          id: `${source}_${n}`,
          matches: random() < 0.4,
        })).toSorted(newestFirst),
      );
      const bounds = {
        limit: 1 + Math.floor(random() * 5),
        searched: 1 + Math.floor(random() * 6),
      };
      const found: Row[] = [];
      let after: Place | undefined;
      do {
        const scans = sources.map((source) => scanOf(source, after, bounds));
        const { rows, next } = mergeScans(scans, bounds.limit);
        expect(rows.length).toBeLessThanOrEqual(bounds.limit);
        found.push(...rows);
        expect(next === undefined || isAfter(next, after)).toBe(true);
        after = next;
      } while (after !== undefined);
      const all = sources.flat().filter(({ matches }) => matches);
      expect(found, `round ${round}`).toEqual(all.toSorted(newestFirst));
    }
  });
});
