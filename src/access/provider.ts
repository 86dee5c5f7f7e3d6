/**
 * Sign-in at an OpenID Connect provider: the authorization code flow with PKCE, state and nonce;
 * docs/decisions/0092-sign-in-at-a-provider.md has the reasons.
 *
 * 1. The library checks signature, issuer, audience, nonce and times of the ID token. Times are compared
 *    with the database's clock, with a minute of tolerance.
 * 2. The provider's addresses are read at the first sign-in and again after an hour, so Tallyhook starts
 *    while the provider is unavailable.
 * 3. No token of the provider is kept. What a sign-in needs of it is read at once.
 */
import * as client from 'openid-client';
import { type Clock, monotonicMs, systemClock } from '../platform/clock.ts';
import { toError } from '../platform/errors.ts';
import { HOUR_MS, SECOND_MS } from '../platform/time.ts';
import { type Claims, valuesOf } from './domain/claims.ts';

const METADATA_FRESH_MS = HOUR_MS;
const TIMEOUT_S = 5;
const TOLERANCE_S = 60;

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string;
  /** Where the provider sends people back. */
  readonly redirectUrl: string;
  /** Where it sends them after a sign-out. */
  readonly signedOutUrl: string;
  /** The claim that is needed. If the ID token does not have it, it is retrieved from the provider. */
  readonly roleClaim: string;
}

/** What the response of the provider is checked against. The browser keeps it meanwhile. */
export interface Expected {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** `reason` is for the log: a code or message of the library, without secrets. */
export type ProviderFailure =
  /** The provider did not respond, or not as a provider. */
  | { readonly outcome: 'unavailable'; readonly reason: string }
  /** The provider refused, or the person declined. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** The response is not one to this sign-in, is old or was used, or cannot be verified. */
  | { readonly outcome: 'invalid'; readonly reason: string };

export type Begun =
  | { readonly outcome: 'begun'; readonly url: string; readonly expected: Expected }
  | ProviderFailure;

export type Identified =
  | { readonly outcome: 'identified'; readonly subject: string; readonly claims: Claims }
  | ProviderFailure;

export interface Provider {
  readonly issuer: string;
  /** @returns where to send the browser */
  begin(): Promise<Begun>;
  /** @param query what the provider sent back with the browser */
  identify(query: URLSearchParams, expected: Expected): Promise<Identified>;
  /** Where a person signs out at the provider; undefined if it has no such page, or does not respond. */
  signOutUrl(): Promise<string | undefined>;
}

export function createProvider(settings: ProviderSettings, clock: Clock): Provider {
  const { issuer, redirectUrl, roleClaim } = settings;
  const metadata = createMetadata(settings);
  const configure = async () => configurationOf(settings, await metadata.read(), clock);
  return {
    issuer,
    begin: () =>
      attempt(async () => {
        const config = await configure();
        const expected = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          verifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(config, {
          redirect_uri: redirectUrl,
          scope: settings.scopes,
          state: expected.state,
          nonce: expected.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(expected.verifier),
          code_challenge_method: 'S256',
        });
        return { outcome: 'begun', url: url.href, expected };
      }),
    identify: (query, { state, nonce, verifier }) =>
      attempt(async () => {
        const config = await configure();
        const url = new URL(`${redirectUrl}?${query}`);
        const tokens = await client.authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) return { outcome: 'invalid', reason: 'no ID token' };
        const { sub: subject } = claims;
        const isComplete = valuesOf(claims, roleClaim) !== undefined;
        if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) {
          return { outcome: 'identified', subject, claims };
        }
        const further = await client.fetchUserInfo(config, tokens.access_token, subject);
        return { outcome: 'identified', subject, claims: { ...further, ...claims } };
      }),
    signOutUrl: async () => {
      const config = await configure().catch(() => undefined);
      if (config?.serverMetadata().end_session_endpoint === undefined) return undefined;
      const { signedOutUrl } = settings;
      return client.buildEndSessionUrl(config, { post_logout_redirect_uri: signedOutUrl }).href;
    },
  };
}

/** Reads the provider's addresses, for concurrent sign-ins once. */
function createMetadata({ issuer, clientId }: ProviderSettings) {
  let known: { readonly metadata: client.ServerMetadata; readonly readAtMs: number } | undefined;
  let reading: Promise<client.ServerMetadata> | undefined;
  const load = async (): Promise<client.ServerMetadata> => {
    const startMs = monotonicMs();
    try {
      const options = { timeout: TIMEOUT_S, execute: transportOf(issuer) };
      const found = await client.discovery(
        new URL(issuer),
        clientId,
        undefined,
        undefined,
        options,
      );
      const metadata = found.serverMetadata();
      known = { metadata, readAtMs: startMs };
      return metadata;
    } finally {
      reading = undefined;
    }
  };
  return {
    read: async (): Promise<client.ServerMetadata> => {
      if (known && monotonicMs() - known.readAtMs < METADATA_FRESH_MS) return known.metadata;
      reading ??= load();
      return await reading;
    },
  };
}

/** A provider on this machine may be reached without TLS; settings refuse others. */
function transportOf(issuer: string): ((config: client.Configuration) => void)[] {
  return issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
}

/** Made for each request, because it contains how far this machine's clock is from the database's. */
function configurationOf(
  { clientId, clientSecret, issuer }: ProviderSettings,
  metadata: client.ServerMetadata,
  clock: Clock,
): client.Configuration {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(clientSecret)
    : client.ClientSecretPost(clientSecret);
  const times = {
    [client.clockSkew]: Math.round((clock.nowMs() - systemClock.nowMs()) / SECOND_MS),
    [client.clockTolerance]: TOLERANCE_S,
  };
  const config = new client.Configuration(metadata, clientId, times, authenticate);
  config.timeout = TIMEOUT_S;
  for (const apply of transportOf(issuer)) apply(config);
  // The signature of the ID token, too, although it comes from the provider directly.
  client.enableNonRepudiationChecks(config);
  return config;
}

async function attempt<T>(work: () => Promise<T>): Promise<T | ProviderFailure> {
  try {
    return await work();
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): ProviderFailure {
  if (error instanceof client.AuthorizationResponseError) {
    return { outcome: 'refused', reason: error.error };
  }
  if (error instanceof client.ResponseBodyError) {
    const outcome = error.error === 'invalid_grant' ? 'invalid' : 'unavailable';
    return { outcome, reason: error.error };
  }
  const reason = reasonOf(toError(error));
  return { outcome: isUnavailable(error) ? 'unavailable' : 'invalid', reason };
}

/** Codes of the library for a provider that does not respond as one. */
const UNAVAILABLE_CODES = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
]);

function isUnavailable(error: unknown): boolean {
  // `fetch` rejects with a TypeError when there is no connection.
  if (error instanceof TypeError && !('code' in error)) return true;
  return error instanceof client.ClientError && UNAVAILABLE_CODES.has(error.code ?? '');
}

function reasonOf(error: Error): string {
  const { cause } = error;
  const deeper = cause instanceof Error ? `: ${cause.message}` : '';
  return `${error.message}${deeper}`.slice(0, 200);
}
