/** The names that tokens may have. */

/** The name of the holder of ADMIN_TOKEN, which no other token may have. */
const RESERVED = 'admin';

const NAME = /^[a-z][a-z0-9._-]{0,63}$/;

/** @returns why a token cannot have this name; undefined if it can */
export function nameMistake(name: string): string | undefined {
  if (name === RESERVED) return 'This is the name of ADMIN_TOKEN.';
  if (NAME.test(name)) return undefined;
  return 'Give lowercase letters, digits, dots, underscores and hyphens, beginning with a letter, 64 at most.';
}
