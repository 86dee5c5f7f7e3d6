/**
 * Creates a token.
 *
 * 1. Of the tokens that are not revoked, each has a name of its own: the name shows who acted.
 * 2. A name can be used again after its token expired or was revoked. The expired one counts as
 *    revoked from then on.
 * 3. The text of a token is returned once and is not stored.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { Role } from './domain/roles.ts';
import {
  countValidTokens,
  insertToken,
  lockTokens,
  MAX_TOKENS,
  revokeExpired,
  type TokenRow,
} from './store/tokens.ts';
import { createTokenText, digestOf } from './tokenText.ts';

export interface TokenRequest {
  readonly name: string;
  readonly role: Role;
  /** Undefined: the token does not expire. */
  readonly expiresInMs: number | undefined;
}

export type CreatedToken =
  | { readonly outcome: 'created'; readonly text: string; readonly token: TokenRow }
  | { readonly outcome: 'name_taken' }
  | { readonly outcome: 'too_many' };

/** @param by name of the person who creates it */
export async function createToken(
  tx: Queryable,
  request: TokenRequest,
  by: string,
): Promise<CreatedToken> {
  const { name, role } = request;
  await lockTokens(tx);
  await revokeExpired(tx, { name, by });
  if ((await countValidTokens(tx)) >= MAX_TOKENS) return { outcome: 'too_many' };
  const text = createTokenText(role);
  const token = await insertToken(tx, { ...request, digest: digestOf(text), createdBy: by });
  return token ? { outcome: 'created', text, token } : { outcome: 'name_taken' };
}
