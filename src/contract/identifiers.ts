/**
 * Validates ids from outside. Ids name rows, log lines and URL paths, so only printable text of
 * limited length is accepted.
 */

const MAX_ID_LENGTH = 255;

/**
 * Returns the id, or undefined unless `value` is a string of 1 to 255 printable characters without
 * control characters, lone surrogates, or leading or trailing white space.
 */
export function parseId(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_ID_LENGTH) {
    return undefined;
  }
  return /^[^\p{C}\p{Z}](?:[^\p{C}]*[^\p{C}\p{Z}])?$/u.test(value) ? value : undefined;
}
