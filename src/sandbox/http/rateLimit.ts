/**
 * The rate budget: so many requests in each minute and for each key.
 * service-interface.md §8.2.
 *
 * Minutes are those of the sandbox's clock, like the `Date` of its answers: a caller that measures
 * the reset by that header waits rightly also after the clock was advanced.
 */
import type { Clock } from '../../platform/clock.ts';

const WINDOW_MS = 60_000;

/** The contract leaves the number open; this is the family's 80 a second. */
const DEFAULT_PER_MINUTE = 4_800;

export interface Budget {
  readonly isExceeded: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in seconds. */
  readonly resetSeconds: number;
}

export interface RateLimit {
  /** Spends one request of a key's budget. @param key any name for it, not the secret itself */
  spend(key: string): Budget;
  /** Changes the number of requests a minute; windows begin anew. */
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
