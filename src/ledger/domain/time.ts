/**
 * Instants as integers of microseconds since 1970 (UTC). The service sends timestamps with up to six
 * decimals. A JavaScript Date would truncate them to three, and a version must keep all its digits.
 */

const ISO_INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/i;

/**
 * Parses an ISO 8601 instant. One without a zone is UTC, because the service sends such instants. A zone may
 * have hours only, as PostgreSQL writes it.
 * Returns undefined for anything else, including impossible dates.
 */
export function parseInstantMicros(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const match = ISO_INSTANT.exec(value);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour, zoneMinute = 0] =
    match;
  if (Number(year) < 1970) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1)
    return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  const offsetMinutes = sign
    ? (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1)
    : 0;
  const micros = Number(fraction.padEnd(6, '0').slice(0, 6));
  const instantMicros = (date.getTime() - offsetMinutes * 60_000) * 1000 + micros;
  return Number.isSafeInteger(instantMicros) ? instantMicros : undefined;
}

const HOURS_ONLY = /"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?[+-]\d\d"/gi;

/** JSON as the first versions read it: without the times of which the zone has hours only. */
export function withoutHoursOnlyZones(json: string): string {
  return json.replaceAll(HOURS_ONLY, '""');
}

/** Formats microseconds since 1970 as ISO 8601 in UTC with six decimals. */
export function formatInstant(instantMicros: number): string {
  const millis = Math.floor(instantMicros / 1000);
  const rest = String(instantMicros - millis * 1000).padStart(3, '0');
  return new Date(millis).toISOString().replace('Z', `${rest}Z`);
}

export function instantOrNull(instantMicros: number | undefined): string | null {
  return instantMicros === undefined ? null : formatInstant(instantMicros);
}
