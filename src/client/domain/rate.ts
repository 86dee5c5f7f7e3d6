/**
 * How many requests may still go out, and for whom. service-interface.md §8.2.
 *
 * All lanes share one budget. Each leaves a part of it to the lanes before it, so that what is
 * urgent finds room without a queue that all processes would have to share.
 *
 * 1. Nothing is held back before the service has told its limit.
 * 2. A lane may take while at least its reserve is left; background lanes stop below 30 %
 *    unless somebody chose another reserve.
 * 3. Within a window what is left only falls: answers arrive in any order, and other processes take
 *    from the same budget. A later reset is a new window.
 * 4. After a 429 nothing is left until the reset.
 * 5. A reset that cannot be one (past, or further off than any window) is not believed.
 */

/** In the order of their right of way. */
export const LANES = ['webhook', 'operator', 'refresh', 'discovery'] as const;

/**
 * Who asks: a retrieve that a webhook caused; the shop and its operators; the refreshing of what is
 * not final; the search for what was never heard of.
 */
export type Lane = (typeof LANES)[number];

/** The part of the limit that must be left for a lane to take, unless somebody chose others. */
export const RESERVES: Readonly<Record<Lane, number>> = {
  webhook: 0,
  operator: 0.05,
  refresh: 0.3,
  discovery: 0.4,
};

/** What is known of the current window; undefined for what no answer told yet. */
export interface RateState {
  /** Requests a window. */
  readonly limit: number | undefined;
  /** Requests left, those on their way taken off already. */
  readonly remaining: number | undefined;
  /** By our clock. */
  readonly resetAtMs: number | undefined;
  /** No answer of this window was seen yet: it is taken to be like the last one. */
  readonly isAssumed: boolean;
}

export const UNKNOWN_RATE: RateState = {
  limit: undefined,
  remaining: undefined,
  resetAtMs: undefined,
  isAssumed: false,
};

/** What one answer told. */
export interface RateReading {
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** By our clock. */
  readonly resetAtMs: number | undefined;
  /** It was a 429. */
  readonly exceeded: boolean;
}

/** Whether a request may go out now. */
export type Admission =
  | { readonly admitted: true }
  | { readonly admitted: false; readonly waitMs: number };

/** Takes one request from the budget for `lane` (rules 1 and 2). */
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

/** Learns from an answer (rules 3 and 4). */
export function update(state: RateState, reading: RateReading, nowMs: number): RateState {
  if (reading.resetAtMs === undefined) return state;
  const current = renew(state, nowMs);
  const told = reading.exceeded ? 0 : reading.remaining;
  const laterMs =
    current.resetAtMs === undefined ? Number.NaN : reading.resetAtMs - current.resetAtMs;
  if (laterMs < -SAME_WINDOW_MS && !current.isAssumed) return current;
  const isSameWindow = current.isAssumed || Math.abs(laterMs) <= SAME_WINDOW_MS;
  return {
    limit: reading.limit ?? current.limit,
    remaining: isSameWindow ? least(current.remaining, told) : told,
    // Whole seconds make every reading late, by up to one: the earliest is the best.
    resetAtMs:
      laterMs > 0 && isSameWindow && !current.isAssumed ? current.resetAtMs : reading.resetAtMs,
    isAssumed: false,
  };
}

/**
 * Resets of one window differ by this much at most once they are put on our clock: the service's
 * time of day comes in whole seconds.
 */
const SAME_WINDOW_MS = 2_000;

/** service-interface.md §8.1: the limit is one of requests a minute. */
const WINDOW_MS = 60_000;

/** Anything much further off is a mistake (rule 5). */
const LONGEST_WINDOW_MS = 5 * 60_000;

/** The headers of an answer that tell the rate, as text; null where one is missing. */
export interface RateHeaders {
  readonly limit: string | null;
  readonly remaining: string | null;
  /** Unix time in seconds. */
  readonly reset: string | null;
  /** The service's time of day. */
  readonly date: string | null;
}

/**
 * Reads the headers (rule 5). The reset is put on our clock by the service's own `Date`, because a
 * clock that is a minute off would otherwise wait a minute too long or not at all.
 */
export function readRate(headers: RateHeaders, exceeded: boolean, nowMs: number): RateReading {
  const resetSeconds = readCount(headers.reset);
  const serviceNowMs = headers.date === null ? Number.NaN : Date.parse(headers.date);
  const waitMs =
    resetSeconds === undefined
      ? Number.NaN
      : resetSeconds * 1000 - (Number.isNaN(serviceNowMs) ? nowMs : serviceNowMs);
  const isBelievable = waitMs > 0 && waitMs <= LONGEST_WINDOW_MS;
  const limit = readCount(headers.limit);
  return {
    limit: limit === 0 ? undefined : limit,
    remaining: readCount(headers.remaining),
    resetAtMs: isBelievable ? nowMs + waitMs : undefined,
    exceeded,
  };
}

/**
 * After a window comes one like it, until an answer tells more: forgetting the limit instead would
 * let everyone who waited go at once.
 */
function renew(state: RateState, nowMs: number): RateState {
  const { limit, resetAtMs } = state;
  if (resetAtMs === undefined || nowMs < resetAtMs) return state;
  if (limit === undefined) return UNKNOWN_RATE;
  return { limit, remaining: limit, resetAtMs: nowMs + WINDOW_MS, isAssumed: true };
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

function readCount(text: string | null): number | undefined {
  return text !== null && /^\d{1,12}$/.test(text.trim()) ? Number(text) : undefined;
}
