/** Statements on API keys as resources; account.ts has those for authentication. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { ApiKeyState } from '../../domain/apiKey.ts';
import type { Page } from '../page.ts';

/** Adds a secret key. @param sha256 of the key, which is not stored */
export async function insertApiKey(
  db: Queryable,
  state: ApiKeyState,
  sha256: Buffer,
): Promise<void> {
  await db.query(
    `insert into sandbox.api_keys
       (key_sha256, kind, key_id, name, description, prefix, created_at, expires_at)
     values ($1, 'secret', $2, $3, $4, $5, $6, $7)`,
    [
      sha256,
      state.key_id,
      state.name,
      state.description,
      state.prefix,
      state.created,
      state.expiration,
    ],
  );
}

interface ApiKeyRow extends Omit<ApiKeyState, 'created' | 'expiration'> {
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

function stateOf({ createdAt, expiresAt, ...row }: ApiKeyRow): ApiKeyState {
  return {
    ...row,
    created: createdAt.toISOString(),
    expiration: expiresAt?.toISOString() ?? null,
  };
}

/** Reads a key that is not revoked. */
export async function readApiKey(db: Queryable, keyId: string): Promise<ApiKeyState | undefined> {
  const rows = await db.query<ApiKeyRow>(
    `select key_id, name, description, prefix, created_at as "createdAt", expires_at as "expiresAt"
       from sandbox.api_keys
      where key_id = $1 and revoked_at is null`,
    [keyId],
  );
  return rows[0] && stateOf(rows[0]);
}

/** The same, with its row locked until the transaction ends. */
export async function lockApiKey(tx: Queryable, keyId: string): Promise<ApiKeyState | undefined> {
  const rows = await tx.query<ApiKeyRow>(
    `select key_id, name, description, prefix, created_at as "createdAt", expires_at as "expiresAt"
       from sandbox.api_keys
      where key_id = $1 and revoked_at is null
        for update`,
    [keyId],
  );
  return rows[0] && stateOf(rows[0]);
}

/** Writes a changed key. Its row is locked by the caller. */
export async function updateApiKey(tx: Queryable, state: ApiKeyState): Promise<void> {
  await tx.query(
    `update sandbox.api_keys set name = $2, description = $3, expires_at = $4 where key_id = $1`,
    [state.key_id, state.name, state.description, state.expiration],
  );
}

/** @param at ISO 8601. @returns false when there is no such key, or it was revoked before */
export async function revokeApiKey(db: Queryable, keyId: string, at: string): Promise<boolean> {
  const rows = await db.query(
    `update sandbox.api_keys set revoked_at = $2
      where key_id = $1 and revoked_at is null
      returning key_id`,
    [keyId, at],
  );
  return rows.length === 1;
}

/** One page, newest first, without those that are revoked. */
export async function listApiKeys(db: Queryable, page: Page): Promise<ApiKeyState[]> {
  const rows = await db.query<ApiKeyRow>(
    `select key_id, name, description, prefix, created_at as "createdAt", expires_at as "expiresAt"
       from sandbox.api_keys
      where key_id is not null and revoked_at is null
      order by created_at desc, key_id desc
      limit $1 offset $2`,
    [page.limit, page.offset],
  );
  return rows.map(stateOf);
}

/** How many there are in all, without those that are revoked. */
export async function countApiKeys(db: Queryable): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count from sandbox.api_keys
      where key_id is not null and revoked_at is null`,
  );
  return rows[0]?.count ?? 0;
}
