/**
 * When an authorization must be captured, and when to speak about it.
 *
 * Terms. *Start*: when the hold began, as well as it is known. *Deadline*: after it the hold lapses.
 * *Threshold*: so many hours before the deadline; 0 is the deadline itself. *Said*: the threshold
 * that was spoken of last.
 *
 * 1. The deadline is the smaller of the service's `capture_before` and start + 7 days.
 * 2. The start is the time of the authorization event when it is known, else `created`. It is never
 *    before `created`: an event cannot precede what it tells of.
 * 3. A threshold is reached from its instant on; of several that are reached, the one nearest the
 *    deadline counts. After time was lost, the others would say the same with older words.
 * 4. A threshold is spoken of once, and only while something is still capturable.
 * 5. A deadline that moved by less than an hour is the same one: learning the time of the event,
 *    seconds after `created`, says nothing new. A deadline that moved further begins anew.
 * 6. What is still capturable past its deadline is looked at again every day.
 *
 * All times are milliseconds since 1970. service-interface.md §3.2 and §8.1; `capture_before` is the
 * family's.
 */

import { MANUAL_AUTHORIZATION_VALIDITY_MS } from '../../contract/limits.ts';
import { DAY_MS, HOUR_MS } from '../../platform/time.ts';

/** Hours before the deadline at which is spoken; the deadline itself always is one, and not listed. */
export const DEFAULT_THRESHOLD_HOURS: readonly number[] = [48, 24, 6, 1];

/** What the payment tells of its own. */
export interface AuthorizationTimes {
  /** When the first event came into being that told of the hold. */
  readonly authorizedMs: number | undefined;
  readonly createdMs: number | undefined;
  /** When we first heard of the payment: the last resort. */
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

/** The threshold that was spoken of last, and of which deadline. */
export interface Said {
  readonly hours: number;
  readonly deadlineMs: number;
}

/** What to do about an authorization that is still capturable. */
export interface Decision {
  /** The threshold to speak of now, in hours before the deadline; undefined for silence. */
  readonly speak: number | undefined;
  /** What counts as said from now on. */
  readonly said: Said | undefined;
  readonly nextLookMs: number;
}

/** A deadline that moved by less is the same one (rule 5). */
const SAME_DEADLINE_MS = HOUR_MS;

/** Rules 3 to 6, at `nowMs`, for something that is still capturable. */
export function decide(
  situation: {
    readonly deadlineMs: number;
    readonly said: Said | undefined;
    /** Hours before the deadline, in any order. */
    readonly thresholds: readonly number[];
  },
  nowMs: number,
): Decision {
  const { deadlineMs, said: before, thresholds } = situation;
  const isSame = before && Math.abs(deadlineMs - before.deadlineMs) < SAME_DEADLINE_MS;
  const said = isSame ? before : undefined;
  const descending = [...new Set([...thresholds, 0])].sort((a, b) => b - a);
  const instantOf = (hours: number) => deadlineMs - hours * HOUR_MS;

  const reached = descending.findLast((hours) => instantOf(hours) <= nowMs);
  const isNews = reached !== undefined && (said === undefined || reached < said.hours);
  const upcoming = descending.find((hours) => instantOf(hours) > nowMs);
  return {
    speak: isNews ? reached : undefined,
    said: isNews ? { hours: reached, deadlineMs } : said,
    nextLookMs: upcoming === undefined ? nowMs + DAY_MS : instantOf(upcoming),
  };
}

/** What may be done to an authorization at a threshold, without anybody asking. */
export type PolicyAction = 'capture' | 'cancel';

/** Nothing is done unless somebody chose to. */
export interface Policy {
  readonly action: PolicyAction;
  /** Hours before the deadline. */
  readonly hours: number;
}

/**
 * Whether the policy acts at `nowMs`: from its threshold on, and never past the deadline, where the
 * hold may be gone and a capture could only fail.
 */
export function policyActs(policy: Policy, deadlineMs: number, nowMs: number): boolean {
  return deadlineMs - policy.hours * HOUR_MS <= nowMs && nowMs < deadlineMs;
}
