import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import { type CheckedResource, nextCheckMs } from '../../../src/reconcile/domain/checkTimes.ts';

const CHANGED = Date.UTC(2026, 10, 1);

const processing: CheckedResource = {
  kind: 'payment',
  status: 'processing',
  isContradicted: false,
  isUncertain: false,
  isAwaitingConfirmation: false,
  changedMs: CHANGED,
};

/** The ages at which a resource is checked, when each check is on time and changes nothing. */
function agesOfChecks(resource: CheckedResource, checks: number): readonly (number | undefined)[] {
  const ages: (number | undefined)[] = [];
  let nowMs = CHANGED;
  for (let check = 0; check < checks; check += 1) {
    const next = nextCheckMs(resource, nowMs);
    ages.push(next === undefined ? undefined : next - CHANGED);
    if (next === undefined) break;
    nowMs = next;
  }
  return ages;
}

test('what is not final is checked after 2, 5 and 15 minutes, 1 and 6 hours, then daily (rule 1)', () => {
  const last = 6 * HOUR_MS + 82 * MINUTE_MS;
  expect(agesOfChecks(processing, 7)).toEqual([
    2 * MINUTE_MS,
    7 * MINUTE_MS,
    22 * MINUTE_MS,
    82 * MINUTE_MS,
    last,
    last + DAY_MS,
    last + 2 * DAY_MS,
  ]);
});

test('what is final is checked after a day and a week, payments are left to the list (rule 2)', () => {
  const refund = { ...processing, kind: 'refund', status: 'succeeded' } as const;
  expect(agesOfChecks(refund, 9)).toEqual([DAY_MS, 7 * DAY_MS, undefined]);
  expect(nextCheckMs({ ...processing, status: 'succeeded' }, CHANGED)).toBeUndefined();
});

test('a contradiction is checked again after a minute (rule 3)', () => {
  const next = nextCheckMs({ ...processing, isContradicted: true }, CHANGED + DAY_MS);
  expect(next).toBe(CHANGED + DAY_MS + 61_000);
});

test('at any clock, a check comes later than now and within little more than a day (rules 1, 5)', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -30 * DAY_MS, max: 400 * DAY_MS }),
      fc.boolean(),
      fc.constantFrom(null, 'processing', 'a_word_of_tomorrow'),
      (ageMs, isUncertain, status) => {
        const nowMs = CHANGED + ageMs;
        const next = nextCheckMs({ ...processing, isUncertain, status }, nowMs);
        expect(next).toBeGreaterThanOrEqual(nowMs + 30_000);
        expect(next).toBeLessThanOrEqual(nowMs + DAY_MS + 30_000);
      },
    ),
  );
});
