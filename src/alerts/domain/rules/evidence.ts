/**
 * The deadline for the evidence of a dispute, and its reminders.
 *
 * Terms. *Threshold*: a number of hours before the deadline.
 *
 * 1. The deadline is the service's. If it gives none, 7 days are assumed from the beginning of the stage.
 * 2. Of several thresholds that are reached, only the one nearest to the deadline sends a reminder.
 * 3. The alert that opens names the deadline, so thresholds reached by then send no reminder, nor those in the
 *    first hour of a stage: exactly seven days by a clock that is ahead begin after the opening. If the
 *    deadline moves later, a threshold of the new one that is already reached sends a reminder at once.
 *
 * All times are milliseconds since 1970.
 */
import { HOUR_MS } from '../../../platform/time.ts';
import type { ResourceFacts } from '../facts.ts';

const ASSUMED_DAYS = 7;
const NAMED_MS = HOUR_MS;

/** Hours before the deadline, descending. */
const THRESHOLD_HOURS: readonly number[] = [7 * 24, 72, 24];

export interface Deadline {
  readonly deadlineMs: number;
  /** The service gives none. */
  readonly isAssumed: boolean;
}

/** Rule 1. @param nowMs used only if the beginning of the stage is unknown */
export function evidenceDeadline(
  { deadlineMs, stageSinceMs }: Pick<ResourceFacts, 'deadlineMs' | 'stageSinceMs'>,
  nowMs: number,
): Deadline {
  if (deadlineMs !== undefined) return { deadlineMs, isAssumed: false };
  return { deadlineMs: (stageSinceMs ?? nowMs) + ASSUMED_DAYS * 24 * HOUR_MS, isAssumed: true };
}

/** The next threshold; undefined if all are reached. */
export function nextThresholdMs(deadlineMs: number, nowMs: number): number | undefined {
  return THRESHOLD_HOURS.map((hours) => deadlineMs - hours * HOUR_MS).find((ms) => ms > nowMs);
}

/** The threshold to plan for a dispute that needs a response (rule 3); undefined if none is left. */
export function plannedThresholdMs(
  deadlineMs: number,
  { stageSinceMs }: Pick<ResourceFacts, 'stageSinceMs'>,
  nowMs: number,
): number | undefined {
  const namedUntilMs = stageSinceMs === undefined ? nowMs : stageSinceMs + NAMED_MS;
  return nextThresholdMs(deadlineMs, Math.max(nowMs, namedUntilMs));
}

/** The hours of the last threshold reached (rule 2); undefined before the first. */
export function reachedThreshold(deadlineMs: number, nowMs: number): number | undefined {
  return THRESHOLD_HOURS.findLast((hours) => deadlineMs - hours * HOUR_MS <= nowMs);
}
