/** Finds the holder of a token for a single command. */
import type { Queryable } from '../platform/db/database.ts';
import { markUsed, readValidTokens } from './store/tokens.ts';
import { digestOf } from './tokenText.ts';
import type { Holder } from './verifyToken.ts';

/** @returns undefined when the token is unknown, expired or revoked */
export async function findHolder(db: Queryable, text: string): Promise<Holder | undefined> {
  const digest = digestOf(text);
  const found = (await readValidTokens(db)).find((token) => token.digest.equals(digest));
  if (!found) return undefined;
  await markUsed(db, found.id);
  return { name: found.name, role: found.role };
}
