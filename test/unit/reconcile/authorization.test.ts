/** Rules are those of src/authorizations/domain/authorization.ts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DEFAULT_THRESHOLD_HOURS,
  deadlineOf,
  decide,
  policyActs,
  type Said,
} from '../../../src/authorizations/domain/authorization.ts';
import { capturableMinor } from '../../../src/authorizations/domain/capturable.ts';
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
  test('is start + 7 days, or capture_before where that is smaller (rule 1)', () => {
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

/** Looks at the instants given, as the check does, and collects what is spoken. */
function live(looks: readonly number[], deadlineMs: number, hours: readonly number[]) {
  let said: Said | undefined;
  const spoken: { readonly hours: number; readonly atMs: number }[] = [];
  for (const nowMs of looks) {
    const decision = decide({ deadlineMs, said, thresholds: hours }, nowMs);
    if (decision.speak !== undefined) spoken.push({ hours: decision.speak, atMs: nowMs });
    said = decision.said;
  }
  return { spoken, said };
}

describe('thresholds', () => {
  test('each is spoken of once when it is looked at whenever a look is due (rules 3 and 4)', () => {
    fc.assert(
      fc.property(thresholds, (hours) => {
        const deadlineMs = T0 + WEEK_MS;
        const looks: number[] = [];
        let nowMs = T0;
        let said: Said | undefined;
        const spoken: number[] = [];
        while (nowMs < deadlineMs + 3 * DAY_MS) {
          looks.push(nowMs);
          const decision = decide({ deadlineMs, said, thresholds: hours }, nowMs);
          if (decision.speak !== undefined) spoken.push(decision.speak);
          said = decision.said;
          expect(decision.nextLookMs).toBeGreaterThan(nowMs);
          nowMs = decision.nextLookMs;
        }
        expect(spoken).toEqual([...hours.toSorted((a, b) => b - a), 0]);
        // Past the deadline the looks go on, a day apart (rule 6).
        expect(looks.filter((look) => look >= deadlineMs)).toHaveLength(3);
      }),
    );
  });

  test('none is spoken of twice or before its time, whenever the looks are, and what is said grows nearer (rules 3 and 4)', () => {
    fc.assert(
      fc.property(fc.array(instant, { maxLength: 40 }), thresholds, (instants, hours) => {
        const deadlineMs = T0 + 20 * DAY_MS;
        const looks = instants.toSorted((a, b) => a - b);
        const { spoken } = live([...looks, ...looks.slice(-1)], deadlineMs, hours);
        const saidHours = spoken.map((one) => one.hours);
        expect(saidHours).toEqual([...new Set(saidHours)].sort((a, b) => b - a));
        for (const { hours: threshold, atMs } of spoken) {
          expect(atMs).toBeGreaterThanOrEqual(deadlineMs - threshold * HOUR_MS);
          // The nearest one that was reached, not an older one.
          const nearer = [...hours, 0].filter((one) => one < threshold);
          for (const one of nearer) expect(atMs).toBeLessThan(deadlineMs - one * HOUR_MS);
        }
      }),
    );
  });

  test('a threshold is reached at its very instant, the deadline too (rule 3)', () => {
    const deadlineMs = T0 + WEEK_MS;
    const spokenAt = (nowMs: number) =>
      decide({ deadlineMs, said: undefined, thresholds: [48, 6] }, nowMs).speak;
    for (const [hours, before] of [
      [48, undefined],
      [6, 48],
      [0, 6],
    ] as const) {
      const instantMs = deadlineMs - hours * HOUR_MS;
      expect(spokenAt(instantMs - 1), `just before ${hours} h`).toBe(before);
      expect(spokenAt(instantMs), `at ${hours} h`).toBe(hours);
    }
  });

  test('the order in which they are configured means nothing', () => {
    fc.assert(
      fc.property(thresholds, instant, (hours, nowMs) => {
        const ask = (list: readonly number[]) =>
          decide({ deadlineMs: T0 + 20 * DAY_MS, said: undefined, thresholds: list }, nowMs);
        expect(ask(hours.toReversed())).toEqual(ask([...hours, ...hours]));
      }),
    );
  });

  test('a deadline that moved by less than an hour says nothing anew; one that moved further does (rule 5)', () => {
    const deadlineMs = T0 + WEEK_MS;
    const nowMs = deadlineMs - 5 * HOUR_MS;
    const said = { hours: 6, deadlineMs };
    const ask = (movedMs: number) =>
      decide(
        { deadlineMs: deadlineMs + movedMs, said, thresholds: DEFAULT_THRESHOLD_HOURS },
        nowMs,
      );
    expect(ask(HOUR_MS - 1)).toMatchObject({ speak: undefined, said });
    expect(ask(-(HOUR_MS - 1))).toMatchObject({ speak: undefined, said });
    expect(ask(-2 * HOUR_MS)).toMatchObject({ speak: 6 });
    expect(ask(20 * HOUR_MS)).toMatchObject({ speak: 48 });
    expect(ask(WEEK_MS)).toMatchObject({ speak: undefined, said: undefined });
  });
});

test('a policy acts from its threshold to the deadline, and neither before nor after', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer(), (hours, offsetMs) => {
      const deadlineMs = T0 + WEEK_MS;
      const acts = policyActs({ action: 'capture', hours }, deadlineMs, deadlineMs + offsetMs);
      expect(acts).toBe(offsetMs < 0 && offsetMs >= -hours * HOUR_MS);
    }),
  );
});

test('at its threshold a policy acts, and at the deadline it no longer does', () => {
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

test('only a hold that is open and not used up can be captured', () => {
  const hold = { status: 'requires_capture', authorizedMinor: 1000, capturedMinor: 0 };
  expect(capturableMinor(hold)).toBe(1000);
  expect(capturableMinor({ ...hold, capturedMinor: 400 })).toBe(600);
  expect(capturableMinor({ ...hold, capturedMinor: 1000 })).toBe(0);
  for (const status of ['succeeded', 'cancelled', 'expired', 'processing', 'partially_captured']) {
    expect(capturableMinor({ ...hold, status }), status).toBe(0);
  }
  expect(capturableMinor({ ...hold, status: null })).toBe(0);
});
