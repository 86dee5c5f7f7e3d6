/**
 * The sign-ins at the provider that a browser began. The browser keeps them, each in a cookie of its own, so
 * that those of two tabs do not end each other.
 *
 * 1. A cookie belongs to the state in its name and is signed together with it. What this installation did not
 *    write was not begun.
 * 2. A sign-in ends after ten minutes, even if the browser keeps its cookie longer.
 * 3. A browser keeps at most five, of which the oldest ends, and a long way on is not kept: the cookies of
 *    sign-ins that nobody finished would make its requests too long. Proxies such as nginx refuse a header of 8 kB.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Response } from 'express';
import { z } from 'zod';
import type { Expected } from '../../access/provider.ts';
import type { Clock } from '../../platform/clock.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import {
  type CookieRequest,
  clearSignInCookie,
  readSignInCookies,
  setSignInCookie,
} from './cookie.ts';

const LIFETIME_MS = 10 * MINUTE_MS;
const MAX_BEGUN = 5;
const MAX_NEXT_LENGTH = 500;

const keptSchema = z.strictObject({
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  begunAtMs: z.number(),
});

export interface BegunSignIn extends Expected {
  /** The page to go on to. */
  readonly next: string;
}

interface BegunParts {
  readonly clock: Clock;
  readonly sign: (text: string) => string;
}

export function createBegunSignIns({ clock, sign }: BegunParts) {
  const signatureOf = (state: string, content: string) => sign(`${state}.${content}`);

  const read = (state: string, cookie: string) => {
    const [content = '', signature = ''] = cookie.split('.');
    if (!isSame(signature, signatureOf(state, content))) return undefined;
    const json: unknown = JSON.parse(Buffer.from(content, 'base64url').toString());
    const kept = keptSchema.safeParse(json).data;
    if (!kept || clock.nowMs() - kept.begunAtMs >= LIFETIME_MS) return undefined;
    return { state, ...kept };
  };

  return {
    /** Has the browser keep a sign-in. */
    keep(response: Response, given: CookieRequest, begun: BegunSignIn): void {
      const { state, next: wanted, ...expected } = begun;
      // As JSON, in which a backslash takes two characters.
      const next = JSON.stringify(wanted).length > MAX_NEXT_LENGTH ? '/' : wanted;
      const known = [...readSignInCookies(given)].map(([own, cookie]) => ({
        own,
        begunAtMs: read(own, cookie)?.begunAtMs ?? Number.NEGATIVE_INFINITY,
      }));
      const newestFirst = known.toSorted((a, b) => b.begunAtMs - a.begunAtMs);
      for (const { own } of newestFirst.slice(MAX_BEGUN - 1)) {
        clearSignInCookie(response, own, given);
      }
      const json = JSON.stringify({ ...expected, next, begunAtMs: clock.nowMs() });
      const content = Buffer.from(json).toString('base64url');
      const cookie = `${content}.${signatureOf(state, content)}`;
      setSignInCookie(response, state, { ...given, cookie, lifetimeMs: LIFETIME_MS });
    },

    /** Takes the sign-in of a state from the browser. @returns undefined if this browser has none */
    take(response: Response, given: CookieRequest, state: string): BegunSignIn | undefined {
      const cookie = readSignInCookies(given).get(state);
      if (cookie === undefined) return undefined;
      clearSignInCookie(response, state, given);
      return read(state, cookie);
    },
  };
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
