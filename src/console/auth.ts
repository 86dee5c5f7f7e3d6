/**
 * Who may use the admin port, in two steps: `authenticate` finds the holder of the request's token, and
 * `authorize` refuses what the holder's role does not permit.
 *
 * 1. A valid token is never limited: only failures count, by address.
 * 2. While the database cannot be read, the holder of a token that may be revoked may only read metrics,
 *    which then show the outage.
 */
import type { Request, RequestHandler, Response } from 'express';
import { PERMISSIONS, type Permission, permits, rolesWith } from '../access/domain/roles.ts';
import type { Holder, TokenVerifier } from '../access/verifyToken.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { denialOf } from '../audit/recordAudit.ts';
import type { Refusals } from '../audit/refusals.ts';
import { errorEnvelope } from '../contract/errors.ts';
import { clientAddress, type TrustedProxies } from '../platform/clientAddress.ts';
import type { Clock } from '../platform/clock.ts';
import { createFailureCount, MAX_FAILURES } from './failures.ts';
import type { RefusalLog } from './refusalLog.ts';
import { type Reply, send, unavailable } from './reply.ts';

export interface AuthParts {
  readonly tokens: TokenVerifier;
  readonly trustedProxies: TrustedProxies;
  readonly clock: Clock;
  readonly refused: (reason: 'unauthorized' | 'limited' | 'forbidden') => void;
  readonly logRefusal: RefusalLog;
  /** Records in the audit log that a valid token was refused. */
  readonly refusals: Refusals;
}

/** Who sent a request. */
interface Caller extends Holder {
  readonly address: string;
  /** The token may be revoked: the database could not be read for a while. */
  readonly isStale: boolean;
}

/** What `authenticate` adds to Express's `locals` of a response. */
interface CallerLocals {
  caller?: Caller;
}

/** Passes a request on with its caller, or refuses it. */
export function authenticate(parts: Omit<AuthParts, 'refusals'>): RequestHandler {
  const { tokens, trustedProxies, clock, refused, logRefusal } = parts;
  const failures = createFailureCount(clock);

  const refuse = (address: string): Reply => {
    const limitedForMs = failures.limitedForMs(address);
    if (limitedForMs > 0) {
      refused('limited');
      return limited(limitedForMs);
    }
    refused('unauthorized');
    const count = failures.note(address);
    if (count === 1) logRefusal({ address }, 'console.unauthorized');
    if (count === MAX_FAILURES) logRefusal({ address, failures: count }, 'console.address_limited');
    return UNAUTHORIZED;
  };

  return async (request, response: Response<unknown, CallerLocals>, next) => {
    const address = clientAddress(request, trustedProxies);
    const shown = bearerToken(request);
    const verified = shown === undefined ? INVALID : await tokens.verify(shown);
    switch (verified.outcome) {
      case 'valid': {
        const { holder, isStale } = verified;
        response.locals.caller = { ...holder, address, isStale };
        next();
        return;
      }
      case 'unverifiable':
        send(response, unavailable());
        return;
      case 'invalid':
        send(response, refuse(address));
    }
  };
}

/**
 * Passes a request on if the caller's role has every permission that it needs.
 * @param subject method and path of the endpoint
 */
export function authorize(
  subject: string,
  needed: (request: Request) => readonly Permission[],
  { refused, logRefusal, refusals }: Pick<AuthParts, 'refused' | 'logRefusal' | 'refusals'>,
): RequestHandler {
  return (request, response, next) => {
    const { name, role, address, isStale } = callerOf(response);
    const permissions = needed(request);
    const permission = permissions.find((one) => !permits(role, one));
    if (permission !== undefined) {
      refused('forbidden');
      logRefusal({ name, role, address, subject, permission }, 'console.forbidden');
      refusals.note(denialOf(actorOf(response), { subject, permission }));
      send(response, forbidden(permission, { name, role }));
      return;
    }
    if (isStale && permissions.some((permission) => permission !== 'read_metrics')) {
      send(response, unavailable());
      return;
    }
    next();
  };
}

/** The caller, for the audit log. */
export function actorOf(response: Response): Actor {
  const { name, role, address } = callerOf(response);
  return { kind: 'token', name, role, origin: address };
}

function callerOf(response: Response): Caller {
  const { caller }: CallerLocals = response.locals;
  if (!caller) throw new Error('a request was passed on without a valid token');
  return caller;
}

const INVALID = { outcome: 'invalid' } as const;

function bearerToken(request: Request): string | undefined {
  const [, shown] = /^Bearer +(.+)$/i.exec(request.header('authorization') ?? '') ?? [];
  return shown;
}

const UNAUTHORIZED: Reply = {
  status: 401,
  headers: { 'WWW-Authenticate': 'Bearer' },
  body: errorEnvelope(
    'authentication_error',
    'AU_01',
    'Send a valid token: Authorization: Bearer <token>. `tallyhook tokens create` creates one.',
  ),
};

function limited(limitedForMs: number): Reply {
  const message = 'Too many requests from this address had no valid token. Wait, then try again.';
  return {
    status: 429,
    headers: { 'Retry-After': String(Math.ceil(limitedForMs / 1000)) },
    body: errorEnvelope('rate_limit_error', 'RL_01', message),
  };
}

function forbidden(permission: Permission, { name, role }: Holder): Reply {
  const message =
    `The token ${name} has the role ${role}, which does not permit ${permission}: ` +
    `${PERMISSIONS[permission]}. Roles that permit it: ${rolesWith(permission).join(', ')}.`;
  return {
    status: 403,
    headers: {},
    body: errorEnvelope('authentication_error', 'IR_22', message),
  };
}
