/** The ways to sign in with a token or a link, and what refuses them. */
import type { Express, Request, RequestHandler, Response } from 'express';
import type { Client, Sessions } from '../../access/sessions.ts';
import { createFailureCount } from '../../console/failures.ts';
import { clientAddress, type TrustedProxies } from '../../platform/clientAddress.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import { queryOf } from '../query.ts';
import type { Renderer } from '../render.tsx';
import { setSessionCookie } from './cookie.ts';
import { ownPath } from './ownPath.ts';
import { createRefusalRecorder, type Refusal } from './refusedSignIns.ts';
import { signInView } from './signInPage.tsx';

export interface SignInParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly trustedProxies: TrustedProxies;
  readonly renderer: Renderer;
  readonly readForm: RequestHandler;
}

/** What each way to sign in uses. */
interface SignIn extends SignInParts {
  /** The sign-in again, with the problem. */
  readonly fail: (response: Response, failed: Failed) => void;
  readonly refuse: (refusal: Refusal) => void;
  readonly clientOf: (request: Request) => Client;
}

interface Failed {
  readonly status: number;
  readonly problem: string | undefined;
  /** Where to go after a sign-in. */
  readonly next: string;
}

export function addSignIn(app: Express, parts: SignInParts): void {
  const { db, renderer, trustedProxies } = parts;
  const signIn: SignIn = {
    ...parts,
    fail: (response, { status, ...shown }) => {
      response
        .status(status)
        .type('html')
        .send(renderer.render(signInView(shown), { response }));
    },
    refuse: createRefusalRecorder(db, parts),
    clientOf: (request) => ({
      address: clientAddress(request, trustedProxies),
      userAgent: request.header('user-agent') ?? '',
    }),
  };
  app.get('/sign-in', showOrFollowLink(signIn));
  app.post('/sign-in', parts.readForm, signInWithToken(signIn));
}

function showOrFollowLink(signIn: SignIn): RequestHandler {
  const { fail, refuse, sessions, trustedProxies } = signIn;
  return async (request, response) => {
    const query = queryOf(request.originalUrl);
    const next = query.get('next') ?? '/';
    const code = query.get('code');
    if (code === null) {
      fail(response, { status: 200, next, problem: undefined });
      return;
    }
    const client = signIn.clientOf(request);
    const signedIn = await sessions.followLink(code, client);
    switch (signedIn.outcome) {
      case 'signed_in':
        setSessionCookie(response, { request, trustedProxies, ...signedIn });
        response.redirect(303, '/');
        return;
      case 'unverifiable':
        fail(response, { status: 503, next, problem: UNAVAILABLE });
        return;
      case 'invalid':
        refuse({ actor: unknown(client), cause: 'link_invalid' });
        fail(response, { status: 401, next, problem: USED_LINK });
    }
  };
}

function signInWithToken(signIn: SignIn): RequestHandler {
  const { fail, refuse, sessions, trustedProxies } = signIn;
  const failures = createFailureCount(signIn.clock);
  return async (request, response) => {
    const form = new URLSearchParams(String(request.body ?? ''));
    const next = form.get('next') ?? '/';
    const client = signIn.clientOf(request);
    const signedIn = await sessions.signIn((form.get('token') ?? '').trim(), client);
    switch (signedIn.outcome) {
      case 'signed_in':
        setSessionCookie(response, { request, trustedProxies, ...signedIn });
        response.redirect(303, ownPath(next));
        return;
      case 'unverifiable':
        fail(response, { status: 503, next, problem: UNAVAILABLE });
        return;
      case 'invalid':
        refuse({ actor: unknown(client), cause: 'token_invalid' });
        if (failures.limitedForMs(client.address) > 0) {
          fail(response, { status: 429, next, problem: LIMITED });
          return;
        }
        failures.note(client.address);
        fail(response, { status: 401, next, problem: INVALID_TOKEN });
    }
  };
}

function unknown({ address }: Client) {
  return { kind: 'unknown', name: 'unknown', role: 'none', origin: address } as const;
}

const UNAVAILABLE = 'The database is unavailable. Try again soon.';
const LIMITED = 'Too many sign-ins from this address failed. Wait a minute, then try again.';
const INVALID_TOKEN = 'This token is not valid. `npx tallyhook tokens create` creates one.';
const USED_LINK =
  'This link has been used, or is older than five minutes. Sign in with a token, or restart Tallyhook, ' +
  'which prints a new link.';
