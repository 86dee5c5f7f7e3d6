/**
 * How the claims of an identity provider become a name and a role.
 *
 * 1. A claim is found by its whole name, or by a path with dots through objects: `realm_access.roles`.
 *    The whole name comes first, because names of some providers are addresses, which contain dots.
 * 2. Its value is a text or a list of texts. Everything else counts as no value.
 * 3. The name of a person contains the subject, which the provider never gives to somebody else. The
 *    readable part may change, and another person may have the same.
 */
import type { Role } from './roles.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** The values of a claim; undefined if the claims do not have it. */
export function valuesOf(claims: Claims, name: string): readonly string[] | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : atPath(claims, name.split('.'));
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return undefined;
  return value.filter((one) => typeof one === 'string');
}

function atPath(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const step of path) {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
    value = isObject ? (value as Claims)[step] : undefined;
  }
  return value;
}

/** The role of the first mapping with a value that the person has; undefined if there is none. */
export function roleOf(
  values: readonly string[],
  mappings: readonly { readonly value: string; readonly role: Role }[],
): Role | undefined {
  return mappings.find(({ value }) => values.includes(value))?.role;
}

const MAX_READABLE = 80;

/** The name for the audit log and for pages, such as `ada@shop.example (248289761001)`. */
export function personName(claims: Claims, subject: string): string {
  const readable = ['email', 'preferred_username', 'name']
    .map((name) => claims[name])
    .find((value): value is string => typeof value === 'string' && value.trim() !== '');
  if (readable === undefined) return `(${subject})`;
  const shown = readable.replaceAll(/\p{C}/gu, '').trim().slice(0, MAX_READABLE);
  return `${shown} (${subject})`;
}
