/** An instant as JSON, null where there is none. */
export function isoOrNull(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}

/** A time for people, with its zone. */
export function formatTime(time: Date | null): string {
  return time === null
    ? '-'
    : time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC');
}
