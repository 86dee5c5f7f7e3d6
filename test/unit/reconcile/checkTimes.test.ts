import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CheckedResource, nextCheckMs } from '../../../src/reconcile/domain/checkTimes.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CHANGED = Date.UTC(2026, 10, 1);

const processing: CheckedResource = {
  kind: 'payment',
  status: 'processing',
  isContradicted: false,
  isDoubtful: false,
  isAwaitingConfirmation: false,
  changedMs: CHANGED,
};

/** The ages at which something is looked at, when each look is made on time and changes nothing. */
function agesOfLooks(resource: CheckedResource, looks: number): readonly (number | undefined)[] {
  const ages: (number | undefined)[] = [];
  let nowMs = CHANGED;
  for (let look = 0; look < looks; look += 1) {
    const next = nextCheckMs(resource, nowMs);
    ages.push(next === undefined ? undefined : next - CHANGED);
    if (next === undefined) break;
    nowMs = next;
  }
  return ages;
}

test('what is not final is looked at after 2, 5 and 15 minutes, 1 and 6 hours, then daily (rule 1)', () => {
  const last = 6 * HOUR + 82 * MINUTE;
  expect(agesOfLooks(processing, 7)).toEqual([
    2 * MINUTE,
    7 * MINUTE,
    22 * MINUTE,
    82 * MINUTE,
    last,
    last + DAY,
    last + 2 * DAY,
  ]);
});

test('what is final is looked at after a day and a week, payments are left to the list (rule 2)', () => {
  const refund = { ...processing, kind: 'refund', status: 'succeeded' } as const;
  expect(agesOfLooks(refund, 9)).toEqual([DAY, 7 * DAY, undefined]);
  expect(nextCheckMs({ ...processing, status: 'succeeded' }, CHANGED)).toBeUndefined();
});

test('a contradiction is looked at again after a minute (rule 3)', () => {
  const next = nextCheckMs({ ...processing, isContradicted: true }, CHANGED + DAY);
  expect(next).toBe(CHANGED + DAY + 61_000);
});

test('whatever the clocks say, a look comes later than now and within a day and a bit (rules 1, 5)', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -30 * DAY, max: 400 * DAY }),
      fc.boolean(),
      fc.constantFrom(null, 'processing', 'a_word_of_tomorrow'),
      (ageMs, isDoubtful, status) => {
        const nowMs = CHANGED + ageMs;
        const next = nextCheckMs({ ...processing, isDoubtful, status }, nowMs);
        expect(next).toBeGreaterThanOrEqual(nowMs + 30_000);
        expect(next).toBeLessThanOrEqual(nowMs + DAY + 30_000);
      },
    ),
  );
});
