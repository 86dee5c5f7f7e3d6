/** Tokens of the database, as `tallyhook tokens` creates and revokes them. */
import type { Role } from '../../src/access/domain/roles.ts';
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
