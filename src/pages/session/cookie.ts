/**
 * The cookie of a session of the console. Behind TLS its name begins with `__Host-`, so that only this host
 * can set it; plain HTTP, as on a local network, has no such cookies.
 */
import type { TLSSocket } from 'node:tls';
import type { Request, Response } from 'express';
import { peerAddress, type TrustedProxies } from '../../platform/clientAddress.ts';

const NAME = 'tallyhook_session';
const SECURE_NAME = `__Host-${NAME}`;

export interface CookieRequest {
  readonly request: Request;
  readonly trustedProxies: TrustedProxies;
}

export function setCookie(
  response: Response,
  given: CookieRequest & { readonly cookie: string; readonly lifetimeMs: number },
): void {
  const { cookie, lifetimeMs } = given;
  response.cookie(isSecure(given) ? SECURE_NAME : NAME, cookie, {
    ...optionsFor(given),
    maxAge: lifetimeMs,
  });
}

export function clearCookie(response: Response, given: CookieRequest): void {
  response.clearCookie(isSecure(given) ? SECURE_NAME : NAME, optionsFor(given));
}

function optionsFor(given: CookieRequest) {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: isSecure(given) } as const;
}

/** Whether the browser uses TLS, to this process or to a trusted proxy. */
function isSecure({ request, trustedProxies }: CookieRequest): boolean {
  if ((request.socket as Partial<TLSSocket>).encrypted === true) return true;
  return (
    trustedProxies.has(peerAddress(request.socket)) &&
    request.header('x-forwarded-proto') === 'https'
  );
}

export function readSessionCookie(request: Request): string | undefined {
  return readCookie(request, SECURE_NAME) ?? readCookie(request, NAME);
}

function readCookie(request: Request, wanted: string): string | undefined {
  for (const pair of (request.header('cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=');
    if (name === wanted && value !== undefined && value !== '') return value;
  }
  return undefined;
}
