/**
 * Verifies tokens against ADMIN_TOKEN and the valid tokens of the database;
 * docs/decisions/0074-tokens-in-the-database.md has the reasons.
 *
 * 1. The valid tokens are kept in memory and read again when they are more than five seconds old, so a
 *    revoked token is refused within five seconds. A token that is not among them causes another
 *    reading if the list is more than a second old, so a new token works within a second. Requests
 *    therefore cost at most one query a second, whoever sends them.
 * 2. While the database cannot be read, the last list is used. After a minute it counts as stale, and
 *    the caller decides what a holder may still do. ADMIN_TOKEN needs no database.
 * 3. Digests are looked up in a map. The time that takes reveals nothing, because nobody can choose
 *    the digest of a guess.
 */
import { timingSafeEqual } from 'node:crypto';
import { type Clock, monotonicMs } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { sleep } from '../platform/sleep.ts';
import { MINUTE_MS, SECOND_MS } from '../platform/time.ts';
import type { Role } from './domain/roles.ts';
import { markUsed, readValidTokens, type ValidToken } from './store/tokens.ts';
import { digestOf } from './tokenText.ts';

export const FRESH_MS = 5 * SECOND_MS;
export const FRESH_FOR_UNKNOWN_MS = SECOND_MS;
export const STALE_MS = MINUTE_MS;
const RETRY_MS = SECOND_MS;
/** A database that hangs must not hold up every request. */
const READ_TIMEOUT_MS = 2 * SECOND_MS;

/** Who holds a token. */
export interface Holder {
  readonly name: string;
  readonly role: Role;
}

/** The holder of ADMIN_TOKEN. */
export const ADMIN: Holder = { name: 'admin', role: 'admin' };

export type Verified =
  | {
      readonly outcome: 'valid';
      readonly holder: Holder;
      /** The database could not be read for a minute: the token may be revoked meanwhile. */
      readonly isStale: boolean;
    }
  | { readonly outcome: 'invalid' }
  /** The database was never read: the token may be valid. */
  | { readonly outcome: 'unverifiable' };

export interface TokenVerifier {
  verify(text: string): Promise<Verified>;
  /** Verifies the token of a session, of which only the digest is kept. */
  verifyDigest(digest: Buffer): Promise<Verified>;
}

export interface VerifierParts {
  readonly adminToken: string;
  readonly db: Queryable;
  /** Expiry follows the database's clock. */
  readonly clock: Clock;
  /** Measures the age of the list. */
  readonly elapsedMs?: () => number;
}

interface TokenList {
  readonly byDigest: ReadonlyMap<string, ValidToken>;
  readonly readAtMs: number;
}

export function createTokenVerifier(parts: VerifierParts): TokenVerifier {
  const { adminToken, clock, elapsedMs = monotonicMs } = parts;
  const adminDigest = digestOf(adminToken);
  const list = createTokenList(parts.db, elapsedMs);
  const uses = createUseRecorder(parts.db, elapsedMs);

  const validNow = (tokens: TokenList | undefined, digest: Buffer): ValidToken | undefined => {
    const token = tokens?.byDigest.get(digest.toString('hex'));
    const isExpired = token?.expiresAt && token.expiresAt.getTime() <= clock.nowMs();
    return isExpired ? undefined : token;
  };

  const verifyDigest = async (digest: Buffer): Promise<Verified> => {
    if (adminToken !== '' && timingSafeEqual(digest, adminDigest)) {
      return { outcome: 'valid', holder: ADMIN, isStale: false };
    }
    const known = validNow(await list.read(FRESH_MS), digest);
    const tokens = await list.read(known ? FRESH_MS : FRESH_FOR_UNKNOWN_MS);
    if (!tokens) return { outcome: 'unverifiable' };
    const token = validNow(tokens, digest);
    if (!token) return { outcome: 'invalid' };
    uses.record(token.id);
    const { name, role } = token;
    const isStale = elapsedMs() - tokens.readAtMs > STALE_MS;
    return { outcome: 'valid', holder: { name, role }, isStale };
  };

  return { verify: (text) => verifyDigest(digestOf(text)), verifyDigest };
}

function createTokenList(db: Queryable, elapsedMs: () => number) {
  let list: TokenList | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const load = async (): Promise<void> => {
    const startMs = elapsedMs();
    triedAtMs = startMs;
    try {
      const tokens = await readValidTokens(db);
      const byDigest = new Map(tokens.map((token) => [token.digest.toString('hex'), token]));
      list = { byDigest, readAtMs: startMs };
    } catch {
      // The last list is used; what serves data from the database reports that it cannot be read.
    } finally {
      reading = undefined;
    }
  };

  return {
    /** The list, read again if it is older; undefined if it was never read. */
    read: async (maxAgeMs: number): Promise<TokenList | undefined> => {
      if (list && elapsedMs() - list.readAtMs <= maxAgeMs) return list;
      if (reading || elapsedMs() - triedAtMs >= RETRY_MS) {
        reading ??= load();
        const done = new AbortController();
        await Promise.race([reading, sleep(READ_TIMEOUT_MS, done.signal)]);
        done.abort();
      }
      return list;
    },
  };
}

/** Records the use of a token at most once a minute, without holding up the request. */
function createUseRecorder(db: Queryable, elapsedMs: () => number) {
  const recordedAtMs = new Map<number, number>();
  return {
    record: (id: number): void => {
      const lastMs = recordedAtMs.get(id) ?? Number.NEGATIVE_INFINITY;
      if (elapsedMs() - lastMs < MINUTE_MS) return;
      recordedAtMs.set(id, elapsedMs());
      // A use that cannot be recorded must not fail the request.
      void markUsed(db, id).catch(() => undefined);
    },
  };
}
