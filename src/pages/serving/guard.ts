/**
 * What every request for a page passes before anything else.
 *
 * 1. The `Host` is this installation's: a site that points its own name at this address (DNS
 *    rebinding) gets no response. An address that is not a name cannot be rebound.
 * 2. A POST comes from a page of this origin. Browsers send `Sec-Fetch-Site` over HTTPS and on
 *    loopback; elsewhere `Origin` is compared. The form token is checked besides (app.ts).
 * 3. Scripts and styles are files of ours; nothing inline runs, regardless of what reaches a page.
 */
import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { PageParts } from '../page.ts';

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

export function guard({ consoleUrl }: PageParts['installation']): RequestHandler {
  const known = consoleUrl === undefined ? [] : [new URL(consoleUrl).hostname];
  return (request, response, next) => {
    response.set(PAGE_HEADERS);
    if (!isKnownHost(request.header('host'), known)) {
      const text =
        'The console does not respond under this name, because a foreign site could use it. ' +
        'Set PUBLIC_CONSOLE_URL to the address that you use, or use the IP address.\n';
      response.status(421).type('text/plain').send(text);
      return;
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !isSameOrigin(request, consoleUrl)) {
      const text = 'The request came from another site. Nothing was changed.\n';
      response.status(403).type('text/plain').send(text);
      return;
    }
    next();
  };
}

/** @param known names that this installation has besides addresses and `localhost` */
function isKnownHost(host: string | undefined, known: readonly string[]): boolean {
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (!url || host === undefined) return false;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(name) !== 0 || name === 'localhost' || known.includes(name);
}

/** Whether a request that changes something was sent from a page of this origin. */
function isSameOrigin(request: Request, publicOrigin: string | undefined): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = request.header('origin');
  if (origin === undefined) return true;
  if (origin === publicOrigin) return true;
  return URL.canParse(origin) && new URL(origin).host === request.header('host');
}
