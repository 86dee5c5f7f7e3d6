/** Tokens of the database, as `tallyhook tokens` creates and revokes them. */
import { ROLES, type Role } from '../../src/access/domain/roles.ts';
import { createTokenAs, revokeTokenAs } from '../../src/actions/manageTokens.ts';
import type { Database } from '../../src/platform/db/database.ts';

const ACTOR = { kind: 'cli', name: 'test', role: 'admin', origin: 'test@test' } as const;

export interface TestToken {
  readonly name: string;
  readonly role: Role;
  readonly expiresInMs?: number;
}

/** Creates a token, and returns its text. */
export async function createTestToken(
  db: Database,
  { name, role, expiresInMs }: TestToken,
): Promise<string> {
  const created = await createTokenAs({ db }, ACTOR, { name, role, expiresInMs });
  if (created.outcome !== 'created') throw new Error(`no token was created: ${created.outcome}`);
  return created.text;
}

export async function revokeTestToken(db: Database, name: string): Promise<void> {
  await revokeTokenAs({ db }, ACTOR, { name });
}

/** A token of every role by the role's name, one that is `expired` and one that is `revoked`. */
export async function createTokensOfEveryKind(db: Database): Promise<Map<string, string>> {
  const tokens = new Map<string, string>();
  for (const role of ROLES) {
    tokens.set(role, await createTestToken(db, { name: `a-${role}`, role }));
  }
  const expired = { name: 'expired', role: 'admin', expiresInMs: 0 } as const;
  tokens.set('expired', await createTestToken(db, expired));
  tokens.set('revoked', await createTestToken(db, { name: 'revoked', role: 'admin' }));
  await revokeTestToken(db, 'revoked');
  return tokens;
}
