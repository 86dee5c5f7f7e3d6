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

const MINUTE_MS = 60_000;

/** How long something can still be done, rounded down; undefined if its deadline has passed. */
export function timeLeftText(leftMs: number): string | undefined {
  if (leftMs <= 0) return undefined;
  const minutes = Math.floor(leftMs / MINUTE_MS);
  if (minutes < 1) return 'less than 1 minute';
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
