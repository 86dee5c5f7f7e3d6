/** An instant as JSON, null where there is none. */
export function isoOrNull(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}
