/**
 * The cookies of a session of the console, and of a sign-in at the provider. Behind TLS their names begin
 * with `__Host-`, so that only this host can set them; plain HTTP, as on a local network, has no such cookies.
 * Behind TLS no other name is read: a page on a neighboring host can set a cookie of this name for both, and
 * would choose the session in which a person acts.
 */
import type { TLSSocket } from 'node:tls';
import type { Request, Response } from 'express';
import { peerAddress, type TrustedProxies } from '../../platform/clientAddress.ts';

const PREFIX = '__Host-';

interface CookieKind {
  readonly name: string;
  readonly sameSite: 'strict' | 'lax';
}

/** No request that another site causes has it. */
const SESSION: CookieKind = { name: 'tallyhook_session', sameSite: 'strict' };

/**
 * What a sign-in at the provider is checked against, one for each sign-in: its name ends with the state. The
 * browser sends it with the way back from there.
 */
const SIGN_IN_PREFIX = 'tallyhook_sign_in_';

export interface CookieRequest {
  readonly request: Request;
  readonly trustedProxies: TrustedProxies;
}

interface NewCookie extends CookieRequest {
  readonly cookie: string;
  readonly lifetimeMs: number;
}

export const setSessionCookie = (response: Response, given: NewCookie) =>
  set(SESSION, response, given);
export const clearSessionCookie = (response: Response, given: CookieRequest) =>
  clear(SESSION, response, given);

export function readSessionCookie(given: CookieRequest): string | undefined {
  const wanted = nameOf(SESSION, given);
  return cookiesOf(given).find(({ name }) => name === wanted)?.value;
}

export const setSignInCookie = (response: Response, state: string, given: NewCookie) =>
  set(signInKind(state), response, given);
export const clearSignInCookie = (response: Response, state: string, given: CookieRequest) =>
  clear(signInKind(state), response, given);

/** The cookies of the sign-ins that this browser began, by their states. */
export function readSignInCookies(given: CookieRequest): ReadonlyMap<string, string> {
  const prefix = nameOf(signInKind(''), given);
  return new Map(
    cookiesOf(given).flatMap(({ name, value }) => {
      const state = name.startsWith(prefix) ? name.slice(prefix.length) : '';
      return STATE.test(state) ? [[state, value]] : [];
    }),
  );
}

const STATE = /^[\w-]+$/;

function signInKind(state: string): CookieKind {
  return { name: SIGN_IN_PREFIX + state, sameSite: 'lax' };
}

function set(kind: CookieKind, response: Response, given: NewCookie): void {
  const { cookie, lifetimeMs } = given;
  response.cookie(nameOf(kind, given), cookie, { ...optionsOf(kind, given), maxAge: lifetimeMs });
}

function clear(kind: CookieKind, response: Response, given: CookieRequest): void {
  response.clearCookie(nameOf(kind, given), optionsOf(kind, given));
}

function nameOf({ name }: CookieKind, given: CookieRequest): string {
  return isSecure(given) ? PREFIX + name : name;
}

function optionsOf({ sameSite }: CookieKind, given: CookieRequest) {
  return { httpOnly: true, sameSite, path: '/', secure: isSecure(given) } as const;
}

/** Whether the browser uses TLS, to this process or to a trusted proxy. */
function isSecure({ request, trustedProxies }: CookieRequest): boolean {
  if ((request.socket as Partial<TLSSocket>).encrypted === true) return true;
  return (
    trustedProxies.has(peerAddress(request.socket)) &&
    request.header('x-forwarded-proto') === 'https'
  );
}

/**
 * Only a space separates a cookie from the semicolon before it (RFC 6265, section 4.2.1). `trim` would drop more, such
 * as a no-break space: for a browser that is a letter of the name, so the name does not begin with `__Host-`, and
 * every host of the domain can set it.
 */
function cookiesOf({ request }: CookieRequest) {
  return (request.header('cookie') ?? '').split(';').flatMap((pair) => {
    const [name = '', value = ''] = pair.replace(/^ +/, '').split('=');
    return value === '' ? [] : [{ name, value }];
  });
}
