/**
 * The rate limit: a number of requests per minute and key. service-interface.md §8.2.
 *
 * Minutes follow the sandbox's clock, as the `Date` header does: a caller that computes the reset from
 * that header waits for the right time even after the clock was advanced.
 */
import type { Clock } from '../../platform/clock.ts';

const WINDOW_MS = 60_000;

/** The contract leaves the number open; services of this family allow 80 requests a second. */
const DEFAULT_PER_MINUTE = 4_800;

export interface Budget {
  readonly isExceeded: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in seconds. */
  readonly resetSeconds: number;
}

export interface RateLimit {
  /** Counts one request against a key's budget. @param key a name for it, not the secret itself */
  spend(key: string): Budget;
  /** Changes the number of requests per minute and resets the counts. */
  setPerMinute(perMinute: number): void;
}

export function createRateLimit(clock: Clock, perMinute = DEFAULT_PER_MINUTE): RateLimit {
  let limit = perMinute;
  let windowMs = 0;
  const used = new Map<string, number>();
  return {
    spend: (key) => {
      const currentMs = Math.floor(clock.nowMs() / WINDOW_MS) * WINDOW_MS;
      if (currentMs !== windowMs) {
        windowMs = currentMs;
        used.clear();
      }
      const count = (used.get(key) ?? 0) + 1;
      used.set(key, count);
      return {
        isExceeded: count > limit,
        limit,
        remaining: Math.max(0, limit - count),
        resetSeconds: (windowMs + WINDOW_MS) / 1000,
      };
    },
    setPerMinute: (next) => {
      limit = next;
      used.clear();
    },
  };
}
