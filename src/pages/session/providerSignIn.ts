/**
 * The sign-in at the identity provider: the way there, and the way back.
 *
 * 1. What the response is checked against is in a cookie of this browser for ten minutes (begunSignIns.ts), so a
 *    response to somebody else's sign-in is refused. It is `Lax`: the browser sends it when the provider leads back.
 * 2. The session's cookie is `Strict`: the browser would not send it to a page that the provider's redirect
 *    leads to. The response to the way back is therefore a page of this site, which leads on at once.
 * 3. The way on is a path of this console, checked when it is used.
 * 4. A response to a sign-in that this browser began is examined, however many failed at its address: anybody
 *    behind the same proxy or NAT could hold up its people otherwise. That the provider is unavailable is no
 *    failure of a person.
 */
import type { RequestHandler, Response } from 'express';
import { personName, roleOf, valuesOf } from '../../access/domain/claims.ts';
import type { Identified, Provider } from '../../access/provider.ts';
import type { Client, Started } from '../../access/sessions.ts';
import { queryOf } from '../../platform/query.ts';
import { createBegunSignIns } from './begunSignIns.ts';
import { setSessionCookie } from './cookie.ts';
import { ownPath } from './ownPath.ts';
import { LIMITED, leadOn, type PeopleSignIn, type SignIn, unknownActor } from './signInParts.ts';

const MAX_VALUES_RECORDED = 20;

/** Sends the browser to the provider. */
export function beginAtProvider(signIn: SignIn, { provider, sign }: PeopleSignIn): RequestHandler {
  const { clock, fail, log, trustedProxies } = signIn;
  const begunSignIns = createBegunSignIns({ clock, sign });
  return async (request, response) => {
    const next = ownPath(queryOf(request.originalUrl).get('next') ?? '/');
    const begun = await provider.begin();
    if (begun.outcome !== 'begun') {
      log.warn({ reason: begun.reason }, 'console.provider_unavailable');
      await fail(response, { status: 503, next, problem: unavailable(provider) });
      return;
    }
    begunSignIns.keep(response, { request, trustedProxies }, { ...begun.expected, next });
    response.redirect(303, begun.url);
  };
}

/** Receives the browser back from the provider. */
export function finishAtProvider(signIn: SignIn, people: PeopleSignIn): RequestHandler {
  const { clock, fail, failures, refuse, trustedProxies } = signIn;
  const { provider, sign } = people;
  const begunSignIns = createBegunSignIns({ clock, sign });
  return async (request, response) => {
    const client = signIn.clientOf(request);
    const query = queryOf(request.originalUrl);
    const state = query.get('state') ?? '';
    const begun = begunSignIns.take(response, { request, trustedProxies }, state);
    const next = ownPath(begun?.next ?? '/');
    if (!begun && failures.limitedForMs(client.address) > 0) {
      await fail(response, { status: 429, next, problem: LIMITED });
      return;
    }
    if (!begun) {
      failures.note(client.address);
      const reason = 'no sign-in of this browser';
      refuse({ actor: unknownActor(client), cause: 'response_invalid', detail: { reason } });
      await fail(response, { status: 400, next, problem: NOT_BEGUN });
      return;
    }
    const identified = await provider.identify(query, begun);
    if (identified.outcome !== 'identified') {
      if (identified.outcome !== 'unavailable') failures.note(client.address);
      await refuseResponse(response, { signIn, people, client, identified, next });
      return;
    }
    const signedIn = await startSession(identified, { signIn, people, client });
    if (signedIn.outcome === 'no_role') {
      const { problem } = signedIn;
      await fail(response, { status: 403, next, problem, aboutProvider: toSwitch });
      return;
    }
    setSessionCookie(response, { request, trustedProxies, ...signedIn });
    // Not a redirect: see rule 2.
    leadOn(response, signIn, next);
  };
}

interface Finishing {
  readonly signIn: SignIn;
  readonly people: PeopleSignIn;
  readonly client: Client;
}

async function refuseResponse(
  response: Response,
  {
    signIn: { fail, log, refuse },
    people: { provider },
    client,
    identified: { outcome, reason },
    next,
  }: Finishing & {
    readonly identified: Exclude<Identified, { readonly outcome: 'identified' }>;
    readonly next: string;
  },
): Promise<void> {
  const actor = unknownActor(client);
  switch (outcome) {
    case 'unavailable':
      log.warn({ reason }, 'console.provider_unavailable');
      await fail(response, { status: 503, next, problem: unavailable(provider) });
      return;
    case 'refused':
      refuse({ actor, cause: 'provider_refused', detail: { reason } });
      await fail(response, { status: 403, next, problem: refusedBy(provider, reason) });
      return;
    case 'invalid':
      refuse({ actor, cause: 'response_invalid', detail: { reason } });
      await fail(response, { status: 401, next, problem: NOT_VERIFIED });
  }
}

type Outcome = Started | { readonly outcome: 'no_role'; readonly problem: string };

async function startSession(
  { subject, claims }: Extract<Identified, { readonly outcome: 'identified' }>,
  { signIn: { refuse, sessions }, people: { provider, settings }, client }: Finishing,
): Promise<Outcome> {
  const values = valuesOf(claims, settings.roleClaim);
  const role = roleOf(values ?? [], settings.roles);
  const name = personName(claims, subject);
  if (role !== undefined) {
    const { issuer } = provider;
    return await sessions.signInPerson({ issuer, subject, name, role }, client);
  }
  refuse({
    actor: { kind: 'person', name, role: 'none', origin: client.address },
    cause: 'no_role',
    detail: {
      claim: settings.roleClaim,
      values: values?.slice(0, MAX_VALUES_RECORDED).map((value) => value.slice(0, 200)) ?? null,
    },
  });
  return { outcome: 'no_role', problem: noRole({ name, values, settings, provider }) };
}

function noRole({
  name,
  values,
  settings: { roleClaim },
  provider,
}: Pick<PeopleSignIn, 'provider' | 'settings'> & {
  readonly name: string;
  readonly values: readonly string[] | undefined;
}): string {
  const why =
    values === undefined
      ? `${nameOf(provider)} returned no claim "${roleClaim}" for you`
      : `none of your values of the claim "${roleClaim}" gives one`;
  return (
    `You have no role in Tallyhook: ${why}. You are ${name} at ${nameOf(provider)}. ` +
    'Contact the administrator of this installation. CONSOLE_OIDC_ROLES has the values that give a role.'
  );
}

/** The host is what people know of a provider. */
export function nameOf({ issuer }: Pick<Provider, 'issuer'>): string {
  return new URL(issuer).host;
}

const unavailable = (provider: Provider): string =>
  `${nameOf(provider)} does not respond as expected. Try again, or sign in with a token.`;

const refusedBy = (provider: Provider, reason: string): string =>
  `${nameOf(provider)} refused the sign-in (${reason}). Try again, or contact whoever manages your account there.`;

const toSwitch = (name: string): string => `To use another account, sign out at ${name} first. `;

const NOT_BEGUN =
  'This sign-in was not begun in this browser, was finished already, or took longer than ten minutes. Sign in again.';
const NOT_VERIFIED =
  'The response of the provider cannot be verified, or was used already. Sign in again. If this repeats, ' +
  'the audit log has the cause.';
