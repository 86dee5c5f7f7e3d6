/** The client's clock and timer, injected so that tests control time. */
import { type Clock, systemClock } from '../platform/clock.ts';
import { sleep } from '../platform/sleep.ts';

/** A clock that can also wait. */
export interface ClientTime extends Clock {
  /** Resolves after `delayMs`, or as soon as `signal` is aborted. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

export const systemTime: ClientTime = { ...systemClock, sleep };
