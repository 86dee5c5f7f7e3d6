/** Who sent a request: every one behind `requireSession` has a session. */
import type { Request, RequestHandler, Response } from 'express';
import { permits } from '../../access/domain/roles.ts';
import { actorOf as actorOfSession, type Session, type Sessions } from '../../access/sessions.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import { clientAddress, type TrustedProxies } from '../../platform/clientAddress.ts';
import { isDatabaseUnavailable } from '../../platform/db/failures.ts';
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

/** The database, which has the sessions, does not respond. */
const UNKNOWN_SESSION = 'unknown_session';

interface FormHandlers {
  /** Handles a form of a page that was sent without a session. */
  readonly whenEnded: RequestHandler;
  /** Handles one that was sent while the database, which has the sessions, is unavailable. */
  readonly whenUnavailable: RequestHandler;
}

export function requireSession(
  {
    sessions,
    trustedProxies,
  }: { readonly sessions: Sessions; readonly trustedProxies: TrustedProxies },
  { whenEnded, whenUnavailable }: FormHandlers,
): RequestHandler {
  const find = async (request: Request): Promise<Session | undefined> => {
    const cookie = readSessionCookie({ request, trustedProxies });
    return cookie === undefined ? undefined : await sessions.find(cookie);
  };
  return async (request, response, next) => {
    const isForm = request.method === 'POST' && !FRAME_FORMS.has(request.path);
    const session = await find(request).catch((error: unknown): typeof UNKNOWN_SESSION => {
      if (isForm && isDatabaseUnavailable(error)) return UNKNOWN_SESSION;
      throw error;
    });
    if (session === UNKNOWN_SESSION) return whenUnavailable(request, response, next);
    if (session) {
      response.locals.session = session;
      if (request.header(LIVE_HEADER) === undefined) sessions.touch(session.id);
      next();
      return;
    }
    if (isForm) return whenEnded(request, response, next);
    const wanted = request.method === 'GET' ? request.originalUrl : '/';
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
