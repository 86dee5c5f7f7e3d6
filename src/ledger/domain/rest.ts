/** A step takes about 200 ms while the disk is idle. */
const SLOW_STEP_MS = 500;
const SLOW_REST = 4;

/**
 * How long to rest after a step: as long as it took, so that intake has at least half of the disk, and four
 * times as long after a slow one, which shows that others wait for the disk, too.
 */
export function restAfterMs(tookMs: number): number {
  return tookMs > SLOW_STEP_MS ? SLOW_REST * tookMs : tookMs;
}
