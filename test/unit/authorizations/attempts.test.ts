/** Numbers are the rules of src/authorizations/domain/attempts.ts. */
import { describe, expect, test } from 'vitest';
import {
  type Attempt,
  isInProgress,
  policyStep,
  toAttempt,
} from '../../../src/authorizations/domain/attempts.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';

const DEADLINE = Date.UTC(2026, 10, 28);
const START = DEADLINE - 6 * HOUR_MS;
const policy = { action: 'capture', hours: 6 } as const;

const LAST: Attempt = {
  number: 1,
  numberOnHold: 1,
  action: 'capture',
  atMs: START,
  outcome: 'failed',
  reason: undefined,
  capturableMinor: 100,
};

function stepAt(nowMs: number, last?: Partial<Attempt>, capturableMinor = 100) {
  const situation = { policy, deadlineMs: DEADLINE, capturableMinor };
  return policyStep({ ...situation, last: last && { ...LAST, ...last } }, nowMs);
}

test('the first attempt is made from the threshold on, and none from the deadline on (rule 1)', () => {
  expect(stepAt(START - 1)).toEqual({ step: 'none' });
  expect(stepAt(START)).toEqual({ step: 'try', number: 1 });
  expect(stepAt(DEADLINE - 1)).toEqual({ step: 'try', number: 1 });
  expect(stepAt(DEADLINE)).toEqual({ step: 'none' });
  const none = { policy: undefined, deadlineMs: DEADLINE, capturableMinor: 100, last: undefined };
  expect(policyStep(none, START)).toEqual({ step: 'none' });
});

describe('after a failed attempt (rule 2)', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [5, 15],
    [6, 15],
    [40, 15],
  ])('number %i, the next follows %i minutes later', (number, minutes) => {
    const dueMs = START + minutes * MINUTE_MS;
    const last = { number, numberOnHold: number };
    expect(stepAt(dueMs - 1, last)).toEqual({ step: 'wait', untilMs: dueMs });
    expect(stepAt(dueMs, last)).toEqual({ step: 'try', number: number + 1 });
    // Attempts on an earlier hold count for the number of an attempt, and not for its wait (rule 5).
    expect(stepAt(dueMs, { ...last, number: number + 7 })).toEqual({
      step: 'try',
      number: number + 8,
    });
  });

  test('none follows at or after the deadline', () => {
    const late = { atMs: DEADLINE - MINUTE_MS };
    expect(stepAt(DEADLINE - 1, late)).toEqual({ step: 'none' });
    expect(stepAt(DEADLINE - 1, { atMs: late.atMs - 1 })).toMatchObject({ step: 'try' });
  });
});

describe('after an attempt of unknown outcome (rule 3)', () => {
  const unknown = { outcome: 'unknown' } as const;
  const dueMs = START + 10 * MINUTE_MS;

  test('another follows ten minutes later while the same amount can be captured', () => {
    expect(stepAt(dueMs - 1, unknown)).toEqual({ step: 'wait', untilMs: dueMs });
    expect(stepAt(dueMs, unknown)).toEqual({ step: 'try', number: 2 });
  });

  test.each([0, 40, 99, 101])('none follows if a different amount can be captured: %i', (left) => {
    expect(stepAt(dueMs, unknown, left)).toEqual({ step: 'none' });
  });
});

test('for ten minutes an attempt without an outcome may be in progress, by any clock (rule 3)', () => {
  const isAt = (nowMs: number, outcome: string | null = null) =>
    isInProgress({ ...LAST, outcome }, nowMs);
  expect(isAt(START + 10 * MINUTE_MS - 1)).toBe(true);
  expect(isAt(START + 10 * MINUTE_MS)).toBe(false);
  expect(isAt(START - 10 * MINUTE_MS + 1)).toBe(true);
  expect(isAt(START - 10 * MINUTE_MS)).toBe(false);
  expect(isAt(START, 'unknown')).toBe(false);
});

test.each(['done', 'refused'] as const)(
  'none follows an attempt that is %s (rule 4)',
  (outcome) => {
    expect(stepAt(DEADLINE - 1, { outcome })).toEqual({ step: 'none' });
  },
);

test.each(['done', 'refused', 'failed', 'unknown'] as const)(
  'ten minutes after an attempt on an earlier hold that is %s, one on the new hold may follow (rule 5)',
  (outcome) => {
    const earlier = { outcome, number: 3, numberOnHold: 0 };
    const dueMs = START + 10 * MINUTE_MS;
    expect(stepAt(dueMs - 1, earlier, 250)).toEqual({ step: 'wait', untilMs: dueMs });
    expect(stepAt(dueMs, earlier, 250)).toEqual({ step: 'try', number: 4 });
  },
);

test.each([
  ['done', 'done', undefined],
  ['failed: HTTP 503: try later', 'failed', 'HTTP 503: try later'],
  ['refused: HTTP 400', 'refused', 'HTTP 400'],
  // The process ended before it could write the outcome, or a later version wrote it.
  [null, 'unknown', undefined],
  ['postponed: until tomorrow', 'unknown', 'until tomorrow'],
])('an outcome stored as %j is %s', (outcome, read, reason) => {
  expect(toAttempt({ ...LAST, outcome })).toMatchObject({ outcome: read, reason });
});
