/** Numbers are the rules of src/alerts/domain/rules/evidence.ts. */
import { describe, expect, test } from 'vitest';
import { deadlineAlert } from '../../../src/alerts/domain/rules/dispute.ts';
import {
  evidenceDeadline,
  nextThresholdMs,
  plannedThresholdMs,
  reachedThreshold,
} from '../../../src/alerts/domain/rules/evidence.ts';
import { DAY_MS, HOUR_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

describe('the deadline (rule 1)', () => {
  const SINCE = NOW_MS - 2 * DAY_MS;

  test('is the one that the service names, if it names one', () => {
    const deadlineMs = NOW_MS + 5;
    const deadline = evidenceDeadline({ deadlineMs, stageSinceMs: SINCE }, NOW_MS);
    expect(deadline).toEqual({ deadlineMs, isAssumed: false });
  });

  test('is otherwise seven days after the beginning of the stage', () => {
    expect(evidenceDeadline({ deadlineMs: undefined, stageSinceMs: SINCE }, NOW_MS)).toEqual({
      deadlineMs: SINCE + 7 * DAY_MS,
      isAssumed: true,
    });
  });

  test('is seven days from now while the beginning of the stage is unknown', () => {
    const unknown = { deadlineMs: undefined, stageSinceMs: undefined };
    expect(evidenceDeadline(unknown, NOW_MS).deadlineMs).toBe(NOW_MS + 7 * DAY_MS);
  });
});

describe('thresholds (rule 2)', () => {
  const DEADLINE = NOW_MS + 30 * DAY_MS;
  const instantOf = (hours: number) => DEADLINE - hours * HOUR_MS;

  test.each([
    [168, undefined, 'warning'],
    [72, 168, 'warning'],
    [24, 72, 'critical'],
  ] as const)('%i h is reached exactly at its instant, as a %s', (hours, earlier, severity) => {
    const atMs = instantOf(hours);
    expect(reachedThreshold(DEADLINE, atMs - 1)).toBe(earlier);
    expect(reachedThreshold(DEADLINE, atMs)).toBe(hours);
    expect(nextThresholdMs(DEADLINE, atMs - 1)).toBe(atMs);
    expect(nextThresholdMs(DEADLINE, atMs)).not.toBe(atMs);
    const dispute = facts({ kind: 'dispute', status: 'opened', stage: 'dispute' });
    expect(deadlineAlert(dispute, DEADLINE, { isConfirmed: true, nowMs: atMs })).toMatchObject({
      severity,
      detail: { thresholdHours: hours },
    });
  });

  test('those in the first hour of a stage are not planned, also by a clock that is ahead (rule 3)', () => {
    const planned = (stageSinceMs: number | undefined, nowMs: number) =>
      plannedThresholdMs(DEADLINE, { stageSinceMs }, nowMs);
    const begin = instantOf(168);
    expect(planned(begin, begin - 60_000)).toBe(instantOf(72));
    expect(planned(begin - HOUR_MS, begin - HOUR_MS)).toBe(instantOf(72));
    expect(planned(begin - HOUR_MS - 1, begin - HOUR_MS - 1)).toBe(begin);
    expect(planned(begin - DAY_MS, instantOf(72))).toBe(instantOf(24));
    expect(planned(undefined, begin - 60_000)).toBe(begin);
  });

  test('there is none after the last, and the alert states that the deadline has passed', () => {
    expect(nextThresholdMs(DEADLINE, instantOf(24))).toBeUndefined();
    const dispute = facts({ kind: 'dispute', status: 'opened', stage: 'dispute' });
    const alertAt = (nowMs: number) =>
      deadlineAlert(dispute, DEADLINE, { isConfirmed: true, nowMs });
    expect(alertAt(instantOf(169))).toBeUndefined();
    expect(alertAt(DEADLINE - 1)?.sentence).toContain(
      'Dispute dispute_1 about 65.40 USD (order 1001, payment pay_1) needs a response by 2026-12-21 12:00 UTC, in less than 24 hours.',
    );
    expect(alertAt(DEADLINE)?.sentence).toContain('the service still reports none');
  });
});
