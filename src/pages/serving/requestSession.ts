/** Who sent a request: every one behind `requireSession` has a session. */
import type { Request, RequestHandler, Response } from 'express';
import { permits } from '../../access/domain/roles.ts';
import { actorOf as actorOfSession, type Session, type Sessions } from '../../access/sessions.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import { clientAddress, type TrustedProxies } from '../../platform/clientAddress.ts';
import { LIVE_HEADER } from '../live/liveRoute.ts';
import type { Viewer } from '../page.ts';
import { readSessionCookie } from '../session/cookie.ts';
import { THEME_PATH } from './theme.ts';

export const SIGN_OUT_PATH = '/sign-out';
/** Forms in the frame of every page: a person types nothing into them. */
const FRAME_FORMS: ReadonlySet<string> = new Set([SIGN_OUT_PATH, THEME_PATH]);

/** What `requireSession` adds to Express's `locals` of a response. */
interface SessionLocals {
  readonly session?: Session;
}

/** @param whenEnded handles a form of a page that was sent without a session */
export function requireSession(
  {
    sessions,
    trustedProxies,
  }: { readonly sessions: Sessions; readonly trustedProxies: TrustedProxies },
  whenEnded: RequestHandler,
): RequestHandler {
  return async (request, response, next) => {
    const cookie = readSessionCookie({ request, trustedProxies });
    const session = cookie === undefined ? undefined : await sessions.find(cookie);
    if (session) {
      response.locals.session = session;
      if (request.header(LIVE_HEADER) === undefined) sessions.touch(session.id);
      next();
      return;
    }
    const { method, path, originalUrl } = request;
    if (method === 'POST' && !FRAME_FORMS.has(path)) return whenEnded(request, response, next);
    const wanted = method === 'GET' ? originalUrl : '/';
    response.redirect(303, `/sign-in?${new URLSearchParams({ next: wanted })}`);
  };
}

/** Undefined before the sign-in. */
export function findSession(response: Response): Session | undefined {
  const { session }: SessionLocals = response.locals;
  return session;
}

/** @throws Error if the request did not pass `requireSession` */
export function sessionOf(response: Response): Session {
  const session = findSession(response);
  if (!session) throw new Error('a request was passed on without a session');
  return session;
}

export function actorOf(
  request: Request,
  {
    response,
    trustedProxies,
  }: { readonly response: Response; readonly trustedProxies: TrustedProxies },
): Actor {
  return actorOfSession(sessionOf(response), clientAddress(request, trustedProxies));
}

export function viewerOf(
  { holder: { role }, formToken }: Session,
  { request, nowMs }: { readonly request: Request; readonly nowMs: number },
): Viewer {
  return {
    role,
    may: (permission) => permits(role, permission),
    formToken,
    url: request.originalUrl,
    nowMs,
  };
}
