import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import {
  coversWeek,
  type ListedReach,
  nightSpan,
  showsAgain,
  sliceSpan,
  weekSpan,
} from '../../../src/reconcile/domain/spans.ts';

const NOW_MS = Date.parse('2026-11-21T03:00:00Z');
const NIGHT: ListedReach = { reachMs: 8 * DAY_MS, toMs: NOW_MS - 5 * MINUTE_MS };
const TAIL: ListedReach = { reachMs: 36 * MINUTE_MS, toMs: NOW_MS - MINUTE_MS };

/** The same run, later. */
const later = ({ reachMs, toMs }: ListedReach, byMs: number, delayMs = 0): ListedReach => ({
  reachMs: reachMs + delayMs,
  toMs: toMs + byMs,
});

test('the next run of a schedule shows what the last one found anywhere in its span, delays included', () => {
  expect(showsAgain(later(NIGHT, DAY_MS, -HOUR_MS), NIGHT)).toBe(true);
  expect(showsAgain(later(TAIL, 5 * MINUTE_MS, -5 * MINUTE_MS), TAIL)).toBe(true);
  const slice = { reachMs: 120 * DAY_MS, toMs: NOW_MS - 110 * DAY_MS };
  expect(showsAgain(later(slice, 7 * DAY_MS), slice)).toBe(true);
});

test.each([
  ['three days ago', { reachMs: 3 * DAY_MS, toMs: NOW_MS - 2 * DAY_MS }],
  ['an hour ago', { reachMs: HOUR_MS, toMs: NOW_MS - 40 * MINUTE_MS }],
  ['over all of its span', NIGHT],
])('a tail does not show again what the night found %s, and the next night does', (_, found) => {
  expect(showsAgain(later(TAIL, HOUR_MS), found)).toBe(false);
  expect(showsAgain(later(NIGHT, DAY_MS), found)).toBe(true);
});

test('a span that ends before a window does not show it again, however far it reaches back', () => {
  const old = { reachMs: 120 * DAY_MS, toMs: NOW_MS - 4 * DAY_MS };
  const found = { reachMs: 3 * DAY_MS, toMs: NOW_MS - 2 * DAY_MS };
  expect(showsAgain(old, found)).toBe(false);
  expect(showsAgain({ ...old, toMs: found.toMs }, found)).toBe(true);
});

test('the night covers eight days and the week 120, up to five minutes ago; a slice has the oldest ten days', () => {
  const toMs = NOW_MS - 5 * MINUTE_MS;
  expect(nightSpan(NOW_MS)).toEqual({ fromMs: NOW_MS - 8 * DAY_MS, toMs });
  expect(weekSpan(NOW_MS)).toEqual({ fromMs: NOW_MS - 120 * DAY_MS, toMs });
  expect(sliceSpan(NOW_MS)).toEqual({
    fromMs: NOW_MS - 120 * DAY_MS,
    toMs: NOW_MS - 110 * DAY_MS,
  });
});

test('a span covers the week also if only its last day is missing', () => {
  const week = weekSpan(NOW_MS);
  expect(coversWeek(week, NOW_MS)).toBe(true);
  expect(coversWeek(week, NOW_MS + DAY_MS)).toBe(true);
  expect(coversWeek(week, NOW_MS + DAY_MS + 1)).toBe(false);
  expect(coversWeek({ ...week, fromMs: week.fromMs + 1 }, NOW_MS)).toBe(false);
});

test('what a run shows again begins an eighth of the reach later at most, and never less than ten minutes', () => {
  const found = { reachMs: 8 * DAY_MS, toMs: NOW_MS };
  expect(showsAgain({ ...found, reachMs: 7 * DAY_MS }, found)).toBe(true);
  expect(showsAgain({ ...found, reachMs: 7 * DAY_MS - 1 }, found)).toBe(false);
  const recent = { reachMs: 20 * MINUTE_MS, toMs: NOW_MS };
  expect(showsAgain({ ...recent, reachMs: 10 * MINUTE_MS }, recent)).toBe(true);
  expect(showsAgain({ ...recent, reachMs: 10 * MINUTE_MS - 1 }, recent)).toBe(false);
});
