/**
 * Windows over the worst list possible: sorted by modification, no tie-break, pages that lack rows, times
 * finer than a tick, and rows that are created and changed between any two requests. Ported from the
 * model by which the rules were chosen.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isWithin,
  judgePage,
  narrow,
  nextWindow,
  type PageFacts,
  rowsWanted,
  type Span,
  widthAfter,
} from '../../../src/reconcile/domain/windows.ts';

const LIMIT = 20;

interface Row {
  readonly id: number;
  readonly createdMs: number;
  modifiedMs: number;
}

interface Service {
  readonly rows: Row[];
  readonly random: () => number;
  readonly envelope: 'total' | 'more' | 'nothing';
  requests: number;
}

interface Shown extends PageFacts {
  readonly ids: readonly number[];
}

function list(service: Service, span: Span, offset = 0): Shown {
  const { rows, random, envelope } = service;
  service.requests += 1;
  const inside = rows
    .filter(({ createdMs }) => createdMs >= span.fromMs && createdMs <= span.toMs)
    .map((row) => ({ row, tie: random() }))
    .sort((a, b) => b.row.modifiedMs - a.row.modifiedMs || a.tie - b.tie);
  const page = inside.slice(offset, offset + LIMIT);
  // A page lacks rows only where its envelope shows that.
  const isShort = envelope === 'total' && random() < 0.2;
  const shown = page.filter((_, place) => !isShort || place === 0 || random() > 0.3);
  for (let n = 0; n < 3; n += 1) {
    const changed = rows[Math.floor(random() * rows.length)];
    if (changed) changed.modifiedMs += random() * 1_000;
  }
  rows.push({ id: rows.length, createdMs: 1e9 + rows.length, modifiedMs: 1e9 });
  return {
    ids: shown.map(({ row }) => row.id),
    rows: shown.length,
    limit: LIMIT,
    totalCount: envelope === 'total' ? inside.length : undefined,
    hasMore: envelope === 'more' ? inside.length > offset + LIMIT : undefined,
  };
}

interface ListedWindow {
  readonly window: Span;
  readonly page: Shown;
  readonly isBurst: boolean;
}

/** Narrows a window until it is complete, or a burst. */
function readWindow(service: Service, window: Span): ListedWindow {
  const page = list(service, window);
  const verdict = judgePage(page);
  const isEnd = verdict === 'probe' && list(service, window, page.rows).rows === 0;
  if (verdict === 'whole' || isEnd) return { window, page, isBurst: false };
  const narrower = narrow(window, page);
  return narrower ? readWindow(service, narrower) : { window, page, isBurst: true };
}

/** Reads a span to its end. @returns the ids that were read, and the bursts */
function readAll(service: Service, span: Span): { seen: Set<number>; bursts: Span[] } {
  const seen = new Set<number>();
  const bursts: Span[] = [];
  let positionMs = span.fromMs;
  let widthMs: number | undefined;
  while (positionMs < span.toMs) {
    const pace = { positionMs, ceilingMs: span.toMs, edgeMs: undefined, widthMs };
    const { window, page, isBurst } = readWindow(service, nextWindow(pace));
    if (isBurst) bursts.push(window);
    else for (const id of page.ids) seen.add(id);
    positionMs = window.toMs;
    widthMs = widthAfter(window, page.rows, LIMIT);
  }
  return { seen, bursts };
}

const services = fc.record({
  seed: fc.integer(),
  times: fc.array(fc.double({ min: 0, max: 20_000, noNaN: true }), { maxLength: 300 }),
  envelope: fc.constantFrom('total' as const, 'more' as const, 'nothing' as const),
});

function serviceOf({
  seed,
  times,
  envelope,
}: typeof services extends fc.Arbitrary<infer T> ? T : never): Service {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
  const rows = times.map((createdMs, id) => ({ id, createdMs, modifiedMs: createdMs }));
  return { rows, random, envelope, requests: 0 };
}

test('no row within the ceiling is missed while the list changes (rules 1 to 4)', () => {
  fc.assert(
    fc.property(services, (given) => {
      const service = serviceOf(given);
      const { seen, bursts } = readAll(service, { fromMs: 0, toMs: 20_000 });
      const missed = given.times
        .map((createdMs, id) => ({ createdMs, id }))
        .filter(({ id }) => !seen.has(id))
        .filter(({ createdMs }) => !bursts.some((burst) => isWithin(burst, createdMs)));
      expect(missed).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('a walk by offset over the same lists misses rows', () => {
  let missed = 0;
  for (let seed = 1; seed <= 20; seed += 1) {
    const times = Array.from({ length: 200 }, (_, n) => n * 100);
    const service = serviceOf({ seed, times, envelope: 'more' });
    const seen = new Set<number>();
    for (let offset = 0; offset < 400; offset += LIMIT) {
      for (const id of list(service, { fromMs: 0, toMs: 20_000 }, offset).ids) seen.add(id);
    }
    missed += times.filter((_, id) => !seen.has(id)).length;
  }
  expect(missed).toBeGreaterThan(0);
});

test('evenly spread rows cost at most 1.4 requests for each page of them', () => {
  const times = Array.from({ length: 4_000 }, (_, n) => n * 5);
  const service = serviceOf({ seed: 1, times, envelope: 'more' });
  readAll(service, { fromMs: 0, toMs: 20_000 });
  expect(service.requests).toBeLessThanOrEqual((1.4 * times.length) / LIMIT + 20);
});

test('a page is complete only if its total, its flag or an empty probe shows that', () => {
  const page = { rows: 20, limit: 20, totalCount: undefined, hasMore: undefined };
  expect(judgePage({ ...page, totalCount: 20 })).toBe('whole');
  expect(judgePage({ ...page, totalCount: 19 })).toBe('whole');
  expect(judgePage({ ...page, rows: 19, totalCount: 19 })).toBe('whole');
  expect(judgePage({ ...page, totalCount: 21 })).toBe('partial');
  expect(judgePage({ ...page, rows: 5, hasMore: true })).toBe('partial');
  expect(judgePage({ ...page, hasMore: false })).toBe('whole');
  expect(judgePage({ ...page, totalCount: 20, hasMore: true })).toBe('partial');
  expect(judgePage(page)).toBe('partial');
  expect(judgePage({ ...page, rows: 19 })).toBe('probe');
  expect(judgePage({ ...page, rows: 0 })).toBe('whole');
});

test('a row at a bound belongs to the window, with one second of tolerance (rule 5)', () => {
  const window = { fromMs: 100_000, toMs: 200_000 };
  const within = (createdMs: number | undefined) => isWithin(window, createdMs);
  expect([99_000, 100_000, 150_000, 200_000, 201_000].map(within)).toEqual(Array(5).fill(true));
  expect([98_999, 201_001, 0, 1e12].map(within)).toEqual(Array(4).fill(false));
  expect(within(undefined)).toBe(true);
});

test('a page with room left below its total is probed, unless its flag shows that there is more (rule 6)', () => {
  const page = { rows: 5, limit: 20, totalCount: 21, hasMore: undefined };
  expect(judgePage(page)).toBe('probe');
  expect(judgePage({ ...page, hasMore: false })).toBe('probe');
  expect(judgePage({ ...page, hasMore: true })).toBe('partial');
});

test('a window should hold four fifths of a page, and a row at least', () => {
  expect([100, 21, 1].map(rowsWanted)).toEqual([80, 16, 1]);
});

describe('the next window (rules 2 and 3)', () => {
  const pace = { positionMs: 100, ceilingMs: 1_000, edgeMs: undefined, widthMs: undefined };
  const endOf = (changed: Partial<Parameters<typeof nextWindow>[0]>): number => {
    const { fromMs, toMs } = nextWindow({ ...pace, ...changed });
    expect(fromMs).toBe(100);
    return toMs;
  };

  test('begins at the position, and ends at the ceiling where nothing suggests a width', () => {
    expect(endOf({})).toBe(1_000);
    expect(endOf({ widthMs: 5_000 })).toBe(1_000);
    expect(endOf({ widthMs: 50 })).toBe(150);
  });

  test('ends where the rows of the ledger suggest, at most four times as wide as the last one does', () => {
    expect(endOf({ edgeMs: 400 })).toBe(400);
    expect(endOf({ edgeMs: 200, widthMs: 50 })).toBe(200);
    expect(endOf({ edgeMs: 400, widthMs: 50 })).toBe(300);
    expect(endOf({ edgeMs: 5_000 })).toBe(1_000);
  });

  test('moves the position (rule 4), and not beyond the ceiling', () => {
    expect(endOf({ edgeMs: 100 })).toBe(101);
    expect(endOf({ edgeMs: 40, widthMs: 0 })).toBe(101);
    expect(endOf({ ceilingMs: 100 })).toBe(100);
  });
});

describe('a window that was not whole is narrowed from its beginning (rules 2 and 4)', () => {
  const page = { rows: 20, limit: 20, totalCount: undefined, hasMore: undefined };
  const widthOf = (widthMs: number, totalCount?: number): number | undefined => {
    const narrower = narrow({ fromMs: 1_000, toMs: 1_000 + widthMs }, { ...page, totalCount });
    if (narrower) expect(narrower.fromMs).toBe(1_000);
    return narrower && narrower.toMs - narrower.fromMs;
  };

  test('to the share of it that a page holds by the total, and otherwise to a half', () => {
    expect(widthOf(1_000, 100)).toBe(160);
    expect(widthOf(1_000, 21)).toBe(761);
    expect(widthOf(1_000, 20)).toBe(500);
    expect(widthOf(1_000)).toBe(500);
  });

  test('to a tick at last, which is not narrowed', () => {
    expect(widthOf(10, 1_000)).toBe(1);
    expect(widthOf(3)).toBe(1);
    expect(widthOf(2)).toBe(1);
    expect(widthOf(1)).toBeUndefined();
    expect(widthOf(0)).toBeUndefined();
  });
});

test('the width that follows is that of a full window at the same density, four times as wide at most', () => {
  const widthFor = (rows: number, widthMs = 100) =>
    widthAfter({ fromMs: 1_000, toMs: 1_000 + widthMs }, rows, LIMIT);
  expect([20, 16, 15, 8, 4, 3, 1, 0].map((rows) => widthFor(rows))).toEqual([
    80, 100, 107, 200, 400, 400, 400, 400,
  ]);
  // A window of one instant counts as a tick.
  expect([16, 8, 1_600].map((rows) => widthFor(rows, 0))).toEqual([1, 2, 1]);
});
