/** Links that sign a person in to the console once, for whoever holds a token. */
import { randomBytes } from 'node:crypto';
import type { Queryable } from '../platform/db/database.ts';
import { MINUTE_MS } from '../platform/time.ts';
import { insertLink } from './store/sessions.ts';
import { digestOf } from './tokenText.ts';

export const LINK_LIFETIME_MS = 5 * MINUTE_MS;
const CODE_BYTES = 32;

/**
 * Prepares a link. The session that it starts acts for the token.
 * @param token a valid one
 * @param holder the name of its holder
 * @param next the page to which the link leads; undefined: the overview
 * @returns its path and query at the console
 */
export async function createSignInPath(
  db: Queryable,
  {
    token,
    holder,
    next,
  }: { readonly token: string; readonly holder: string; readonly next?: string | undefined },
): Promise<string> {
  const code = randomBytes(CODE_BYTES).toString('base64url');
  await insertLink(db, {
    digest: digestOf(code),
    tokenDigest: digestOf(token),
    holder,
    lifetimeMs: LINK_LIFETIME_MS,
  });
  return `/sign-in?${new URLSearchParams({ code, ...(next === undefined ? {} : { next }) })}`;
}
