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

/** What a sign-in at the provider is checked against. The browser sends it with the way back from there. */
const SIGN_IN: CookieKind = { name: 'tallyhook_sign_in', sameSite: 'lax' };

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
export const readSessionCookie = (given: CookieRequest) => read(SESSION, given);

export const setSignInCookie = (response: Response, given: NewCookie) =>
  set(SIGN_IN, response, given);
export const clearSignInCookie = (response: Response, given: CookieRequest) =>
  clear(SIGN_IN, response, given);
export const readSignInCookie = (given: CookieRequest) => read(SIGN_IN, given);

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

function read(kind: CookieKind, given: CookieRequest): string | undefined {
  const wanted = nameOf(kind, given);
  for (const pair of (given.request.header('cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=');
    if (name === wanted && value !== undefined && value !== '') return value;
  }
  return undefined;
}
