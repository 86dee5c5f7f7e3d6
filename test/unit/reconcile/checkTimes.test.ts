import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import {
  type CheckedResource,
  isLateCheck,
  isSettled,
  lastChangedMs,
  nextCheckMs,
  staysUncertain,
} from '../../../src/reconcile/domain/checkTimes.ts';

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

test.each(['isContradicted', 'isAwaitingConfirmation'] as const)(
  'what is %s is checked again after a minute, also a final payment (rule 3)',
  (reason) => {
    for (const status of ['processing', 'succeeded']) {
      const next = nextCheckMs({ ...processing, status, [reason]: true }, CHANGED + DAY_MS);
      expect(next).toBe(CHANGED + DAY_MS + 61_000);
    }
  },
);

test('a late check is left out only if it is less than 30 seconds away (rules 2 and 5)', () => {
  const refund = { ...processing, kind: 'refund', status: 'succeeded' } as const;
  expect(nextCheckMs(refund, CHANGED + DAY_MS - 30_000)).toBe(CHANGED + DAY_MS);
  expect(nextCheckMs(refund, CHANGED + DAY_MS - 29_999)).toBe(CHANGED + 7 * DAY_MS);
});

test('a check that is 30 seconds away is not left out (rules 1 and 5)', () => {
  expect(nextCheckMs(processing, CHANGED + 90_000)).toBe(CHANGED + 2 * MINUTE_MS);
  expect(nextCheckMs(processing, CHANGED + 90_001)).toBe(CHANGED + 7 * MINUTE_MS);
});

test('a change in the future, by a wrong clock, counts as one of now', () => {
  const ahead = { ...processing, changedMs: CHANGED + 400 * DAY_MS };
  expect(nextCheckMs(ahead, CHANGED)).toBe(CHANGED + 2 * MINUTE_MS);
});

test('only what is final and has nothing to confirm is settled (rule 2)', () => {
  const final = { ...processing, status: 'succeeded' };
  expect(isSettled(final)).toBe(true);
  expect(isSettled(processing)).toBe(false);
  expect(isSettled({ ...final, status: null })).toBe(false);
  expect(isSettled({ ...final, isUncertain: true })).toBe(false);
  expect(isSettled({ ...final, isContradicted: true })).toBe(false);
  expect(isSettled({ ...final, isAwaitingConfirmation: true })).toBe(false);
});

test('a late check is one a day after the change, or later (rule 2)', () => {
  expect(isLateCheck(processing, CHANGED + DAY_MS - 1)).toBe(false);
  expect(isLateCheck(processing, CHANGED + DAY_MS)).toBe(true);
});

test('a resource last changed by its version, or when it was first observed without one', () => {
  const firstSeenAt = new Date(CHANGED);
  expect(lastChangedMs({ versionMicros: 5_000_000, firstSeenAt })).toBe(5_000);
  expect(lastChangedMs({ versionMicros: null, firstSeenAt })).toBe(CHANGED);
});

describe('after a retrieve', () => {
  const WEEK_MS = 7 * DAY_MS;
  const isUncertain = (uncertainties: readonly string[], retrievedStatus?: string, ageMs = 0) =>
    staysUncertain(uncertainties, { ledgerStatus: 'succeeded', retrievedStatus, ageMs });

  test('with the status of the ledger, a capture without an amount is settled, and with another it is not', () => {
    expect(isUncertain(['unstated_capture'], 'succeeded')).toBe(false);
    expect(isUncertain(['unstated_capture'], 'processing')).toBe(true);
    expect(isUncertain(['unstated_capture'])).toBe(true);
    expect(isUncertain([], 'processing')).toBe(false);
  });

  test('an assumed amount is settled a week after the last change, and nothing else is', () => {
    expect(isUncertain(['provisional_amount'], 'succeeded', WEEK_MS - 1)).toBe(true);
    expect(isUncertain(['provisional_amount'], 'succeeded', WEEK_MS)).toBe(false);
    expect(isUncertain(['unstated_capture', 'provisional_amount'], 'succeeded', WEEK_MS)).toBe(
      false,
    );
    expect(isUncertain(['unstated_capture', 'unknown_status'], 'succeeded', WEEK_MS)).toBe(true);
  });
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
