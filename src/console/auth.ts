/** Who may use the admin port: whoever shows a token, under the name that goes with it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { NamedToken } from '../config/config.ts';
import { errorEnvelope } from '../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { createFailureCount } from './failures.ts';

export interface AuthParts {
  readonly tokens: readonly NamedToken[];
  readonly clock: Clock;
  readonly refused: (reason: 'unauthorized' | 'limited') => void;
}

/** Lets a request through with the name of its token, or answers it. */
export function requireToken({ tokens, clock, refused }: AuthParts): RequestHandler {
  const failures = createFailureCount(clock);
  const known = tokens.map(({ name, token }) => ({ name, digest: digest(token) }));
  return (request, response, next) => {
    const address = request.socket.remoteAddress ?? 'unknown';
    const refusedForMs = failures.refusedForMs(address);
    if (refusedForMs > 0) {
      refused('limited');
      response.set('Retry-After', String(Math.ceil(refusedForMs / 1000)));
      const message =
        'Too many requests of this address showed no valid token. Wait, then try again.';
      response.status(429).json(errorEnvelope('rate_limit_error', 'RL_01', message));
      return;
    }
    const name = holderOf(request, known);
    if (name !== undefined) {
      setActor(response, name);
      next();
      return;
    }
    failures.note(address);
    refused('unauthorized');
    response.set('WWW-Authenticate', 'Bearer');
    const message = 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.';
    response.status(401).json(errorEnvelope('authentication_error', 'AU_01', message));
  };
}

/**
 * Compares digests, which have one length, and all of them, so that the time taken tells nothing of
 * any token.
 */
function holderOf(
  request: Request,
  known: readonly { readonly name: string; readonly digest: Buffer }[],
): string | undefined {
  const [, shown] = /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '') ?? [];
  if (shown === undefined) return undefined;
  const shownDigest = digest(shown);
  return known.filter((one) => timingSafeEqual(one.digest, shownDigest)).at(0)?.name;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function setActor(response: Response, name: string): void {
  response.locals.actor = name;
}

/** The name that `requireToken` found. */
export function actorOf(response: Response): string {
  return String(response.locals.actor);
}
