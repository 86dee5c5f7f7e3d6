/** Statements on sessions of the console. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';

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

/** A sign-in link: a session that has not started. */
export interface NewLink {
  readonly digest: Buffer;
  readonly tokenDigest: Buffer;
  readonly holder: string;
  readonly lifetimeMs: number;
}

/** Prepares a session that its link starts. */
export async function insertLink(db: Queryable, link: NewLink): Promise<void> {
  await db.query(
    `insert into console_sessions (digest, token_digest, holder, expires_at)
     values (decode($1, 'hex'), decode($2, 'hex'), $3,
             statement_timestamp() + $4::double precision * interval '1 millisecond')`,
    [link.digest.toString('hex'), link.tokenDigest.toString('hex'), link.holder, link.lifetimeMs],
  );
}

/** Starts the session of a link, once. @returns the digest of its token; undefined if the link is used or old */
export async function startLinked(
  db: Queryable,
  linkDigest: Buffer,
  session: Pick<NewSession, 'digest' | 'origin' | 'userAgent' | 'lifetimeMs'>,
): Promise<Buffer | undefined> {
  const [row] = await db.query<{ tokenDigest: Buffer }>(
    `update console_sessions
        set digest = decode($2, 'hex'), origin = $3, user_agent = $4,
            started_at = statement_timestamp(), last_seen_at = statement_timestamp(),
            expires_at = statement_timestamp() + $5::double precision * interval '1 millisecond'
      where digest = decode($1, 'hex') and started_at is null and ended_at is null
        and expires_at > statement_timestamp()
      returning token_digest as "tokenDigest"`,
    [
      linkDigest.toString('hex'),
      session.digest.toString('hex'),
      session.origin,
      session.userAgent,
      session.lifetimeMs,
    ],
  );
  return row?.tokenDigest;
}

/** An open session as it is listed. */
export interface SessionRow {
  readonly id: number;
  readonly holder: string;
  readonly origin: string | null;
  readonly userAgent: string | null;
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

/** Open sessions, newest first. */
export function readSessionRows(db: Queryable): Promise<readonly SessionRow[]> {
  return db.query<SessionRow>(
    `select id, holder, origin, user_agent as "userAgent", started_at as "startedAt",
            last_seen_at as "lastSeenAt", expires_at as "expiresAt"
       from console_sessions
      where ended_at is null and started_at is not null and expires_at > statement_timestamp()
      order by id desc limit $1`,
    [MAX_SESSIONS],
  );
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

/** Ends a session. @returns its holder; undefined if it has ended already */
export async function endSession(db: Queryable, id: number): Promise<string | undefined> {
  const [row] = await db.query<{ holder: string }>(
    `update console_sessions set ended_at = statement_timestamp()
      where id = $1 and ended_at is null
      returning holder`,
    [id],
  );
  return row?.holder;
}
