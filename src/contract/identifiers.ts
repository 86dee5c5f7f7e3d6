/**
 * Identifiers as they come from outside. They name rows, log lines and URL paths, so only
 * printable text of a bounded length counts as one.
 */

const MAX_ID_LENGTH = 255;

/**
 * Reads an identifier. Returns undefined unless `value` is a string of 1 to 255 printable
 * characters (no control characters, no lone surrogates, no leading or trailing white space).
 */
export function parseId(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_ID_LENGTH) {
    return undefined;
  }
  return /^[^\p{C}\p{Z}](?:[^\p{C}]*[^\p{C}\p{Z}])?$/u.test(value) ? value : undefined;
}
