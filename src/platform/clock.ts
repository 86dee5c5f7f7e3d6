/** The only source of the current time. Handed in, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/**
 * Measures how long something takes, by a clock that nobody sets.
 * @returns what tells the seconds since
 */
export function startStopwatch(): () => number {
  const startMs = performance.now();
  return () => (performance.now() - startMs) / 1000;
}
