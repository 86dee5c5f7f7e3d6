/**
 * Sessions of the console's pages.
 *
 * 1. A session acts for a token: its role and validity are those of the token at each request. Or it acts
 *    for a person of the identity provider: it keeps the role that the sign-in gave until it ends, and it
 *    ends when the settings name another provider or none.
 * 2. The cookie is 32 random bytes, of which the database has the digest. The token itself is not kept.
 * 3. Open sessions are kept in memory for five seconds, as valid tokens are (access/verifyToken.ts), so
 *    many viewers cost one query. A session that another process started is found within a second.
 * 4. A request for a page is a use, so an unattended page becomes idle.
 * 5. A sign-in link (signInLink.ts) has a code of its own, starts one session, and is valid for five minutes. Links are
 *    looked up by one statement at a time, so whoever sends codes at random does not occupy the connections of pages.
 * 6. The start and the end of a session are in the audit log, in the same transaction.
 * 7. A person has a bounded number of sessions, of which the oldest ends, also if several start at once: a program that
 *    signs in again and again would otherwise sign everybody else out, because the sessions in memory are bounded, too.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { monotonicMs } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import type { Role } from './domain/roles.ts';
import {
  type ActsFor,
  endOldestSessions,
  endSession,
  insertSession,
  lockPerson,
  type OpenSession,
  readLinkTokens,
  readOpenSessions,
  type SignInKind,
  type StartedSession,
  startLinked,
  touchSessions,
} from './store/sessions.ts';
import { digestOf } from './tokenText.ts';
import type { Holder, TokenVerifier, Verified } from './verifyToken.ts';

const FRESH_MS = 5 * SECOND_MS;
const FRESH_FOR_UNKNOWN_MS = SECOND_MS;
const COOKIE_BYTES = 32;
const MAX_USER_AGENT_LENGTH = 200;
/** Of one person, in all browsers. */
const MAX_OF_PERSON = 50;

export interface Session {
  readonly id: number;
  readonly holder: Holder;
  readonly signIn: SignInKind;
  /** The token may be revoked: the database could not be read for a while. */
  readonly isStale: boolean;
  /** Proves that a form was sent from a page of this session. */
  readonly formToken: string;
  /** Signs what the session's own addresses carry. */
  readonly sign: (text: string) => string;
}

/** A session that was started. */
export interface Started {
  readonly outcome: 'signed_in';
  readonly cookie: string;
  readonly lifetimeMs: number;
}

export type SignedIn = Started | { readonly outcome: 'invalid' | 'unverifiable' };

/** Whom the identity provider named, and the role that its claims give. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  /** For the audit log: unique, because it contains the subject. */
  readonly name: string;
  readonly role: Role;
}

export interface Client {
  readonly address: string;
  readonly userAgent: string;
}

export interface Sessions {
  signIn(token: string, client: Client): Promise<SignedIn>;
  /** Starts the session of a person whom the provider named. */
  signInPerson(person: Person, client: Client): Promise<Started>;
  /** Starts the session of a sign-in link. */
  followLink(code: string, client: Client): Promise<SignedIn>;
  /** @returns undefined if there is no such session any more */
  find(cookie: string): Promise<Session | undefined>;
  /** Records a use, at most once a minute, without holding up the request. */
  touch(id: number): void;
  /** Ends a session for its holder. */
  signOut(session: Session, client: Pick<Client, 'address'>): Promise<void>;
}

/** Who acts in a session. */
export function actorOf({ holder, signIn }: Pick<Session, 'holder' | 'signIn'>, origin: string) {
  const kind = signIn === 'provider' ? 'person' : 'token';
  return { kind, ...holder, origin } as const satisfies Actor;
}

export interface SessionParts {
  readonly db: Database;
  readonly tokens: TokenVerifier;
  /** A session ends when nobody used it for so long. */
  readonly idleMs: number;
  /** A session ends after so long, used or not. */
  readonly lifetimeMs: number;
  /** The identity provider of the settings; undefined: there is none. */
  readonly issuer: string | undefined;
}

export function createSessions(parts: SessionParts): Sessions {
  const { db } = parts;
  const open = createOpenList(db, parts.idleMs);
  const touchedAtMs = new Map<number, number>();
  const starts = createStarts(parts, open.expire);
  return {
    ...starts,
    find: async (cookie) => {
      const digest = digestOf(cookie).toString('hex');
      const known = (await open.read(FRESH_MS)).get(digest);
      const session = known ?? (await open.read(FRESH_FOR_UNKNOWN_MS)).get(digest);
      if (!session) return undefined;
      const verified = await verifySession(session, parts);
      if (verified.outcome !== 'valid') return undefined;
      const sign = (text: string) => createHmac('sha256', cookie).update(text).digest('base64url');
      const { holder, isStale } = verified;
      const { id, signIn } = session;
      return { id, holder, signIn, isStale, formToken: sign('form'), sign };
    },
    touch: (id) => {
      const nowMs = monotonicMs();
      if (nowMs - (touchedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
      touchedAtMs.set(id, nowMs);
      // A use that cannot be recorded must not fail the request.
      void touchSessions(db, [id]).catch(() => undefined);
    },
    signOut: async (session, { address }) => {
      const { id, holder } = session;
      touchedAtMs.delete(id);
      await db.transaction(async (tx) => {
        if ((await endSession(tx, id)).length === 0) return;
        await recordAudit(tx, {
          actor: actorOf(session, address),
          action: 'session.end',
          subject: { kind: 'session', id: String(id) },
          detail: { holder: holder.name, sessions: 1 },
        });
      });
      open.expire();
    },
  };
}

/** Whom a session acts for, and whether it still may. */
async function verifySession(
  { holder, issuer, role, tokenDigest }: OpenSession,
  parts: Pick<SessionParts, 'tokens' | 'issuer'>,
): Promise<Verified> {
  if (tokenDigest !== null) return await parts.tokens.verifyDigest(tokenDigest);
  if (role === null || issuer !== parts.issuer) return { outcome: 'invalid' };
  return { outcome: 'valid', holder: { name: holder, role }, isStale: false };
}

/** The ways to start a session. @param started called after each start */
function createStarts(
  { db, tokens, lifetimeMs }: SessionParts,
  started: () => void,
): Pick<Sessions, 'signIn' | 'signInPerson' | 'followLink'> {
  const start = async (
    holder: Holder,
    actsFor: ActsFor,
    { address, userAgent }: Client,
  ): Promise<Started> => {
    const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
    await db.transaction(async (tx) => {
      const session = await insertSession(tx, {
        digest: digestOf(cookie),
        actsFor,
        holder: holder.name,
        origin: address,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        lifetimeMs,
      });
      await recordStart(tx, session, { holder, signIn: actsFor.signIn, address });
    });
    started();
    return { outcome: 'signed_in', cookie, lifetimeMs };
  };
  const findToken = createLinkReader(db);
  return {
    signIn: async (token, client) => {
      const verified = await tokens.verify(token);
      if (verified.outcome !== 'valid') return { outcome: verified.outcome };
      return await start(
        verified.holder,
        { signIn: 'token', tokenDigest: digestOf(token) },
        client,
      );
    },
    signInPerson: ({ name, role, issuer, subject }, client) =>
      start({ name, role }, { signIn: 'provider', issuer, subject, role }, client),
    followLink: async (code, { address, userAgent }) => {
      const tokenDigest = await findToken(digestOf(code));
      if (!tokenDigest) return { outcome: 'invalid' };
      const verified = await tokens.verifyDigest(tokenDigest);
      if (verified.outcome !== 'valid') return { outcome: verified.outcome };
      const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
      const isStarted = await db.transaction(async (tx) => {
        const session = await startLinked(tx, digestOf(code), {
          digest: digestOf(cookie),
          origin: address,
          userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
          lifetimeMs,
        });
        if (!session) return false;
        await recordStart(tx, session, { holder: verified.holder, signIn: 'link', address });
        return true;
      });
      if (!isStarted) return { outcome: 'invalid' };
      started();
      return { outcome: 'signed_in', cookie, lifetimeMs };
    },
  };
}

/** Finds the token of a link. Links that arrive while a statement runs are looked up together by the next one. */
function createLinkReader(db: Queryable): (linkDigest: Buffer) => Promise<Buffer | undefined> {
  let waiting: Buffer[] = [];
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<ReadonlyMap<string, Buffer>> | undefined;
  const readNext = async () => {
    await underWay.catch(() => undefined);
    const reading = readLinkTokens(db, waiting);
    [waiting, underWay, next] = [[], reading, undefined];
    const found = await reading;
    return new Map(found.map(({ digest, tokenDigest }) => [digest.toString('hex'), tokenDigest]));
  };
  return async (linkDigest) => {
    waiting.push(linkDigest);
    next ??= readNext();
    return (await next).get(linkDigest.toString('hex'));
  };
}

async function recordStart(
  tx: Queryable,
  { id, expiresAt }: StartedSession,
  { holder, signIn, address }: Pick<Session, 'holder' | 'signIn'> & Pick<Client, 'address'>,
): Promise<void> {
  const actor = actorOf({ holder, signIn }, address);
  await recordAudit(tx, {
    actor,
    action: 'session.start',
    subject: { kind: 'session', id: String(id) },
    detail: { sign_in: signIn, expires_at: expiresAt.toISOString() },
  });
  await lockPerson(tx, id);
  for (const ended of await endOldestSessions(tx, { id, kept: MAX_OF_PERSON })) {
    await recordAudit(tx, {
      actor,
      action: 'session.end',
      subject: { kind: 'session', id: String(ended.id) },
      detail: { holder: ended.holder, sessions: 1, cause: 'too_many' },
    });
  }
}

function createOpenList(db: Queryable, idleMs: number) {
  let list: ReadonlyMap<string, OpenSession> = new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<ReadonlyMap<string, OpenSession>> | undefined;
  /** How often the list was expired. What was read before that may have a session that has ended since. */
  let expirations = 0;

  const load = async (): Promise<ReadonlyMap<string, OpenSession>> => {
    const startMs = monotonicMs();
    const before = expirations;
    try {
      const sessions = await readOpenSessions(db, idleMs);
      const read = new Map(sessions.map((session) => [session.digest.toString('hex'), session]));
      if (before === expirations) {
        list = read;
        readAtMs = startMs;
      }
      return read;
    } finally {
      if (before === expirations) reading = undefined;
    }
  };

  return {
    read: async (maxAgeMs: number): Promise<ReadonlyMap<string, OpenSession>> => {
      if (monotonicMs() - readAtMs <= maxAgeMs) return list;
      reading ??= load();
      return await reading;
    },
    /** The next request reads again. */
    expire: (): void => {
      expirations += 1;
      readAtMs = Number.NEGATIVE_INFINITY;
      reading = undefined;
    },
  };
}
