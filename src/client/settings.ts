/** Validates the options of a client. */
import { keyKindOf, SECRET_KEY_KINDS } from '../contract/authentication.ts';
import type { ApiKeyKind } from '../contract/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { createLocalBudget, type RateBudget } from './budget.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './domain/retry.ts';
import { type ClientTime, systemTime } from './time.ts';

/** Options of createClient. */
export interface ClientOptions {
  /**
   * Base URL of the service, for example `https://sandbox.example.com`. Must be https, except on
   * this machine. service-interface.md §1.2.
   */
  readonly baseUrl: string;
  /** A secret key of the same environment. service-interface.md §5. */
  readonly apiKey: string;
  /** Overrides parts of DEFAULT_RETRY_POLICY. */
  readonly retry?: Partial<Record<keyof RetryPolicy, number | undefined>> | undefined;
  /** Share one between clients of the same account; a new one by default. */
  readonly budget?: RateBudget | undefined;
  /** Clock and timer; the machine's by default. */
  readonly time?: ClientTime | undefined;
  /** Source of jitter, from 0 up to 1; Math.random by default. */
  readonly random?: (() => number) | undefined;
}

/** Validated options with their defaults. */
export interface ClientSettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly retry: RetryPolicy;
  readonly budget: RateBudget;
  readonly time: ClientTime & Clock;
  readonly random: () => number;
}

/**
 * Validates options and applies defaults.
 * @throws TypeError for an invalid URL, key or number; the message never contains the key.
 */
export function readSettings(options: ClientOptions): ClientSettings {
  return readSettingsFor(SECRET_KEY_KINDS, options);
}

/** The same for an administrative key. service-interface.md §5.2. */
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

/** The minimum of each limit and delay. With no attempt or no time, nothing is ever sent. */
const MIN_RETRY_POLICY: RetryPolicy = {
  maxAttempts: 1,
  totalTimeoutMs: 1,
  attemptTimeoutMs: 1,
  baseDelayMs: 0,
  maxDelayMs: 0,
};

/** A longer timer would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** An undefined value counts as left out, so that callers can pass optional settings through. */
function readRetry(overrides: ClientOptions['retry'] = {}): RetryPolicy {
  const set = Object.entries(overrides).filter(([, value]) => value !== undefined);
  const policy = { ...DEFAULT_RETRY_POLICY, ...Object.fromEntries(set) };
  for (const name of Object.keys(MIN_RETRY_POLICY) as (keyof RetryPolicy)[]) {
    const value: unknown = policy[name];
    if (typeof value !== 'number' || !(value >= MIN_RETRY_POLICY[name] && value <= MAX_TIMER_MS)) {
      throw new TypeError(
        `retry.${name} must be a number from ${MIN_RETRY_POLICY[name]} to ${MAX_TIMER_MS}`,
      );
    }
  }
  return policy;
}

function readBaseUrl(baseUrl: string): string {
  if (!baseUrl) throw new TypeError('baseUrl is empty; is the variable that holds it set?');
  // `localhost:8082` is a URL, too: one of the scheme `localhost:`.
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new TypeError('baseUrl must begin with https://, or http:// on this machine');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must not contain credentials, a query or a fragment');
  }
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLocal) {
    throw new TypeError('baseUrl must be https, otherwise the key is sent in clear text');
  }
  return url.href.replace(/\/+$/, '');
}

function readApiKey(apiKey: string, kinds: readonly ApiKeyKind[]): string {
  if (!apiKey) throw new TypeError('apiKey is empty; is the variable that holds it set?');
  // Other characters would be rejected when the header is built, with a message that repeats the
  // key.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must consist of printable characters without spaces');
  }
  const kind = keyKindOf(apiKey);
  if (kind !== undefined && !kinds.includes(kind)) {
    throw new TypeError(`apiKey is a key of kind ${kind}; use one of kind ${kinds.join(' or ')}`);
  }
  return apiKey;
}
