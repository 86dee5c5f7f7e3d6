/** The only source of the current time. Handed in, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
