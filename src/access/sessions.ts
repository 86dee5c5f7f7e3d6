/**
 * Sessions of the console's pages.
 *
 * 1. A session acts for a token: its role and validity are those of the token at each request.
 * 2. The cookie is 32 random bytes, of which the database has the digest. The token itself is not kept.
 * 3. Open sessions are kept in memory for five seconds, as valid tokens are (access/verifyToken.ts), so
 *    many viewers cost one query. A session that another process started is found within a second.
 * 4. A request for a page is a use, so an unattended page becomes idle.
 * 5. A sign-in link has a code of its own, starts one session, and is valid for five minutes.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { monotonicMs } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import {
  endSession,
  insertLink,
  insertSession,
  type OpenSession,
  readOpenSessions,
  startLinked,
  touchSessions,
} from './store/sessions.ts';
import { digestOf } from './tokenText.ts';
import type { Holder, TokenVerifier } from './verifyToken.ts';

const FRESH_MS = 5 * SECOND_MS;
const FRESH_FOR_UNKNOWN_MS = SECOND_MS;
const LINK_LIFETIME_MS = 5 * MINUTE_MS;
const COOKIE_BYTES = 32;
const MAX_USER_AGENT_LENGTH = 200;

export interface Session {
  readonly id: number;
  readonly holder: Holder;
  /** The token may be revoked: the database could not be read for a while. */
  readonly isStale: boolean;
  /** Proves that a form was sent from a page of this session. */
  readonly formToken: string;
  /** Signs what the session's own addresses carry. */
  readonly sign: (text: string) => string;
}

export type SignedIn =
  | { readonly outcome: 'signed_in'; readonly cookie: string; readonly lifetimeMs: number }
  | { readonly outcome: 'invalid' | 'unverifiable' };

export interface Client {
  readonly address: string;
  readonly userAgent: string;
}

export interface Sessions {
  signIn(token: string, client: Client): Promise<SignedIn>;
  /** Prepares a sign-in link. @returns its code; undefined if the token is not valid */
  createLink(token: string): Promise<string | undefined>;
  /** Starts the session of a sign-in link. */
  followLink(code: string, client: Client): Promise<SignedIn>;
  /** @returns undefined if there is no such session any more */
  find(cookie: string): Promise<Session | undefined>;
  /** Records a use, at most once a minute, without holding up the request. */
  touch(id: number): void;
  end(id: number): Promise<void>;
}

export interface SessionParts {
  readonly db: Queryable;
  readonly tokens: TokenVerifier;
  /** A session ends when nobody used it for so long. */
  readonly idleMs: number;
  /** A session ends after so long, used or not. */
  readonly lifetimeMs: number;
}

export function createSessions({ db, tokens, idleMs, lifetimeMs }: SessionParts): Sessions {
  const open = createOpenList(db, idleMs);
  const touchedAtMs = new Map<number, number>();
  return {
    signIn: async (token, { address, userAgent }) => {
      const tokenDigest = digestOf(token);
      const verified = await tokens.verify(token);
      if (verified.outcome !== 'valid') return { outcome: verified.outcome };
      const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
      await insertSession(db, {
        digest: digestOf(cookie),
        tokenDigest,
        holder: verified.holder.name,
        origin: address,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        lifetimeMs,
      });
      open.expire();
      return { outcome: 'signed_in', cookie, lifetimeMs };
    },
    createLink: async (token) => {
      const verified = await tokens.verify(token);
      if (verified.outcome !== 'valid') return undefined;
      const code = randomBytes(COOKIE_BYTES).toString('base64url');
      await insertLink(db, {
        digest: digestOf(code),
        tokenDigest: digestOf(token),
        holder: verified.holder.name,
        lifetimeMs: LINK_LIFETIME_MS,
      });
      return code;
    },
    followLink: async (code, { address, userAgent }) => {
      const cookie = randomBytes(COOKIE_BYTES).toString('base64url');
      const started = await startLinked(db, digestOf(code), {
        digest: digestOf(cookie),
        origin: address,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        lifetimeMs,
      });
      if (!started) return { outcome: 'invalid' };
      open.expire();
      return { outcome: 'signed_in', cookie, lifetimeMs };
    },
    find: async (cookie) => {
      const digest = digestOf(cookie).toString('hex');
      const known = (await open.read(FRESH_MS)).get(digest);
      const session = known ?? (await open.read(FRESH_FOR_UNKNOWN_MS)).get(digest);
      if (!session) return undefined;
      const verified = await tokens.verifyDigest(session.tokenDigest);
      if (verified.outcome !== 'valid') return undefined;
      const sign = (text: string) => createHmac('sha256', cookie).update(text).digest('base64url');
      const { holder, isStale } = verified;
      return { id: session.id, holder, isStale, formToken: sign('form'), sign };
    },
    touch: (id) => {
      const nowMs = monotonicMs();
      if (nowMs - (touchedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
      touchedAtMs.set(id, nowMs);
      // A use that cannot be recorded must not fail the request.
      void touchSessions(db, [id]).catch(() => undefined);
    },
    end: async (id) => {
      touchedAtMs.delete(id);
      await endSession(db, id);
      open.expire();
    },
  };
}

function createOpenList(db: Queryable, idleMs: number) {
  let list: ReadonlyMap<string, OpenSession> = new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const load = async (): Promise<void> => {
    const startMs = monotonicMs();
    try {
      const sessions = await readOpenSessions(db, idleMs);
      list = new Map(sessions.map((session) => [session.digest.toString('hex'), session]));
      readAtMs = startMs;
    } finally {
      reading = undefined;
    }
  };

  return {
    read: async (maxAgeMs: number): Promise<ReadonlyMap<string, OpenSession>> => {
      if (monotonicMs() - readAtMs <= maxAgeMs) return list;
      reading ??= load();
      await reading;
      return list;
    },
    /** The next request reads again. */
    expire: (): void => {
      readAtMs = Number.NEGATIVE_INFINITY;
      reading = undefined;
    },
  };
}
