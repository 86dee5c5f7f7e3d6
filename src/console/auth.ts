/** Authenticates requests to the admin port by named bearer tokens. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Actor } from '../audit/domain/actor.ts';
import type { NamedToken } from '../config/config.ts';
import { errorEnvelope } from '../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { createFailureCount } from './failures.ts';

export interface AuthParts {
  readonly tokens: readonly NamedToken[];
  readonly clock: Clock;
  readonly refused: (reason: 'unauthorized' | 'limited') => void;
}

/** Passes a request on with the name of its token, or refuses it. */
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
        'Too many requests from this address had no valid token. Wait, then try again.';
      response.status(429).json(errorEnvelope('rate_limit_error', 'RL_01', message));
      return;
    }
    const name = holderOf(request, known);
    if (name !== undefined) {
      setActor(response, { kind: 'token', name, role: 'admin', origin: address });
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
 * Compares digests, which have one length, with every token, so that timing reveals nothing about
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

const ACTORS = new WeakMap<Response, Actor>();

function setActor(response: Response, actor: Actor): void {
  ACTORS.set(response, actor);
}

/** The holder of the token that `requireToken` accepted. */
export function actorOf(response: Response): Actor {
  const actor = ACTORS.get(response);
  if (!actor) throw new Error('a request was passed on without a valid token');
  return actor;
}
