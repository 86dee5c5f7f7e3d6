import { describe, expect, test } from 'vitest';
import {
  areEqual,
  calibrationDay,
  closedDays,
  type Days,
  halve,
  judgeDay,
  MAY_CAPTURE_MORE,
  readSums,
  sumsOf,
  withoutPart,
} from '../../../src/reconcile/domain/sums.ts';

const METRIC = 'payment_processed_amount';
const at = (time: string): number => Date.parse(time);
const days = (from: string, end: string): Days => ({ fromMs: at(from), endMs: at(end) });
const sums = (amounts: Record<string, number>) =>
  sumsOf(Object.entries(amounts).map(([currency, sum]) => [currency, BigInt(sum)]));

describe('the closed days of a span', () => {
  test.each([
    ['begin and end with whole days', '2026-03-01T10:00Z', '2026-03-08T10:00Z', '2026-03-07'],
    ['end a day before the span', '2026-03-01T10:00Z', '2026-03-08T00:00Z', '2026-03-07'],
    [
      'end a day before it, to the tick',
      '2026-03-01T10:00Z',
      '2026-03-07T23:59:59.999Z',
      '2026-03-06',
    ],
  ])('%s', (_, from, to, end) => {
    const span = { fromMs: at(from), toMs: at(to) };
    expect(closedDays(span)).toEqual(days('2026-03-02', end));
    expect(calibrationDay(span)).toEqual({ fromMs: at(end) - 86_400_000, endMs: at(end) });
  });

  test.each([
    ['half an hour', '2026-03-08T09:30Z', '2026-03-08T10:00Z'],
    ['a day that is not whole', '2026-03-05T00:01Z', '2026-03-07T10:00Z'],
    ['a day that has just ended', '2026-03-07T00:00Z', '2026-03-08T10:00Z'],
  ])('are none in %s', (_, from, to) => {
    const span = { fromMs: at(from), toMs: at(to) };
    expect(closedDays(span)).toBeUndefined();
    expect(calibrationDay(span)).toBeUndefined();
  });

  test('are halved to single days, with none lost and none twice (rule 3)', () => {
    const leaves = (whole: Days): readonly Days[] => halve(whole)?.flatMap(leaves) ?? [whole];
    const found = leaves(days('2026-03-01', '2026-03-14'));
    const starts = Array.from({ length: 13 }, (_, n) => at('2026-03-01') + n * 86_400_000);
    expect(found).toEqual(starts.map((fromMs) => ({ fromMs, endMs: fromMs + 86_400_000 })));
  });
});

describe('a response of analytics', () => {
  test.each([
    [
      'rows by currency',
      [
        { currency: 'USD', [METRIC]: 5 },
        { currency: 'EUR', [METRIC]: 7 },
      ],
      { USD: 5, EUR: 7 },
    ],
    ['rows with more fields', [{ currency: 'USD', [METRIC]: 5, time_range: {} }], { USD: 5 }],
    ['a row of nothing', [{ currency: 'USD', [METRIC]: 0 }], {}],
    ['no row', [], {}],
  ])('is read from %s', (_, rows, expected) => {
    expect(readSums(rows, METRIC)).toEqual(sums(expected));
  });

  test.each([
    ['a row without a currency', [{ [METRIC]: 5 }]],
    ['a row without the sum', [{ currency: 'USD' }]],
    ['a sum as text', [{ currency: 'USD', [METRIC]: '5' }]],
    ['a sum in major units', [{ currency: 'USD', [METRIC]: 5.5 }]],
    ['a sum that is not exact', [{ currency: 'USD', [METRIC]: 2 ** 53 }]],
    [
      'a currency twice',
      [
        { currency: 'USD', [METRIC]: 5 },
        { currency: 'USD', [METRIC]: 5 },
      ],
    ],
  ])('is none that can be used with %s', (_, rows) => {
    expect(readSums(rows, METRIC)).toBeUndefined();
  });
});

test.each([
  ['the same', { USD: 5, EUR: 7 }, { EUR: 7, USD: 5 }, 'agreed'],
  ['nothing and a 0', {}, { USD: 0 }, 'nothing'],
  ['money where we have none', {}, { USD: 5 }, 'disproved'],
  ['another amount', { USD: 5, EUR: 7 }, { USD: 5, EUR: 8 }, 'disproved'],
  ['a currency more', { USD: 5 }, { USD: 5, EUR: 8 }, 'disproved'],
  ['nothing where we have money', { USD: 5 }, {}, 'disproved'],
  ['amounts swapped between currencies', { USD: 5, EUR: 7 }, { USD: 7, EUR: 5 }, 'disproved'],
] as const)('beside ours, over an equal day, %s: %j and %j are %s', (_, ours, theirs, verdict) => {
  expect(judgeDay(sums(ours), sums(theirs))).toBe(verdict);
});

test('the right half is what the left one leaves, in every currency', () => {
  const rest = withoutPart(sums({ USD: 9, EUR: 7, JPY: 3 }), sums({ USD: 4, EUR: 7, GBP: 1 }));
  expect(areEqual(rest, sums({ USD: 5, JPY: 3, GBP: -1 }))).toBe(true);
});

test('more may have been captured under each status with a partial capture or an open review (rule 4)', () => {
  expect(MAY_CAPTURE_MORE).toEqual([
    'partially_captured_and_processing',
    'partially_captured_and_capturable',
    'conflicted',
    'review',
  ]);
});
