/** What a client is made of, and what it refuses to be made of. */
import { keyKindOf, SECRET_KEY_KINDS } from '../contract/authentication.ts';
import type { ApiKeyKind } from '../contract/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { createLocalBudget, type RateBudget } from './budget.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './domain/retry.ts';
import { type ClientTime, systemTime } from './time.ts';

/** Options of createClient. */
export interface ClientOptions {
  /**
   * Base address of the service, for example `https://sandbox.example.com`. Must be https, except
   * on this machine. service-interface.md §1.2.
   */
  readonly baseUrl: string;
  /** A secret key of that environment. service-interface.md §5. */
  readonly apiKey: string;
  /** What is left out is taken from DEFAULT_RETRY_POLICY. */
  readonly retry?: Partial<RetryPolicy>;
  /** Shared by clients that use one account; one of its own when it is left out. */
  readonly budget?: RateBudget;
  /** The clock, and how it is waited on; the machine's own when it is left out. */
  readonly time?: ClientTime;
  /** Of the waits between attempts: from 0 up to 1. */
  readonly random?: () => number;
}

/** Options as they are used. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly retry: RetryPolicy;
  readonly budget: RateBudget;
  readonly time: ClientTime & Clock;
  readonly random: () => number;
}

/**
 * Checks options and fills in the rest.
 * @throws TypeError for an address, key or number that must not be used; it never holds the key.
 */
export function readSettings(options: ClientOptions): ClientSettings {
  return readSettingsFor(SECRET_KEY_KINDS, options);
}

/** The same for the key that makes keys. service-interface.md §5.2. */
export function readAdminSettings(options: ClientOptions): ClientSettings {
  return readSettingsFor(['admin'], options);
}

function readSettingsFor(kinds: readonly ApiKeyKind[], options: ClientOptions): ClientSettings {
  const time = options.time ?? systemTime;
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: readApiKey(options.apiKey, kinds),
    retry: readRetry(options.retry),
    budget: options.budget ?? createLocalBudget(time),
    time,
    random: options.random ?? Math.random,
  };
}

/** The least that each cap and wait can be: without an attempt or any time, nothing is ever sent. */
const LEAST: RetryPolicy = {
  maxAttempts: 1,
  totalTimeoutMs: 1,
  attemptTimeoutMs: 1,
  baseDelayMs: 0,
  maxDelayMs: 0,
};

/** A timer of more milliseconds would end at once. */
const MOST = 2 ** 31 - 1;

/** What is undefined counts as left out, as where a setting is handed on that nobody made. */
function readRetry(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const policy = { ...DEFAULT_RETRY_POLICY, ...Object.fromEntries(set) };
  for (const name of Object.keys(LEAST) as (keyof RetryPolicy)[]) {
    const value: unknown = policy[name];
    if (typeof value !== 'number' || !(value >= LEAST[name] && value <= MOST)) {
      throw new TypeError(`retry.${name} must be a number from ${LEAST[name]} to ${MOST}`);
    }
  }
  return policy;
}

function readBaseUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw new TypeError('baseUrl is no address');
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must hold no credentials, no query and no fragment');
  }
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) {
    throw new TypeError('baseUrl must be https: the key would travel in clear text');
  }
  return url.href.replace(/\/+$/, '');
}

function readApiKey(apiKey: string, kinds: readonly ApiKeyKind[]): string {
  // Anything else would be refused where the header is made, in a message that repeats the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be printable characters without spaces');
  }
  const kind = keyKindOf(apiKey);
  if (kind !== undefined && !kinds.includes(kind)) {
    throw new TypeError(`apiKey is of kind ${kind}; ${kinds.join(' or ')} is needed`);
  }
  return apiKey;
}
