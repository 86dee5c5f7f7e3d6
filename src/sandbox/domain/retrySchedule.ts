/** When a webhook that was not taken is sent again: 16 retries over about a day, as the family does. */
import { MINUTE_MS } from './time.ts';

const DELAYS_MINUTES = [1, 5, 5, 10, 10, 10, 10, 10, 60, 60, 60, 60, 60, 360, 360, 360];

/** Retries after the first try. */
export const MAX_RETRIES = DELAYS_MINUTES.length;

/**
 * How long after try number `attempt` (0 is the first) the next one follows.
 * Undefined when it was the last: nothing further is ever sent.
 */
export function retryDelayMs(attempt: number): number | undefined {
  const minutes = DELAYS_MINUTES[attempt];
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
