/** A source of the current time, injected so that tests control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** The machine's clock, which people and NTP adjust. Nothing stored may depend on it: see db/databaseClock.ts. */
export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds since the process started, by a monotonic clock. */
export const monotonicMs = (): number => performance.now();

/**
 * Measures elapsed time by a monotonic clock.
 * @returns a function that returns the seconds since the start
 */
export function startStopwatch(): () => number {
  const startMs = monotonicMs();
  return () => (monotonicMs() - startMs) / 1000;
}
