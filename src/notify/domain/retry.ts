/**
 * When a failed message and its channel are retried.
 *
 * 1. A channel is *unavailable* after no response, 5xx, 408, 425 or 429. All of its messages wait: 5 s,
 *    then twice as long each time, up to 5 minutes, or for the time in `retry-after`, up to an hour.
 *    Then one message, the *probe*, finds out whether the channel is back. Each probe is another
 *    message: some receivers fail on one message and would accept all others. Attempts that were in
 *    progress when the outage was found belong to the same outage: only probes extend the wait.
 * 2. A message is *refused* by any other response than 2xx. It waits alone, 30 s, then twice as long
 *    each time, up to 6 hours; others are sent meanwhile. A receiver that is fixed within three days
 *    gets it.
 * 3. A message fails for good three days after it was created, or at once if the receiver responds
 *    410, which means "never again".
 * 4. Half of each wait is jitter, so that many messages do not return at the same moment.
 * 5. A channel is *down* if it accepted nothing for DOWN_AFTER_MS although it was tried, or at once
 *    after a 410. The other channels are notified.
 * 6. A wait that began in the future was stored before the database's clock was set back, and delays nothing. A
 *    message that was never tried waits for nothing, and one with an attempt in progress for its lease.
 */
import { CLOCK_TOLERANCE_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/time.ts';

/** The result of an attempt. The response is for people: a status, never a body or an address. */
export type AttemptResult =
  | { readonly outcome: 'delivered'; readonly response: string }
  | { readonly outcome: 'refused'; readonly response: string }
  | { readonly outcome: 'gone'; readonly response: string }
  | {
      readonly outcome: 'unavailable';
      readonly response: string;
      /** The wait in `retry-after`. */
      readonly retryAfterMs?: number | undefined;
    };

export type FailedAttempt = Exclude<AttemptResult, { readonly outcome: 'delivered' }>;

/** The health of a channel that accepted nothing since it began to fail. */
export interface Health {
  readonly failingSinceMs: number;
  readonly lastError: string;
  /** Undefined while the channel responds and refuses. */
  readonly outage: Outage | undefined;
}

export interface Outage {
  /** Consecutive probes that found the channel unavailable. */
  readonly failures: number;
  /** No message is sent before this time. */
  readonly retryAtMs: number;
  /** When that wait began. */
  readonly waitingSinceMs: number;
}

export interface FailureFacts {
  readonly result: FailedAttempt;
  /** Attempts of this message, including this one. */
  readonly attempts: number;
  /** When it was created, or when a person last had it sent again. */
  readonly createdMs: number;
  /** The attempt was made to find out whether the channel is back. */
  readonly isProbe: boolean;
  /** The health of the channel now; undefined if it works. */
  readonly health: Health | undefined;
  readonly nowMs: number;
  /** From 0 to below 1. */
  readonly jitter: number;
}

export interface RetryPlan {
  /** Undefined: the message has failed for good. */
  readonly nextAttemptMs: number | undefined;
  readonly health: Health;
}

export const GIVE_UP_AFTER_MS = 72 * HOUR_MS;
/** Of one attempt. Longer than its time limit on any channel. */
export const LEASE_MS = MINUTE_MS;
const DOWN_AFTER_MS = 10 * MINUTE_MS;
const MAX_RETRY_AFTER_MS = HOUR_MS;
const MAX_REFUSED_WAIT_MS = 6 * HOUR_MS;
/** A channel with due messages is tried more often than this, as long as some process has it (rules 1 and 2). */
export const TRIED_WITHIN_MS = MAX_REFUSED_WAIT_MS + MAX_RETRY_AFTER_MS;

/** When a message is tried again after a failed attempt, and what the failure shows of its channel. */
export function planRetry(facts: FailureFacts): RetryPlan {
  const { result, attempts, createdMs, health: known, isProbe, nowMs, jitter } = facts;
  const health = {
    failingSinceMs: known?.failingSinceMs ?? nowMs,
    lastError: result.response,
    // An attempt that was in progress when the outage was found neither ends nor extends it.
    outage: isProbe ? undefined : known?.outage,
  };
  const isTooOld = nowMs - createdMs >= GIVE_UP_AFTER_MS;
  switch (result.outcome) {
    case 'unavailable': {
      const ownMs = nowMs + outageBackoffMs(attempts, jitter);
      if (health.outage) return { nextAttemptMs: isTooOld ? undefined : ownMs, health };
      const failures = (known?.outage?.failures ?? 0) + 1;
      const requestedMs = Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
      const retryAtMs = nowMs + Math.max(requestedMs, outageBackoffMs(failures, jitter));
      return {
        nextAttemptMs: isTooOld ? undefined : Math.max(retryAtMs, ownMs),
        health: { ...health, outage: { failures, retryAtMs, waitingSinceMs: nowMs } },
      };
    }
    case 'refused': {
      const waitMs = backoffMs(attempts, 30 * SECOND_MS, MAX_REFUSED_WAIT_MS, jitter);
      return { nextAttemptMs: isTooOld ? undefined : nowMs + waitMs, health };
    }
    case 'gone':
      return {
        nextAttemptMs: undefined,
        // As if it had been failing long enough to be down.
        health: {
          ...health,
          failingSinceMs: Math.min(health.failingSinceMs, nowMs - DOWN_AFTER_MS),
        },
      };
  }
}

/** Rule 5. */
export function isDown({ failingSinceMs }: Health, nowMs: number): boolean {
  return nowMs - failingSinceMs >= DOWN_AFTER_MS;
}

/** Rules 1 and 6. */
export function isWaiting({ retryAtMs, waitingSinceMs }: Outage, nowMs: number): boolean {
  return retryAtMs > nowMs && waitingSinceMs <= nowMs + CLOCK_TOLERANCE_MS;
}

/**
 * The latest times that can be stored (rule 6): of anything that happened, and of the end of a lease.
 */
export function latestTimes(nowMs: number): {
  readonly pastMs: number;
  readonly leaseMs: number;
} {
  const pastMs = nowMs + CLOCK_TOLERANCE_MS;
  return { pastMs, leaseMs: pastMs + LEASE_MS };
}

function outageBackoffMs(failures: number, jitter: number): number {
  return backoffMs(failures, 5 * SECOND_MS, 5 * MINUTE_MS, jitter);
}

/** @param failures how often it failed, from 1 */
function backoffMs(failures: number, firstMs: number, maxMs: number, jitter: number): number {
  const waitMs = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs);
  return Math.round(waitMs * (0.5 + jitter / 2));
}
