/** Instants as the wire has them: ISO 8601, UTC, milliseconds. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The time of the next change of a resource: now, but always later than its last change, so that a
 * reader can order two changes of one millisecond. A coarse tick overrides that: services that stamp
 * whole seconds are what `tick_ms` is there to imitate.
 */
export function nextModified(previous: string, nowMs: number): string {
  return isoTime(Math.max(nowMs, Date.parse(previous) + 1));
}
