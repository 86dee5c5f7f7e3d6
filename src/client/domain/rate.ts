/**
 * How many requests may still be sent, and by which lane. service-interface.md §8.2.
 *
 * All lanes share one budget. Each leaves a reserve to the lanes before it, so that urgent requests
 * find room without a queue that all processes would have to share.
 *
 * 1. Nothing is held back until the service has reported its limit.
 * 2. A lane may acquire while at least its reserve is left. By default background lanes stop below
 *    30 %.
 * 3. Within a window the remaining count only falls: responses arrive in any order, and other
 *    processes acquire from the same budget. A later reset starts a new window.
 * 4. After a 429 nothing is left until the reset, or for the time that `Retry-After` names: some services of
 *    this family send none of the headers of the limit.
 * 5. An impossible reset, in the past or further away than any window, is ignored. A known one becomes
 *    impossible where the clock is set back: then the next window has begun.
 */

/** In order of priority. */
export const LANES = ['webhook', 'operator', 'refresh', 'discovery'] as const;

/**
 * What a request is for: a retrieve that a webhook caused; the shop and its operators; refreshing
 * resources that are not final; discovering resources that no webhook reported.
 */
export type Lane = (typeof LANES)[number];

/** Default share of the limit that must be left before a lane may acquire. */
export const RESERVES: Readonly<Record<Lane, number>> = {
  webhook: 0,
  operator: 0.05,
  refresh: 0.3,
  discovery: 0.4,
};

/** What is known about the current window; undefined where no response reported it yet. */
export interface RateState {
  /** Requests per window. */
  readonly limit: number | undefined;
  /** Requests left, without those in flight. */
  readonly remaining: number | undefined;
  /** By the local clock. */
  readonly resetAtMs: number | undefined;
  /** No response of this window has arrived yet: it is assumed to equal the previous one. */
  readonly isAssumed: boolean;
}

export const UNKNOWN_RATE: RateState = {
  limit: undefined,
  remaining: undefined,
  resetAtMs: undefined,
  isAssumed: false,
};

/** The rate limit that one response reported. */
export interface RateReading {
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** By the local clock. */
  readonly resetAtMs: number | undefined;
  /** The response was a 429. */
  readonly exceeded: boolean;
}

/** Whether a request may be sent now. */
export type Admission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly waitMs: number };

/** Acquires one request from the budget for `lane` (rules 1 and 2). */
export function acquire(
  state: RateState,
  lane: Lane,
  nowMs: number,
  reserves: Readonly<Record<Lane, number>> = RESERVES,
): { readonly state: RateState; readonly admission: Admission } {
  const current = renew(state, nowMs);
  const { limit, remaining, resetAtMs } = current;
  if (remaining === undefined || resetAtMs === undefined) {
    return { state: current, admission: { admitted: true } };
  }
  const enough = remaining > 0 && remaining >= reserves[lane] * (limit ?? 0);
  if (!enough) {
    return { state: current, admission: { admitted: false, waitMs: resetAtMs - nowMs } };
  }
  return { state: { ...current, remaining: remaining - 1 }, admission: { admitted: true } };
}

/** Updates the state with a response (rules 3 and 4). */
export function update(state: RateState, reading: RateReading, nowMs: number): RateState {
  if (reading.resetAtMs === undefined) return state;
  const current = renew(state, nowMs);
  const remaining = reading.exceeded ? 0 : reading.remaining;
  const laterMs =
    current.resetAtMs === undefined ? Number.NaN : reading.resetAtMs - current.resetAtMs;
  if (laterMs < -SAME_WINDOW_MS && !current.isAssumed) return current;
  const isSameWindow = current.isAssumed || Math.abs(laterMs) <= SAME_WINDOW_MS;
  return {
    limit: reading.limit ?? current.limit,
    remaining: isSameWindow ? minDefined(current.remaining, remaining) : remaining,
    // Whole seconds make every reading up to one second late: the earliest is the most accurate.
    resetAtMs:
      isSameWindow && !current.isAssumed
        ? minDefined(current.resetAtMs, reading.resetAtMs)
        : reading.resetAtMs,
    isAssumed: false,
  };
}

/**
 * Largest difference between two resets of one window, converted to the local clock: the service's
 * date has whole seconds.
 */
const SAME_WINDOW_MS = 2_000;

/** The limit counts requests a minute. service-interface.md §8.2. */
const WINDOW_MS = 60_000;

/** A reset much further away is an error (rule 5). */
const MAX_WINDOW_MS = 5 * 60_000;

/** The rate limit headers of a response, as text; null where one is missing. */
export interface RateHeaders {
  readonly limit: string | null;
  readonly remaining: string | null;
  /** Unix time in seconds. */
  readonly reset: string | null;
  /** The service's clock. */
  readonly date: string | null;
  /** From `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Parses the headers (rules 4 and 5). The reset is converted to the local clock by the response's own
 * `Date`: otherwise a clock that is a minute off would wait a minute too long or not at all.
 */
export function readRate(headers: RateHeaders, exceeded: boolean, nowMs: number): RateReading {
  const resetSeconds = readCount(headers.reset);
  const serviceNowMs = Date.parse(headers.date ?? '');
  const untilResetMs =
    resetSeconds === undefined
      ? undefined
      : resetSeconds * 1000 - (Number.isNaN(serviceNowMs) ? nowMs : serviceNowMs);
  const waitMs = [untilResetMs, exceeded ? headers.retryAfterMs : undefined].find(isPlausible);
  const limit = readCount(headers.limit);
  return {
    limit: limit === 0 ? undefined : limit,
    remaining: readCount(headers.remaining),
    resetAtMs: waitMs === undefined ? undefined : nowMs + waitMs,
    exceeded,
  };
}

function isPlausible(waitMs: number | undefined): boolean {
  return waitMs !== undefined && waitMs > 0 && waitMs <= MAX_WINDOW_MS;
}

/**
 * The current window. After a window an equal one is assumed until a response reports more: forgetting the
 * limit would release all waiting requests at once.
 */
export function renew(state: RateState, nowMs: number): RateState {
  const { limit, resetAtMs } = state;
  if (resetAtMs === undefined) return state;
  // Rule 5: until the clock reaches that reset again, every reading would be of an earlier window.
  if (nowMs < resetAtMs && resetAtMs - nowMs <= MAX_WINDOW_MS) return state;
  if (limit === undefined) return UNKNOWN_RATE;
  return { limit, remaining: limit, resetAtMs: nowMs + WINDOW_MS, isAssumed: true };
}

function minDefined(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function readCount(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text.trim()) ? Number(text) : undefined;
}
