import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import { type ListedReach, showsAgain } from '../../../src/reconcile/domain/spans.ts';

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
