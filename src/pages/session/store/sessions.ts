/** Statements on sessions of the console. Times are the database's. */
import type { Queryable } from '../../../platform/db/database.ts';

/** More sessions than an installation needs; a bound for what is read into memory. */
const MAX_SESSIONS = 1_000;

/** What the cookie of a request is checked against. */
export interface OpenSession {
  readonly id: number;
  readonly digest: Buffer;
  readonly tokenDigest: Buffer;
}

/** Sessions that have started, and have neither ended nor expired nor been idle for too long. */
export function readOpenSessions(db: Queryable, idleMs: number): Promise<readonly OpenSession[]> {
  return db.query<OpenSession>(
    `select id, digest, token_digest as "tokenDigest"
       from console_sessions
      where ended_at is null
        and expires_at > statement_timestamp()
        and last_seen_at > statement_timestamp() - $1::double precision * interval '1 millisecond'
      order by id desc limit $2`,
    [idleMs, MAX_SESSIONS],
  );
}

export interface NewSession {
  readonly digest: Buffer;
  readonly tokenDigest: Buffer;
  readonly holder: string;
  readonly origin: string;
  readonly userAgent: string;
  readonly lifetimeMs: number;
}

/** Starts a session. */
export async function insertSession(db: Queryable, session: NewSession): Promise<void> {
  await db.query(
    `insert into console_sessions
       (digest, token_digest, holder, origin, user_agent, started_at, last_seen_at, expires_at)
     values (decode($1, 'hex'), decode($2, 'hex'), $3, $4, $5, statement_timestamp(), statement_timestamp(),
             statement_timestamp() + $6::double precision * interval '1 millisecond')`,
    [
      session.digest.toString('hex'),
      session.tokenDigest.toString('hex'),
      session.holder,
      session.origin,
      session.userAgent,
      session.lifetimeMs,
    ],
  );
}

/** Records that sessions were used. */
export async function touchSessions(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    `update console_sessions set last_seen_at = statement_timestamp()
      where id = any ($1::bigint[])`,
    [ids],
  );
}

/** Ends a session. */
export async function endSession(db: Queryable, id: number): Promise<void> {
  await db.query(
    `update console_sessions set ended_at = statement_timestamp()
      where id = $1 and ended_at is null`,
    [id],
  );
}
