/**
 * When an authorization must be captured, and when to send reminders.
 *
 * Terms. *Start*: when the hold began, as far as it is known. *Deadline*: when the hold expires.
 * *Threshold*: a number of hours before the deadline; 0 is the deadline itself. *Reminder*: a
 * notification sent at a threshold.
 *
 * 1. The deadline is the earlier of the service's `capture_before` and start + 7 days.
 * 2. The start is the time of the authorization event where it is known, else `created`. It is never
 *    before `created`: an event cannot precede what it reports.
 * 3. A threshold is reached from its instant on. Of several that are reached, the one nearest the
 *    deadline counts: after an outage, the others would only repeat it with older facts.
 * 4. Each threshold has one reminder, and only while something can still be captured.
 * 5. A deadline that moved by less than an hour is the same one: the time of the event, learned seconds
 *    after `created`, is no news. A deadline that moved further starts over.
 * 6. What can still be captured after its deadline is checked again every day.
 *
 * All times are milliseconds since 1970. service-interface.md §States and transitions (a manual
 * authorization must be captured within 7 days) and §Limits; `capture_before` is the family's.
 */
import { MANUAL_AUTHORIZATION_VALIDITY_MS } from '../../contract/limits.ts';
import { DAY_MS, HOUR_MS } from '../../platform/time.ts';

/** The times of a payment that bound its hold. */
export interface AuthorizationTimes {
  /** When the first event that reported the hold was created. */
  readonly authorizedMs: number | undefined;
  readonly createdMs: number | undefined;
  /** When Tallyhook first observed the payment: the last resort. */
  readonly firstSeenMs: number;
  readonly captureBeforeMs: number | undefined;
}

/** Rules 1 and 2. */
export function deadlineOf(times: AuthorizationTimes): {
  readonly startMs: number;
  readonly deadlineMs: number;
} {
  const { authorizedMs, createdMs, firstSeenMs, captureBeforeMs } = times;
  const startMs =
    authorizedMs === undefined
      ? (createdMs ?? firstSeenMs)
      : Math.max(authorizedMs, createdMs ?? authorizedMs);
  const byContractMs = startMs + MANUAL_AUTHORIZATION_VALIDITY_MS;
  return { startMs, deadlineMs: Math.min(byContractMs, captureBeforeMs ?? byContractMs) };
}

/** A reminder that was sent. */
export interface Reminder {
  /** Its threshold. */
  readonly hours: number;
  /** The deadline at that time. */
  readonly deadlineMs: number;
}

/** What to do about an authorization that can still be captured. */
export interface ReminderDecision {
  /** The threshold to send a reminder for now, in hours before the deadline; undefined for none. */
  readonly dueHours: number | undefined;
  /** The latest reminder about this deadline, the one that is due now included. */
  readonly latest: Reminder | undefined;
  readonly nextCheckMs: number;
}

/** A deadline that moved by less is the same one (rule 5). */
const SAME_DEADLINE_MS = HOUR_MS;

/** Rules 3 to 6, at `nowMs`, for something that can still be captured. */
export function decideReminder(
  situation: {
    readonly deadlineMs: number;
    readonly latest: Reminder | undefined;
    /** Hours before the deadline, in any order. */
    readonly thresholds: readonly number[];
  },
  nowMs: number,
): ReminderDecision {
  const { deadlineMs, latest: stored, thresholds } = situation;
  const isSame = stored && Math.abs(deadlineMs - stored.deadlineMs) < SAME_DEADLINE_MS;
  const latest = isSame ? stored : undefined;
  const descending = [...new Set([...thresholds, 0])].sort((a, b) => b - a);
  const instantOf = (hours: number) => deadlineMs - hours * HOUR_MS;

  const reached = descending.findLast((hours) => instantOf(hours) <= nowMs);
  const isDue = reached !== undefined && (latest === undefined || reached < latest.hours);
  const upcoming = descending.find((hours) => instantOf(hours) > nowMs);
  return {
    dueHours: isDue ? reached : undefined,
    latest: isDue ? { hours: reached, deadlineMs } : latest,
    nextCheckMs: upcoming === undefined ? nowMs + DAY_MS : instantOf(upcoming),
  };
}

/** What a policy may do to an authorization. */
export type PolicyAction = 'capture' | 'cancel';

/** What to do with a hold that nobody captured. An operator sets it; there is none by default. */
export interface Policy {
  readonly action: PolicyAction;
  /** Hours before the deadline. */
  readonly hours: number;
}

/**
 * Whether the policy acts at `nowMs`: from its threshold on, and never after the deadline, when the hold
 * may have expired and a capture could only fail.
 */
export function policyActs(policy: Policy, deadlineMs: number, nowMs: number): boolean {
  return deadlineMs - policy.hours * HOUR_MS <= nowMs && nowMs < deadlineMs;
}
