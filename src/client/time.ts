/** Time, as the client needs it: handed in, so that tests can move it. */
import { type Clock, systemClock } from '../platform/clock.ts';
import { pause } from '../platform/pause.ts';

/** A clock that can also be waited on. */
export interface ClientTime extends Clock {
  /** Resolves after `delayMs`, or once `signal` is aborted. */
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

export const systemTime: ClientTime = { ...systemClock, pause };
