/** Statements on sessions of the console. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import type { Role } from '../domain/roles.ts';

/** More sessions than an installation needs; a bound for what is read into memory. */
const MAX_SESSIONS = 1_000;

/** What the cookie of a request is checked against. */
export interface OpenSession {
  readonly id: number;
  readonly digest: Buffer;
  readonly holder: string;
  readonly signIn: SignInKind;
  /** Null for a person of the provider. */
  readonly tokenDigest: Buffer | null;
  readonly issuer: string | null;
  readonly role: Role | null;
}

/** How a session started: with a token, by a link, or at the identity provider. */
export type SignInKind = 'token' | 'link' | 'provider';

/** Sessions that have started, and have neither ended nor expired nor been idle for too long. */
export function readOpenSessions(db: Queryable, idleMs: number): Promise<readonly OpenSession[]> {
  return db.query<OpenSession>(
    `select id, digest, holder, sign_in as "signIn", token_digest as "tokenDigest", issuer, role
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
  readonly holder: string;
  readonly actsFor: ActsFor;
  readonly origin: string;
  readonly userAgent: string;
  readonly lifetimeMs: number;
}

/** What a session has its role from: a token, at each request, or the sign-in at the provider. */
export type ActsFor =
  | { readonly signIn: 'token'; readonly tokenDigest: Buffer }
  | {
      readonly signIn: 'provider';
      readonly issuer: string;
      readonly subject: string;
      readonly role: Role;
    };

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
    `insert into console_sessions (digest, token_digest, holder, sign_in, expires_at)
     values (decode($1, 'hex'), decode($2, 'hex'), $3, 'link',
             statement_timestamp() + $4::double precision * interval '1 millisecond')`,
    [link.digest.toString('hex'), link.tokenDigest.toString('hex'), link.holder, link.lifetimeMs],
  );
}

/** The tokens for which links that nobody used yet start a session. */
export function readLinkTokens(
  db: Queryable,
  linkDigests: readonly Buffer[],
): Promise<readonly { readonly digest: Buffer; readonly tokenDigest: Buffer }[]> {
  return db.query(
    `select digest, token_digest as "tokenDigest" from console_sessions
      where digest = any ($1::bytea[]) and started_at is null and ended_at is null
        and expires_at > statement_timestamp()
      limit $2`,
    [linkDigests, linkDigests.length],
  );
}

/** A session that has just started. */
export interface StartedSession {
  readonly id: number;
  readonly expiresAt: Date;
}

/** Starts the session of a link, once. @returns undefined if the link is used or old */
export async function startLinked(
  db: Queryable,
  linkDigest: Buffer,
  session: Pick<NewSession, 'digest' | 'origin' | 'userAgent' | 'lifetimeMs'>,
): Promise<StartedSession | undefined> {
  const [row] = await db.query<StartedSession>(
    `update console_sessions
        set digest = decode($2, 'hex'), origin = $3, user_agent = $4,
            started_at = statement_timestamp(), last_seen_at = statement_timestamp(),
            expires_at = statement_timestamp() + $5::double precision * interval '1 millisecond'
      where digest = decode($1, 'hex') and started_at is null and ended_at is null
        and expires_at > statement_timestamp()
      returning id, expires_at as "expiresAt"`,
    [
      linkDigest.toString('hex'),
      session.digest.toString('hex'),
      session.origin,
      session.userAgent,
      session.lifetimeMs,
    ],
  );
  return row;
}

/** An open session as it is listed. */
export interface SessionRow {
  readonly id: number;
  readonly holder: string;
  readonly signIn: SignInKind;
  readonly origin: string | null;
  readonly userAgent: string | null;
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
}

export interface SessionPage {
  /** Sessions that nobody used for so long have ended. */
  readonly idleMs: number;
  /** Only this one. */
  readonly only?: number | undefined;
  /** Only sessions of the same person as this one. */
  readonly samePersonAs?: number | undefined;
  /** Only those with a lower number. */
  readonly below?: number | undefined;
  readonly limit: number;
}

/** Sessions `s` of the person of session `one`: of the same token, or of the same subject of the provider. */
const SAME_PERSON = `
  (s.token_digest = one.token_digest or (s.issuer = one.issuer and s.subject = one.subject))`;

/** Sessions that have neither ended nor expired nor been idle for too long, newest first. */
export function readSessionRows(
  db: Queryable,
  { idleMs, only, samePersonAs, below, limit }: SessionPage,
): Promise<readonly SessionRow[]> {
  return db.query<SessionRow>(
    `select s.id, s.holder, s.sign_in as "signIn", s.origin, s.user_agent as "userAgent",
            s.started_at as "startedAt", s.last_seen_at as "lastSeenAt", s.expires_at as "expiresAt"
       from console_sessions s
      where s.ended_at is null and s.started_at is not null and s.expires_at > statement_timestamp()
        and s.last_seen_at > statement_timestamp() - $5::double precision * interval '1 millisecond'
        and ($1::bigint is null
             or exists (select from console_sessions one where one.id = $1 and ${SAME_PERSON}))
        and ($2::bigint is null or s.id < $2)
        and ($4::bigint is null or s.id = $4)
      order by s.id desc limit $3`,
    [samePersonAs ?? null, below ?? null, limit, only ?? null, idleMs],
  );
}

/** Starts a session. */
export async function insertSession(db: Queryable, session: NewSession): Promise<StartedSession> {
  const { actsFor } = session;
  const [token, person] = actsFor.signIn === 'token' ? [actsFor, undefined] : [undefined, actsFor];
  const rows = await db.query<StartedSession>(
    `insert into console_sessions
       (digest, token_digest, holder, origin, user_agent, sign_in, issuer, subject, role,
        started_at, last_seen_at, expires_at)
     values (decode($1, 'hex'), decode($2, 'hex'), $3, $4, $5, $7, $8, $9, $10,
             statement_timestamp(), statement_timestamp(),
             statement_timestamp() + $6::double precision * interval '1 millisecond')
     returning id, expires_at as "expiresAt"`,
    [
      session.digest.toString('hex'),
      token?.tokenDigest.toString('hex') ?? null,
      session.holder,
      session.origin,
      session.userAgent,
      session.lifetimeMs,
      actsFor.signIn,
      person?.issuer ?? null,
      person?.subject ?? null,
      person?.role ?? null,
    ],
  );
  return oneRow(rows);
}

/** Records that sessions were used. */
export async function touchSessions(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    `update console_sessions set last_seen_at = statement_timestamp()
      where id = any ($1::bigint[])`,
    [ids],
  );
}

export interface EndedSession {
  readonly id: number;
  readonly holder: string;
}

/** Ends a session. @returns none if it has ended already */
export async function endSession(db: Queryable, id: number): Promise<readonly EndedSession[]> {
  return await db.query<EndedSession>(
    `update console_sessions set ended_at = statement_timestamp()
      where id = $1 and ended_at is null and expires_at > statement_timestamp()
      returning id, holder`,
    [id],
  );
}

/** Ends every session of the person of a session, also links that nobody used yet. @returns the sessions that had started */
export async function endSessionsOfSamePerson(
  db: Queryable,
  id: number,
): Promise<readonly EndedSession[]> {
  const rows = await db.query<EndedSession & { isStarted: boolean }>(
    `update console_sessions s set ended_at = statement_timestamp()
       from console_sessions one
      where one.id = $1 and s.ended_at is null and s.expires_at > statement_timestamp()
        and ${SAME_PERSON}
      returning s.id, s.holder, s.started_at is not null as "isStarted"`,
    [id],
  );
  return rows.filter(({ isStarted }) => isStarted);
}

/** Makes other sign-ins of the person of a session wait for this transaction, so that each counts those before it. */
export async function lockPerson(tx: Queryable, id: number): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('tallyhook sessions of ' ||
              coalesce(encode(token_digest, 'hex'), issuer || ' ' || subject), 0))
       from console_sessions where id = $1`,
    [id],
  );
}

/** Ends the sessions of the person of a session, but for the newest ones. */
export async function endOldestSessions(
  db: Queryable,
  { id, kept }: { readonly id: number; readonly kept: number },
): Promise<readonly EndedSession[]> {
  return await db.query<EndedSession>(
    `update console_sessions set ended_at = statement_timestamp()
      where id in (select s.id
                     from console_sessions s
                     join console_sessions one on ${SAME_PERSON}
                    where one.id = $1 and s.started_at is not null and s.ended_at is null
                      and s.expires_at > statement_timestamp()
                    order by s.id desc offset $2)
      returning id, holder`,
    [id, kept],
  );
}
