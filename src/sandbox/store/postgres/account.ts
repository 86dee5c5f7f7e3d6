/** Statements on the account: its clock and its keys. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { NewKey, StoredKey } from '../account.ts';

/** Whether nothing is stored that has a time of the sandbox's clock. */
export async function isEmpty(db: Queryable): Promise<boolean> {
  const rows = await db.query<{ isEmpty: boolean }>(
    `select not exists (select 1 from sandbox.resources)
        and not exists (select 1 from sandbox.customers)
        and not exists (select 1 from sandbox.payment_links)
        and not exists (select 1 from sandbox.api_keys where key_id is not null) as "isEmpty"`,
  );
  return rows[0]?.isEmpty ?? false;
}

/** How far the clock is ahead of the machine's, in milliseconds; negative when it is behind. */
export async function readAdvance(db: Queryable): Promise<number> {
  const rows = await db.query<{ advanceMs: number }>(
    'select clock_advance_ms as "advanceMs" from sandbox.account limit 1',
  );
  return rows[0]?.advanceMs ?? 0;
}

export async function storeAdvance(db: Queryable, advanceMs: number): Promise<void> {
  await db.query('update sandbox.account set clock_advance_ms = $1', [advanceMs]);
}

export async function upsertKey(db: Queryable, { sha256, kind }: NewKey): Promise<void> {
  await db.query(
    `insert into sandbox.api_keys (key_sha256, kind) values ($1, $2)
     on conflict (key_sha256) do update set revoked_at = null`,
    [sha256, kind],
  );
}

export async function readKey(db: Queryable, sha256: Buffer): Promise<StoredKey | undefined> {
  const rows = await db.query<StoredKey>(
    `select kind, revoked_at is not null as "isRevoked", expires_at as "expiresAt"
       from sandbox.api_keys
      where key_sha256 = $1`,
    [sha256],
  );
  return rows[0];
}

/** @returns false when there is no such key */
export async function revokeKey(
  db: Queryable,
  { sha256, at }: { readonly sha256: Buffer; readonly at: string },
): Promise<boolean> {
  const rows = await db.query(
    'update sandbox.api_keys set revoked_at = $2 where key_sha256 = $1 returning kind',
    [sha256, at],
  );
  return rows.length === 1;
}
