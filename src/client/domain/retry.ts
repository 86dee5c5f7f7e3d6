/**
 * Whether a request is sent again, and when. service-interface.md §7.7 and §4.3.1.
 *
 * *Refused*: the service answered and did nothing. *Not done*: the request was never worked on.
 * *Unknown*: it may have been carried out although no answer says so.
 *
 * 1. A refusal is final: no 4xx but 429 is sent again, and no redirect.
 * 2. What was not done may always be sent again: 429, or no connection was made.
 * 3. What is unknown (5xx, a lost or unreadable answer) is sent again only where the contract makes
 *    that safe. Services say that no payment was attempted when they answer with an error, but a
 *    proxy that answers 502 in their place says the same words, and a second capture costs money.
 * 4. HE_01 is a refusal in every HTTP status: the services of this family do not agree on one.
 * 5. Waits grow exponentially, with full jitter; a wait that the service named comes on top.
 * 6. Attempts and total time are capped, and no wait is begun that would pass the cap.
 * 7. What changes something is not sent with too little time left for its answer: it would be cut
 *    off, and its outcome unknown, for a request that need not have been sent.
 */

/** Caps and waits of one call. */
export interface RetryPolicy {
  /** Requests sent, the first included. */
  readonly maxAttempts: number;
  /** From the call to its end, waits included. */
  readonly totalTimeoutMs: number;
  /** From sending one request to the end of its answer. */
  readonly attemptTimeoutMs: number;
  /** Upper bound of the first wait; doubled for each further one. */
  readonly baseDelayMs: number;
  /** Upper bound of every wait that the service did not name. */
  readonly maxDelayMs: number;
}

/** A window of the rate limit and a whole attempt fit into the total: a 429 can be waited out. */
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
      readonly kind: 'answer';
      readonly httpStatus: number;
      readonly code: string | undefined;
      /** How long the service asks to wait, by its reset or by `Retry-After`. */
      readonly namedWaitMs: number | undefined;
    }
  /** No connection was made. */
  | { readonly kind: 'notSent' }
  /** The connection broke, the time ran out, or the answer cannot be read. */
  | { readonly kind: 'lost' };

/** What a failed attempt says about the request. */
export type Meaning = 'refused' | 'notDone' | 'unknown';

/** Judges one failure (rules 1 to 4). */
export function meaningOf(failure: AttemptFailure): Meaning {
  switch (failure.kind) {
    case 'notSent':
      return 'notDone';
    case 'lost':
      return 'unknown';
    case 'answer':
      if (failure.code === 'HE_01') return 'refused';
      if (failure.httpStatus === 429) return 'notDone';
      return failure.httpStatus >= 500 ? 'unknown' : 'refused';
  }
}

/** What is known when an attempt has failed. */
export interface Situation {
  readonly failure: AttemptFailure;
  /** Whether the contract makes a repetition safe. */
  readonly repeatable: boolean;
  /** Whether "not found" can only mean "not visible yet", because something said that it exists. */
  readonly mustExist: boolean;
  /** Attempts made, this one included. */
  readonly attempts: number;
  /** Since the call began. */
  readonly elapsedMs: number;
  /** That the next attempt must find left; see neededMs. */
  readonly neededMs: number;
  /** From 0 up to 1. */
  readonly random: number;
}

export type Decision =
  | { readonly action: 'retry'; readonly delayMs: number }
  | { readonly action: 'stop' };

const STOP = { action: 'stop' } as const;

/** Decides what follows a failed attempt. */
export function decideRetry(situation: Situation, policy: RetryPolicy): Decision {
  const { failure, repeatable, attempts, elapsedMs, random } = situation;
  if (!mayRepeat(failure, repeatable, situation.mustExist)) return STOP;
  if (attempts >= policy.maxAttempts) return STOP;
  const namedWaitMs = failure.kind === 'answer' ? (failure.namedWaitMs ?? 0) : 0;
  const delayMs = namedWaitMs + Math.floor(random * backoffCeilingMs(attempts, policy));
  const endMs = elapsedMs + delayMs + situation.neededMs;
  return endMs <= policy.totalTimeoutMs ? { action: 'retry', delayMs } : STOP;
}

/** How much of the total an attempt must find left after a wait (rules 6 and 7). */
export function neededMs(isSafe: boolean, policy: RetryPolicy): number {
  return isSafe ? 1 : Math.min(policy.attemptTimeoutMs, policy.totalTimeoutMs / 2);
}

function mayRepeat(failure: AttemptFailure, repeatable: boolean, mustExist: boolean): boolean {
  switch (meaningOf(failure)) {
    case 'notDone':
      return true;
    case 'unknown':
      return repeatable;
    case 'refused':
      return mustExist && failure.kind === 'answer' && failure.httpStatus === 404;
  }
}

/** The longest that may be waited after so many attempts, where the service names no wait. */
export function backoffCeilingMs(attempts: number, policy: RetryPolicy): number {
  return Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempts - 1));
}
