/** A source of the current time, handed in so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** The machine's clock, which people and NTP set. Nothing stored may depend on it: see db/databaseClock.ts. */
export const systemClock: Clock = { nowMs: () => Date.now() };

/** Milliseconds since the process began, by a clock that nobody sets. */
export const monotonicMs = (): number => performance.now();

/**
 * Measures how long something takes, by a clock that nobody sets.
 * @returns what tells the seconds since
 */
export function startStopwatch(): () => number {
  const startMs = monotonicMs();
  return () => (monotonicMs() - startMs) / 1000;
}
