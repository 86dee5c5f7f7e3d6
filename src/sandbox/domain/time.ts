/** Times as bodies show them: ISO 8601, UTC, milliseconds. */

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The time of the next change of a resource: now, but always later than its last change, so that a
 * reader can order two changes of one millisecond. The fault `tick_ms`, which simulates services with
 * times in whole seconds, overrides that.
 */
export function nextModified(previous: string, nowMs: number): string {
  return isoTime(Math.max(nowMs, Date.parse(previous) + 1));
}

const EARLIEST_MS = Date.UTC(100, 0, 1);
const LATEST_MS = Date.UTC(9999, 11, 31);

/**
 * A bound of a time range, rounded inwards to whole milliseconds. A time without a zone is UTC. Bounds
 * are limited to years that PostgreSQL accepts.
 */
export function isoBound(time: string, round: (ms: number) => number): string {
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(time) && time.includes('T');
  const isDate = !time.includes('T');
  const [whole = '', rest = ''] = splitFraction(isDate || hasZone ? time : `${time}Z`);
  const fraction = Number(`0.${rest || '0'}`) * 1000;
  const ms = Date.parse(whole) + round(fraction);
  return isoTime(Math.min(LATEST_MS, Math.max(EARLIEST_MS, ms)));
}

/** `2026-11-01T10:00:00.1234Z` → `2026-11-01T10:00:00Z` and `1234`. */
function splitFraction(time: string): readonly [string, string] {
  const match = /^([^.]*)\.(\d+)(.*)$/.exec(time);
  return match ? [`${match[1]}${match[3]}`, match[2] ?? ''] : [time, ''];
}
