/** Statements on tokens. Times are the database's. */
import { lockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Role } from '../domain/roles.ts';

/** More tokens than an installation needs; a bound for what is read into memory. */
export const MAX_TOKENS = 1_000;

/** What a request with the token is checked against. */
export interface ValidToken {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly digest: Buffer;
  readonly expiresAt: Date | null;
}

/** Tokens that are neither revoked nor expired. */
export function readValidTokens(db: Queryable): Promise<readonly ValidToken[]> {
  return db.query<ValidToken>(
    `select id, name, role, digest, expires_at as "expiresAt"
       from tokens
      where revoked_at is null
        and (expires_at is null or expires_at > statement_timestamp())
      order by id limit $1`,
    [MAX_TOKENS],
  );
}

/** A token as it is listed, without its digest. */
export interface TokenRow {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly state: 'valid' | 'expired' | 'revoked';
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
}

const COLUMNS = `
  id, name, role,
  case when revoked_at is not null then 'revoked'
       when expires_at <= statement_timestamp() then 'expired'
       else 'valid' end as state,
  created_at as "createdAt", created_by as "createdBy", last_used_at as "lastUsedAt",
  expires_at as "expiresAt", revoked_at as "revokedAt", revoked_by as "revokedBy"`;

export interface TokenPage {
  /** Also those that are expired or revoked. */
  readonly all: boolean;
  /** Only those created before the token of this number. */
  readonly below?: number | undefined;
  readonly limit: number;
}

/** Tokens, newest first. */
export function readTokenRows(
  db: Queryable,
  { all, below, limit }: TokenPage,
): Promise<readonly TokenRow[]> {
  return db.query<TokenRow>(
    `select ${COLUMNS}
       from tokens
      where ($1 or (revoked_at is null
                    and (expires_at is null or expires_at > statement_timestamp())))
        and ($2::bigint is null or id < $2)
      order by id desc limit $3`,
    [all, below ?? null, limit],
  );
}

/** A valid token that expires soon. */
export interface ExpiringToken {
  readonly name: string;
  readonly role: Role;
  readonly expiresAt: Date;
}

/** Valid tokens that expire within a time, the next one first. */
export function readExpiringTokens(
  db: Queryable,
  withinMs: number,
): Promise<readonly ExpiringToken[]> {
  return db.query<ExpiringToken>(
    `select name, role, expires_at as "expiresAt"
       from tokens
      where revoked_at is null and expires_at > statement_timestamp()
        and expires_at < statement_timestamp() + $1::double precision * interval '1 millisecond'
      order by expires_at, id limit $2`,
    [withinMs, MAX_TOKENS],
  );
}

/** Lets creations wait for this transaction, so that together they keep to the maximum. */
export async function lockTokens(tx: Queryable): Promise<void> {
  await lockByName(tx, 'tokens');
}

/** How many tokens are valid. */
export async function countValidTokens(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    `select count(*) as count
       from tokens
      where revoked_at is null and (expires_at is null or expires_at > statement_timestamp())`,
  );
  return row?.count ?? 0;
}

export interface NewToken {
  readonly name: string;
  readonly role: Role;
  readonly digest: Buffer;
  readonly createdBy: string;
  /** Undefined: the token does not expire. */
  readonly expiresInMs: number | undefined;
}

/** Inserts a token. @returns undefined when an unrevoked token has its name */
export async function insertToken(db: Queryable, token: NewToken): Promise<TokenRow | undefined> {
  const rows = await db.query<TokenRow>(
    `insert into tokens (name, role, digest, created_by, expires_at)
     values ($1, $2, decode($3, 'hex'), $4,
             statement_timestamp() + $5::double precision * interval '1 millisecond')
     on conflict (name) where revoked_at is null do nothing
     returning ${COLUMNS}`,
    [
      token.name,
      token.role,
      token.digest.toString('hex'),
      token.createdBy,
      token.expiresInMs ?? null,
    ],
  );
  return rows[0];
}

/** Revokes the token of this name if it is expired, so that its name can be used again. */
export async function revokeExpired(
  db: Queryable,
  { name, by }: { readonly name: string; readonly by: string },
): Promise<void> {
  await db.query(
    `update tokens set revoked_at = statement_timestamp(), revoked_by = $2
      where name = $1 and revoked_at is null and expires_at <= statement_timestamp()`,
    [name, by],
  );
}

/** The token that is revoked. */
export interface NamedToken {
  readonly name: string;
  /** Its number, where it was shown: a later token may have its name. */
  readonly id?: number | undefined;
}

/** Revokes the token of this name, expired or not. @returns undefined when there is none */
export async function revokeToken(
  db: Queryable,
  { name, id, by }: NamedToken & { readonly by: string },
): Promise<TokenRow | undefined> {
  const rows = await db.query<TokenRow>(
    `update tokens set revoked_at = statement_timestamp(), revoked_by = $2
      where name = $1 and revoked_at is null and ($3::bigint is null or id = $3)
      returning ${COLUMNS}`,
    [name, by, id ?? null],
  );
  return rows[0];
}

/** Records that a token was used, unless that was recorded within the last minute. */
export async function markUsed(db: Queryable, id: number): Promise<void> {
  await db.query(
    `update tokens set last_used_at = statement_timestamp()
      where id = $1
        and (last_used_at is null or last_used_at < statement_timestamp() - interval '1 minute')`,
    [id],
  );
}
