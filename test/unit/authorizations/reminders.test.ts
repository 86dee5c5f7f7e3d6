/** Numbers are the rules of src/authorizations/domain/reminders.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capturableMinor } from '../../../src/authorizations/domain/capturable.ts';
import {
  deadlineOf,
  decideReminder,
  policyActs,
  type Reminder,
} from '../../../src/authorizations/domain/reminders.ts';
import { DAY_MS, HOUR_MS } from '../../../src/platform/time.ts';

const WEEK_MS = 7 * DAY_MS;
const T0 = Date.UTC(2026, 0, 1);

const instant = fc.integer({ min: T0, max: T0 + 30 * DAY_MS });
const maybe = (arbitrary: fc.Arbitrary<number>) => fc.option(arbitrary, { nil: undefined });
const times = fc.record({
  authorizedMs: maybe(instant),
  createdMs: maybe(instant),
  firstSeenMs: instant,
  captureBeforeMs: maybe(instant),
});
const thresholds = fc.uniqueArray(fc.integer({ min: 1, max: 160 }), { maxLength: 6 });

describe('the deadline', () => {
  test('is start + 7 days, or capture_before if that is earlier (rule 1)', () => {
    fc.assert(
      fc.property(times, (known) => {
        const { startMs, deadlineMs } = deadlineOf(known);
        expect(deadlineMs).toBeLessThanOrEqual(startMs + WEEK_MS);
        if (known.captureBeforeMs !== undefined) {
          expect(deadlineMs).toBeLessThanOrEqual(known.captureBeforeMs);
        }
        expect([startMs + WEEK_MS, known.captureBeforeMs]).toContain(deadlineMs);
      }),
    );
  });

  test('starts with the authorization event, never before the payment was created (rule 2)', () => {
    fc.assert(
      fc.property(times, (known) => {
        const { startMs } = deadlineOf(known);
        const { authorizedMs, createdMs, firstSeenMs } = known;
        if (createdMs !== undefined) expect(startMs).toBeGreaterThanOrEqual(createdMs);
        if (authorizedMs !== undefined && authorizedMs >= (createdMs ?? 0)) {
          expect(startMs).toBe(authorizedMs);
        }
        if (authorizedMs === undefined) expect(startMs).toBe(createdMs ?? firstSeenMs);
      }),
    );
  });
});

/** Decides at the given instants, as the check does, and collects the reminders. */
function remindersAt(checks: readonly number[], deadlineMs: number, hours: readonly number[]) {
  let latest: Reminder | undefined;
  const sent: { readonly hours: number; readonly atMs: number }[] = [];
  for (const nowMs of checks) {
    const decision = decideReminder({ deadlineMs, latest, thresholds: hours }, nowMs);
    if (decision.dueHours !== undefined) sent.push({ hours: decision.dueHours, atMs: nowMs });
    latest = decision.latest;
  }
  return sent;
}

describe('thresholds', () => {
  test('each has one reminder when every check runs on time (rules 3 and 4)', () => {
    fc.assert(
      fc.property(thresholds, (hours) => {
        const deadlineMs = T0 + WEEK_MS;
        const checks: number[] = [];
        let nowMs = T0;
        let latest: Reminder | undefined;
        const sent: number[] = [];
        while (nowMs < deadlineMs + 3 * DAY_MS) {
          checks.push(nowMs);
          const decision = decideReminder({ deadlineMs, latest, thresholds: hours }, nowMs);
          if (decision.dueHours !== undefined) sent.push(decision.dueHours);
          latest = decision.latest;
          expect(decision.nextCheckMs).toBeGreaterThan(nowMs);
          nowMs = decision.nextCheckMs;
        }
        expect(sent).toEqual([...hours.toSorted((a, b) => b - a), 0]);
        // After the deadline the checks continue, a day apart (rule 6).
        expect(checks.filter((atMs) => atMs >= deadlineMs)).toHaveLength(3);
      }),
    );
  });

  test('none has two reminders or an early one at any times of checks, and reminders approach the deadline (rules 3 and 4)', () => {
    fc.assert(
      fc.property(fc.array(instant, { maxLength: 40 }), thresholds, (instants, hours) => {
        const deadlineMs = T0 + 20 * DAY_MS;
        const checks = instants.toSorted((a, b) => a - b);
        const sent = remindersAt([...checks, ...checks.slice(-1)], deadlineMs, hours);
        const sentHours = sent.map((one) => one.hours);
        expect(sentHours).toEqual([...new Set(sentHours)].sort((a, b) => b - a));
        for (const { hours: threshold, atMs } of sent) {
          expect(atMs).toBeGreaterThanOrEqual(deadlineMs - threshold * HOUR_MS);
          // The nearest one that was reached, not an older one.
          const nearer = [...hours, 0].filter((one) => one < threshold);
          for (const one of nearer) expect(atMs).toBeLessThan(deadlineMs - one * HOUR_MS);
        }
      }),
    );
  });

  test('a threshold is reached exactly at its instant, and so is the deadline (rule 3)', () => {
    const deadlineMs = T0 + WEEK_MS;
    const dueAt = (nowMs: number) =>
      decideReminder({ deadlineMs, latest: undefined, thresholds: [48, 6] }, nowMs).dueHours;
    for (const [hours, before] of [
      [48, undefined],
      [6, 48],
      [0, 6],
    ] as const) {
      const instantMs = deadlineMs - hours * HOUR_MS;
      expect(dueAt(instantMs - 1), `just before ${hours} h`).toBe(before);
      expect(dueAt(instantMs), `at ${hours} h`).toBe(hours);
    }
  });

  test('the order in which they are configured does not matter', () => {
    fc.assert(
      fc.property(thresholds, instant, (hours, nowMs) => {
        const decideFor = (list: readonly number[]) =>
          decideReminder(
            { deadlineMs: T0 + 20 * DAY_MS, latest: undefined, thresholds: list },
            nowMs,
          );
        expect(decideFor(hours.toReversed())).toEqual(decideFor([...hours, ...hours]));
      }),
    );
  });

  test('a deadline that moved by less than an hour repeats no reminder; one that moved further starts over (rule 5)', () => {
    const deadlineMs = T0 + WEEK_MS;
    const nowMs = deadlineMs - 5 * HOUR_MS;
    const latest = { hours: 6, deadlineMs };
    const decideAfter = (movedMs: number) =>
      decideReminder(
        { deadlineMs: deadlineMs + movedMs, latest, thresholds: [48, 24, 6, 1] },
        nowMs,
      );
    expect(decideAfter(HOUR_MS - 1)).toMatchObject({ dueHours: undefined, latest });
    expect(decideAfter(-(HOUR_MS - 1))).toMatchObject({ dueHours: undefined, latest });
    expect(decideAfter(-2 * HOUR_MS)).toMatchObject({ dueHours: 6 });
    expect(decideAfter(20 * HOUR_MS)).toMatchObject({ dueHours: 48 });
    expect(decideAfter(WEEK_MS)).toMatchObject({ dueHours: undefined, latest: undefined });
  });
});

test('a policy acts from its threshold to the deadline, and not before or after', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer(), (hours, offsetMs) => {
      const deadlineMs = T0 + WEEK_MS;
      const acts = policyActs({ action: 'capture', hours }, deadlineMs, deadlineMs + offsetMs);
      expect(acts).toBe(offsetMs < 0 && offsetMs >= -hours * HOUR_MS);
    }),
  );
});

test('a policy acts at its threshold, and no longer at the deadline', () => {
  const deadlineMs = T0 + WEEK_MS;
  const acts = (nowMs: number) => policyActs({ action: 'capture', hours: 6 }, deadlineMs, nowMs);
  const thresholdMs = deadlineMs - 6 * HOUR_MS;
  expect([thresholdMs - 1, thresholdMs, deadlineMs - 1, deadlineMs].map(acts)).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('only a hold that is open and not fully captured can be captured', () => {
  const hold = { status: 'requires_capture', authorizedMinor: 1000, capturedMinor: 0 };
  expect(capturableMinor(hold)).toBe(1000);
  expect(capturableMinor({ ...hold, capturedMinor: 400 })).toBe(600);
  expect(capturableMinor({ ...hold, capturedMinor: 1000 })).toBe(0);
  for (const status of ['succeeded', 'cancelled', 'expired', 'processing', 'partially_captured']) {
    expect(capturableMinor({ ...hold, status }), status).toBe(0);
  }
  expect(capturableMinor({ ...hold, status: null })).toBe(0);
});

test.each([
  ['less than an hour', HOUR_MS - 1, undefined],
  ['an hour', HOUR_MS, 6],
])(
  'whether a deadline that moved by %s has its reminders again (rule 5)',
  (_, movedMs, dueHours) => {
    const deadlineMs = T0 + WEEK_MS;
    const latest = { hours: 6, deadlineMs };
    for (const moved of [deadlineMs + movedMs, deadlineMs - movedMs]) {
      const situation = { deadlineMs: moved, latest, thresholds: [6] };
      expect(decideReminder(situation, moved - 6 * HOUR_MS).dueHours).toBe(dueHours);
    }
  },
);
