/** Assesses an authorization at an instant: its deadline, the reminder that is due, the policy's step. */
import { MINUTE_MS } from '../platform/time.ts';
import { type Attempt, type PolicyStep, policyStep, toAttempt } from './domain/attempts.ts';
import { capturableMinor } from './domain/capturable.ts';
import {
  deadlineOf,
  decideReminder,
  type Policy,
  type ReminderDecision,
} from './domain/reminders.ts';
import type { AuthorizationRow } from './store/authorizations.ts';

export interface HoldAssessment {
  readonly row: AuthorizationRow;
  readonly capturableMinor: number;
  readonly startMs: number;
  readonly deadlineMs: number;
  readonly reminder: ReminderDecision;
  /** `none` where there is no policy. */
  readonly policy: PolicyStep;
  /** Undefined while the policy has made none on this hold. */
  readonly lastAttempt: Attempt | undefined;
  /** The payment must be retrieved first: before a reminder or an attempt, and after the deadline. */
  readonly needsRefresh: boolean;
}

export interface AuthorizationRules {
  /** Hours before the deadline. */
  readonly thresholds: readonly number[];
  /** Undefined: reminders only. */
  readonly policy: Policy | undefined;
}

/** @returns undefined when nothing can be captured */
export function assessHold(
  row: AuthorizationRow,
  { thresholds, policy }: AuthorizationRules,
  nowMs: number,
): HoldAssessment | undefined {
  const capturable = capturableMinor(row);
  if (capturable === 0) return undefined;
  const { startMs, deadlineMs } = deadlineOf({
    authorizedMs: row.authorizedMicros === null ? undefined : row.authorizedMicros / 1000,
    createdMs: row.createdAt?.getTime(),
    firstSeenMs: row.firstSeenAt.getTime(),
    captureBeforeMs: row.captureBefore?.getTime(),
  });
  const latest =
    row.reminderHours === null || row.reminderDeadlineAt === null
      ? undefined
      : { hours: row.reminderHours, deadlineMs: row.reminderDeadlineAt.getTime() };
  const reminder = decideReminder({ deadlineMs, latest, thresholds }, nowMs);
  const last = row.lastAttempt === null ? undefined : toAttempt(row.lastAttempt);
  const situation = { policy, deadlineMs, capturableMinor: capturable, last };
  const step = policyStep(situation, nowMs);
  return {
    row,
    capturableMinor: capturable,
    startMs,
    deadlineMs,
    reminder,
    policy: step,
    lastAttempt: last?.numberOnHold === 0 ? undefined : last,
    needsRefresh: reminder.dueHours !== undefined || step.step === 'try' || nowMs >= deadlineMs,
  };
}

/** When a retrieve that failed is repeated. */
const RETRY_REFRESH_MS = 5 * MINUTE_MS;

/** When to check the hold next, after a check at `nowMs`. */
export function nextCheckMs(hold: HoldAssessment, isConfirmed: boolean, nowMs: number): number {
  const { policy, reminder, deadlineMs } = hold;
  switch (policy.step) {
    case 'try':
      return Math.min(nowMs + RETRY_REFRESH_MS, reminder.nextCheckMs);
    case 'wait':
      return Math.min(policy.untilMs, reminder.nextCheckMs);
    case 'none': {
      const isUnconfirmed = nowMs >= deadlineMs && !isConfirmed;
      return isUnconfirmed
        ? Math.min(nowMs + RETRY_REFRESH_MS, reminder.nextCheckMs)
        : reminder.nextCheckMs;
    }
  }
}
