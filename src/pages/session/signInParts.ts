/** What the ways to sign in share. */
import type { Request, RequestHandler, Response } from 'express';
import type { Provider } from '../../access/provider.ts';
import type { Client, Sessions } from '../../access/sessions.ts';
import type { Actor } from '../../audit/domain/actor.ts';
import type { Refusals } from '../../audit/refusals.ts';
import type { OidcSettings } from '../../config/oidcSettings.ts';
import type { FailureCount } from '../../console/failures.ts';
import type { TrustedProxies } from '../../platform/clientAddress.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Renderer } from '../serving/render.tsx';
import { ownPath } from './ownPath.ts';
import { signedInView } from './signInPage.tsx';

/** The provider, and how its claims become roles. */
export interface PeopleSignIn {
  readonly provider: Provider;
  readonly settings: OidcSettings;
  /** Signs what a browser keeps of a sign-in that it began. The same in each process of the installation. */
  readonly sign: (text: string) => string;
}

/** Why a sign-in was refused, for the audit log. */
export type RefusalCause =
  | 'token_invalid'
  | 'link_invalid'
  /** The identity provider refused, or the person declined. */
  | 'provider_refused'
  /** The response does not belong to a sign-in that this browser began, or cannot be verified. */
  | 'response_invalid'
  /** The person has no role. */
  | 'no_role';

export interface RefusedSignIn {
  readonly actor: Actor;
  readonly cause: RefusalCause;
  /** No secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface SignInParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly refusals: Refusals;
  readonly trustedProxies: TrustedProxies;
  readonly renderer: Renderer;
  readonly readForm: RequestHandler;
  /** The paths of files: a browser that is led to one stays on the page that it shows. */
  readonly downloads: ReadonlySet<string>;
  /** Undefined: people sign in with tokens only. */
  readonly people: PeopleSignIn | undefined;
}

/** What each way to sign in uses. */
export interface SignIn extends SignInParts {
  /** Shows the sign-in again, with the problem. */
  readonly fail: (response: Response, failed: Failed) => Promise<void>;
  readonly failures: FailureCount;
  /** Logs and records that a sign-in was refused. */
  readonly refuse: (refused: RefusedSignIn) => void;
  readonly clientOf: (request: Request) => Client;
}

export interface Failed {
  readonly status: number;
  readonly problem: string | undefined;
  /** Where to go after a sign-in. */
  readonly next: string;
  /** The sentence before the offer to sign out at the provider; undefined: nothing is offered. */
  readonly aboutProvider?: ((name: string) => string) | undefined;
}

export function unknownActor({ address }: Client) {
  return { kind: 'unknown', name: 'unknown', role: 'none', origin: address } as const;
}

/**
 * Leads on after a sign-in that may have begun on a page of another site, by a page of this site: after a
 * redirect, the browser would not send the session's cookie, which is `Strict`. Or to a file: after a redirect, the
 * browser would go on showing the sign-in.
 */
export function leadOn(response: Response, { renderer }: Pick<SignIn, 'renderer'>, to: string) {
  const next = ownPath(to);
  response.set('Refresh', `0; url=${next}`);
  const html = renderer.render(signedInView({ next }), { response });
  response.status(200).type('html').send(html);
}

export const LIMITED = 'Too many sign-ins from this address failed. Wait a minute, then try again.';
