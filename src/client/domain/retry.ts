/**
 * Whether and when a request is retried. service-interface.md §7.7 and §4.3.1.
 *
 * *Refused*: the service replied and did nothing. *Not executed*: the request was never processed.
 * *Unknown*: it may have been processed, but no response confirms it.
 *
 * 1. A refusal is final: no 4xx but 429 is retried, and no redirect.
 * 2. What was not executed may always be retried: 429, or no connection was made.
 * 3. An unknown outcome (5xx, a lost or unreadable response) is retried only where the contract
 *    makes that safe. According to the contract an error means no payment was attempted, but a 502 can
 *    come from a proxy instead, and a second capture costs money.
 * 4. HE_01 is a refusal with any HTTP status: the services of this family use different ones.
 * 5. Delays grow exponentially, with full jitter. A delay that the service requires is added.
 * 6. Attempts and total time are limited, and no wait starts that would exceed the limit.
 * 7. A request that changes something is not sent when too little time is left for its response: it
 *    would be cut off with an unknown outcome.
 */

/** Limits and delays of one call. */
export interface RetryPolicy {
  /** Requests sent, including the first. */
  readonly maxAttempts: number;
  /** From the start of the call to its end, including waits. */
  readonly totalTimeoutMs: number;
  /** From sending one request to the end of its response. */
  readonly attemptTimeoutMs: number;
  /** Upper bound of the first delay; it doubles with each retry. */
  readonly baseDelayMs: number;
  /** Upper bound of every delay that the service does not require. */
  readonly maxDelayMs: number;
}

/** A rate limit window and a complete attempt fit into the total, so a 429 can be waited out. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxAttempts: 5,
  totalTimeoutMs: 120_000,
  attemptTimeoutMs: 30_000,
  baseDelayMs: 250,
  maxDelayMs: 10_000,
};

/** How one attempt failed. */
export type AttemptFailure =
  | {
      readonly kind: 'response';
      readonly httpStatus: number;
      readonly code: string | undefined;
      /** The delay that the service requires, by its reset or by `Retry-After`. */
      readonly namedWaitMs: number | undefined;
    }
  /** No connection was made. */
  | { readonly kind: 'notSent' }
  /** The connection broke, the attempt timed out, or the response is unreadable. */
  | { readonly kind: 'lost' };

/** What a failed attempt means for the request. */
export type FailureOutcome = 'refused' | 'notExecuted' | 'unknown';

/** Classifies one failure (rules 1 to 4). */
export function outcomeOf(failure: AttemptFailure): FailureOutcome {
  switch (failure.kind) {
    case 'notSent':
      return 'notExecuted';
    case 'lost':
      return 'unknown';
    case 'response':
      if (failure.code === 'HE_01') return 'refused';
      if (failure.httpStatus === 429) return 'notExecuted';
      return failure.httpStatus >= 500 ? 'unknown' : 'refused';
  }
}

/** Everything that decides about a retry after a failed attempt. */
export interface RetrySituation {
  readonly failure: AttemptFailure;
  /** Whether the contract makes a retry safe. */
  readonly repeatable: boolean;
  /** The resource is known to exist, so "not found" means "not visible yet". */
  readonly mustExist: boolean;
  /** Attempts made, including this one. */
  readonly attempts: number;
  /** Since the start of the call. */
  readonly elapsedMs: number;
  /** Time that must be left for the next attempt; see requiredMs. */
  readonly requiredMs: number;
  /** From 0 up to 1. */
  readonly random: number;
}

export type RetryDecision =
  | { readonly action: 'retry'; readonly delayMs: number }
  | { readonly action: 'stop' };

const STOP = { action: 'stop' } as const;

/** Decides what follows a failed attempt. */
export function decideRetry(situation: RetrySituation, policy: RetryPolicy): RetryDecision {
  const { failure, repeatable, attempts, elapsedMs, random } = situation;
  if (!mayRetry(failure, repeatable, situation.mustExist)) return STOP;
  if (attempts >= policy.maxAttempts) return STOP;
  const namedWaitMs = failure.kind === 'response' ? (failure.namedWaitMs ?? 0) : 0;
  const delayMs = namedWaitMs + Math.floor(random * backoffCeilingMs(attempts, policy));
  const endMs = elapsedMs + delayMs + situation.requiredMs;
  return endMs <= policy.totalTimeoutMs ? { action: 'retry', delayMs } : STOP;
}

/** How much of the total must be left for an attempt after a wait (rules 6 and 7). */
export function requiredMs(isSafe: boolean, policy: RetryPolicy): number {
  return isSafe ? 1 : Math.min(policy.attemptTimeoutMs, policy.totalTimeoutMs / 2);
}

function mayRetry(failure: AttemptFailure, repeatable: boolean, mustExist: boolean): boolean {
  switch (outcomeOf(failure)) {
    case 'notExecuted':
      return true;
    case 'unknown':
      return repeatable;
    case 'refused':
      return mustExist && failure.kind === 'response' && failure.httpStatus === 404;
  }
}

/** The longest delay after this many attempts if the service requires none. */
export function backoffCeilingMs(attempts: number, policy: RetryPolicy): number {
  return Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempts - 1));
}
