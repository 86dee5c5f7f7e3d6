/** The retry schedule of webhooks: 16 retries over about a day, as at services of this family. */
import { MINUTE_MS } from '../../platform/time.ts';

const DELAYS_MINUTES = [1, 5, 5, 10, 10, 10, 10, 10, 60, 60, 60, 60, 60, 360, 360, 360];

/** Retries after the first attempt. */
export const MAX_RETRIES = DELAYS_MINUTES.length;

/**
 * The delay of the retry after attempt number `attempt` (0 is the first); undefined after the last.
 */
export function retryDelayMs(attempt: number): number | undefined {
  const minutes = DELAYS_MINUTES[attempt];
  return minutes === undefined ? undefined : minutes * MINUTE_MS;
}
