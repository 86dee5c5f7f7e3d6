/** The ways to sign in: with a token, by a link, at the identity provider. And what refuses them. */
import type { Express, RequestHandler } from 'express';
import { createFailureCount } from '../../console/failures.ts';
import { createRefusalLog } from '../../console/refusalLog.ts';
import { clientAddress } from '../../platform/clientAddress.ts';
import { queryOf } from '../../platform/query.ts';
import { setSessionCookie } from './cookie.ts';
import { ownPath } from './ownPath.ts';
import { beginAtProvider, finishAtProvider, nameOf } from './providerSignIn.ts';
import { type ShownProvider, signInView } from './signInPage.tsx';
import {
  type Failed,
  LIMITED,
  leadOn,
  type PeopleSignIn,
  type SignIn,
  type SignInParts,
  unknownActor,
} from './signInParts.ts';

export function addSignIn(app: Express, parts: SignInParts): void {
  const { clock, log, people, refusals, renderer, trustedProxies } = parts;
  const logRefusal = createRefusalLog(log, clock);
  const signIn: SignIn = {
    ...parts,
    fail: async (response, { status, problem, ...shown }) => {
      const { next } = shown;
      const provider = people && (await shownProvider(people, shown));
      const html = renderer.render(signInView({ next, problem, provider }), { response });
      response.status(status).type('html').send(html);
    },
    failures: createFailureCount(clock),
    refuse: ({ actor, cause, detail = {} }) => {
      logRefusal({ cause, name: actor.name, address: actor.origin }, 'console.sign_in_refused');
      const subject = { kind: 'signin', id: cause };
      refusals.note({ actor, action: 'session.refuse', subject, detail });
    },
    clientOf: (request) => ({
      address: clientAddress(request, trustedProxies),
      userAgent: request.header('user-agent') ?? '',
    }),
  };
  app.get('/sign-in', showOrFollowLink(signIn));
  app.post('/sign-in', parts.readForm, signInWithToken(signIn));
  if (!people) return;
  app.get('/sign-in/provider', beginAtProvider(signIn, people));
  app.get('/sign-in/callback', finishAtProvider(signIn, people));
}

/** The sign-in begins at the public address, because the provider leads back there. */
async function shownProvider(
  { provider, settings: { consoleUrl } }: PeopleSignIn,
  { next, aboutProvider }: Pick<Failed, 'next' | 'aboutProvider'>,
): Promise<ShownProvider> {
  const name = nameOf(provider);
  return {
    name,
    about: aboutProvider?.(name),
    signInUrl: `${consoleUrl}/sign-in/provider?${new URLSearchParams({ next: ownPath(next) })}`,
    signOutUrl: aboutProvider ? await provider.signOutUrl() : undefined,
  };
}

function showOrFollowLink(signIn: SignIn): RequestHandler {
  const { fail, refuse, sessions, trustedProxies } = signIn;
  return async (request, response) => {
    const query = queryOf(request.originalUrl);
    const next = query.get('next') ?? '/';
    const code = query.get('code');
    if (code === null) {
      const aboutProvider = query.get('signed_out') === null ? undefined : signedOutHere;
      await fail(response, { status: 200, next, problem: undefined, aboutProvider });
      return;
    }
    const client = signIn.clientOf(request);
    const signedIn = await sessions.followLink(code, client);
    switch (signedIn.outcome) {
      case 'signed_in':
        setSessionCookie(response, { request, trustedProxies, ...signedIn });
        leadOn(response, signIn, next);
        return;
      case 'unverifiable':
        await fail(response, { status: 503, next, problem: UNAVAILABLE });
        return;
      case 'invalid':
        refuse({ actor: unknownActor(client), cause: 'link_invalid' });
        await fail(response, { status: 401, next, problem: USED_LINK });
    }
  };
}

function signInWithToken(signIn: SignIn): RequestHandler {
  const { fail, failures, refuse, sessions, trustedProxies } = signIn;
  return async (request, response) => {
    const form = new URLSearchParams(String(request.body ?? ''));
    const next = form.get('next') ?? '/';
    const client = signIn.clientOf(request);
    const signedIn = await sessions.signIn((form.get('token') ?? '').trim(), client);
    switch (signedIn.outcome) {
      case 'signed_in':
        setSessionCookie(response, { request, trustedProxies, ...signedIn });
        if (isDownload(signIn, next)) leadOn(response, signIn, next);
        else response.redirect(303, ownPath(next));
        return;
      case 'unverifiable':
        await fail(response, { status: 503, next, problem: UNAVAILABLE });
        return;
      case 'invalid':
        refuse({ actor: unknownActor(client), cause: 'token_invalid' });
        if (failures.limitedForMs(client.address) > 0) {
          await fail(response, { status: 429, next, problem: LIMITED });
          return;
        }
        failures.note(client.address);
        await fail(response, { status: 401, next, problem: INVALID_TOKEN });
    }
  };
}

function isDownload({ downloads }: SignIn, next: string): boolean {
  const [path = ''] = ownPath(next).split('?', 1);
  return downloads.has(path);
}

const signedOutHere = (name: string): string =>
  `You are signed out of Tallyhook, and may still be signed in at ${name}. `;

const UNAVAILABLE = 'The database is unavailable. Try again soon.';
const INVALID_TOKEN = 'This token is not valid. `npx tallyhook tokens create` creates one.';
const USED_LINK =
  'This link has been used, or is older than five minutes. Sign in with a token, or run ' +
  '`npx tallyhook open`, which prints a new link.';
