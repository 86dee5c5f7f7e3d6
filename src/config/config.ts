/**
 * Settings: one schema, read once from the environment, with all errors reported at once.
 *
 * 1. Invalid values are rejected, never replaced by a default.
 * 2. No secret has a default. With the embedded database they are generated in DATA_DIR
 *    (localSecrets.ts); with DATABASE_URL they must be set.
 * 3. An empty value counts as not set, except for secrets, where it is an error.
 * 4. Each secret can be read from a file instead (secretFiles.ts).
 */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import {
  NO_TRUSTED_PROXIES,
  parseTrustedProxies,
  type TrustedProxies,
} from '../platform/clientAddress.ts';
import { addressesOf, problemOfAddress } from '../platform/db/hosts.ts';
import { UsageError } from '../platform/errors.ts';
import { LOG_LEVELS, type LogLevel } from '../platform/log.ts';
import { DEFAULT_PREFIX } from '../platform/queue/names.ts';
import { parseRedisUrl } from '../platform/queue/redisAddress.ts';
import { SECOND_MS } from '../platform/time.ts';
import {
  ALERT_GROUPS,
  ALERT_SECRETS,
  ALERT_SETTINGS,
  type ChannelSettings,
  channelsOf,
} from './alertSettings.ts';
import {
  ARCHIVE_GROUP,
  ARCHIVE_SECRETS,
  ARCHIVE_SETTINGS,
  type ArchiveSettings,
  archiveOf,
} from './archiveSettings.ts';
import {
  CONSOLE_SETTINGS,
  type InstallationSettings,
  installationOf,
  type SessionSettings,
  sessionsOf,
} from './consoleSettings.ts';
import {
  NEEDED_BY_OIDC,
  OIDC_GROUP,
  OIDC_SECRETS,
  OIDC_SETTINGS,
  type OidcSettings,
  oidcOf,
} from './oidcSettings.ts';
import { RETENTION_SETTINGS, type RetentionDays, retentionOf } from './retentionSettings.ts';
import { readSecretFiles, type SecretFile } from './secretFiles.ts';
import { secretWeakness } from './secretStrength.ts';
import {
  isFromFile,
  noteFileNames,
  type SettingInForce,
  settingsInForce,
} from './settingsInForce.ts';
import { oneOf, text, wholeNumber } from './values.ts';

const secret = z.string().superRefine((value, context) => {
  const message = secretWeakness(value);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const exactSecret = secret.refine((value) => value === value.trim(), {
  message: 'must not begin or end with whitespace, which would be part of the secret',
});

/** Several secrets, one per line, would be one that nobody has, and verify nothing. */
function secretOnOneLine(remedy: string) {
  return exactSecret.refine((value) => !/\p{Cc}/u.test(value.trim()), {
    message: `must not contain a line break or another control character; ${remedy}`,
  });
}

const onlySecret = secretOnOneLine('write one secret on one line');

/** What a bearer header can carry (RFC 6750), so neither a list of tokens nor a name before one. */
const bearerToken = exactSecret.regex(/^[A-Za-z0-9._~+/=-]+$/, {
  message:
    'must be one token of letters, digits and ._~+/=-; `tallyhook tokens create` makes one for each person and program',
});

/** The token of a person, which Tallyhook made: one that is cut off cannot be replaced by any random value. */
const commandToken = z.string().refine((value) => bearerToken.safeParse(value).success, {
  message:
    'must be one whole token, without a name before it and without whitespace; copy it again, or request a new one, which `npx tallyhook tokens create` makes',
});

const port = wholeNumber(0, 65_535);

const postgresUrl = z.string().superRefine((value, context) => {
  const problem = problemOfAddress(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});
/** Positions of several servers would be mixed up. */
const standbyUrl = postgresUrl.refine((value) => addressesOf(value).length === 1, {
  message: 'names several servers, but reads use one standby',
});
const redisUrl = z.string().superRefine((value, context) => {
  const address = parseRedisUrl(value);
  if (address.form !== 'invalid') return;
  context.addIssue({ code: 'custom', message: address.problem });
});
const redisPrefix = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits and ._-');

const MAX_HOURS = 160;

/** Hours, each once: `48,24,6,1`. */
const hours = z
  .string()
  .transform((list) =>
    list.split(',').map((entry) => (/^\d{1,3}$/.test(entry) ? Number(entry) : 0)),
  )
  .pipe(
    z
      .array(
        z
          .int()
          .min(1, `must be whole hours from 1 to ${MAX_HOURS}, separated by commas`)
          .max(MAX_HOURS, `must be whole hours from 1 to ${MAX_HOURS}, separated by commas`),
      )
      .refine((list) => new Set(list).size === list.length, { message: 'must not repeat an hour' }),
  );

/** `none`, or an action and the hours before the deadline: `capture:6`. */
const policy = z
  .string()
  .regex(/^(none|(capture|cancel):[1-9]\d{0,2})$/, 'must be none, capture:HOURS or cancel:HOURS')
  .transform((value) => {
    const [action, before] = value.split(':');
    if (action !== 'capture' && action !== 'cancel') return undefined;
    return { action, hours: Number(before) } as const;
  });

/** Addresses and CIDR networks: `10.0.0.0/8,::1`. */
const trustedProxies = z.string().transform((list, context): TrustedProxies => {
  const parsed = parseTrustedProxies(list);
  if (parsed) return parsed;
  const message = 'must be IP addresses or CIDR networks, separated by commas';
  context.issues.push({ code: 'custom', message, input: list });
  return z.NEVER;
});

/** Every setting, by the name of its environment variable. `.env.example` is checked against it. */
export const SETTINGS = z
  .object({
    DATABASE_URL: postgresUrl.optional(),
    MIGRATE_DATABASE_URL: postgresUrl.optional(),
    QUEUE_DATABASE_URL: postgresUrl.optional(),
    DATABASE_READ_URL: standbyUrl.optional(),
    REDIS_URL: redisUrl.optional(),
    REDIS_PREFIX: redisPrefix.default(DEFAULT_PREFIX),
    REDIS_CA_FILE: z.string().optional(),
    DATA_DIR: z.string().default('.tallyhook'),
    HOST: z.string().default('0.0.0.0'),
    PORT: port.default(8080),
    WEBHOOK_PATH: z
      .string()
      .regex(/^\/[A-Za-z0-9/_.-]*$/, 'must be a path such as /webhooks')
      .default('/webhooks'),
    WEBHOOK_SECRETS: z
      .string()
      .transform((list) => list.split(','))
      .pipe(z.array(secretOnOneLine('separate secrets by commas')))
      .optional(),
    WEBHOOK_PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must begin with https:// or http://' })
      .optional(),
    WEBHOOK_MAX_BODY_BYTES: wholeNumber(1024, 16_777_216).default(1_048_576),
    TRUSTED_PROXIES: trustedProxies.optional(),
    ADMIN_HOST: z.string().default('127.0.0.1'),
    ADMIN_PORT: port.default(8081),
    ADMIN_TOKEN: bearerToken.optional(),
    TALLYHOOK_TOKEN: commandToken.optional(),
    ...CONSOLE_SETTINGS,
    ...OIDC_SETTINGS,
    METRICS_HOST: z.string().default('127.0.0.1'),
    METRICS_PORT: port.optional(),
    DRAIN_SECONDS: wholeNumber(0, 300).default(0),
    PAYMENTS_MERCHANT_ID: text(255).optional(),
    PAYMENTS_PROFILE_ID: text(255).optional(),
    PAYMENTS_BASE_URL: z
      .url({ protocol: /^https?$/, error: 'must begin with https:// or http://' })
      .optional(),
    PAYMENTS_API_KEY: z
      .string()
      .regex(/^(snd|prd)_./, 'must be a secret key, which begins with snd_ or prd_')
      .optional(),
    SANDBOX_PORT: port.default(8082),
    SANDBOX_WEBHOOK_SECRET: onlySecret.optional(),
    CHAIN_KEY: onlySecret.optional(),
    VERIFY_FULL_DAYS: wholeNumber(1, 365).default(30),
    EVENT_MAX_ATTEMPTS: wholeNumber(1, 10).default(5),
    RATE_RESERVE_PERCENT: wholeNumber(0, 90).default(30),
    BACKGROUND_REQUESTS_PER_MINUTE: wholeNumber(1, 1_000_000).optional(),
    AUTHORIZATION_THRESHOLD_HOURS: hours.default([48, 24, 6, 1]),
    AUTHORIZATION_POLICY: policy.optional(),
    ...ALERT_SETTINGS,
    ...ARCHIVE_SETTINGS,
    ...RETENTION_SETTINGS,
    LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  })
  .refine(
    ({ AUTHORIZATION_POLICY: chosen, AUTHORIZATION_THRESHOLD_HOURS: thresholds }) =>
      chosen === undefined || thresholds.includes(chosen.hours),
    {
      message:
        'must use one of AUTHORIZATION_THRESHOLD_HOURS, because authorizations are checked only then',
      path: ['AUTHORIZATION_POLICY'],
      when: areValid('AUTHORIZATION_POLICY', 'AUTHORIZATION_THRESHOLD_HOURS'),
    },
  )
  .refine(
    ({ REDIS_URL: url, REDIS_CA_FILE: file }) =>
      file === undefined || url?.startsWith('rediss') === true,
    {
      message: 'needs a REDIS_URL that begins with rediss',
      path: ['REDIS_CA_FILE'],
      when: areValid('REDIS_URL', 'REDIS_CA_FILE'),
    },
  )
  .refine(
    ({ DATABASE_URL: url, QUEUE_DATABASE_URL: queueUrl }) =>
      queueUrl === undefined || url !== undefined,
    {
      message: 'needs DATABASE_URL, which names the same database',
      path: ['QUEUE_DATABASE_URL'],
      when: areValid('DATABASE_URL', 'QUEUE_DATABASE_URL'),
    },
  )
  .refine(
    ({ DATABASE_URL: url, DATABASE_READ_URL: readUrl }) =>
      readUrl === undefined || url !== undefined,
    {
      message: 'needs DATABASE_URL, which names the primary',
      path: ['DATABASE_READ_URL'],
      when: areValid('DATABASE_URL', 'DATABASE_READ_URL'),
    },
  );

/** Has settings compared whenever they are valid themselves; by default one error elsewhere prevents it. */
function areValid(...names: readonly string[]) {
  return ({ issues }: z.core.ParsePayload): boolean =>
    !issues.some(({ path }) => names.includes(String(path?.[0])));
}

/** Settings for which an empty value is an error instead of "not set". */
const NEVER_EMPTY = new Set([
  'WEBHOOK_SECRETS',
  'ADMIN_TOKEN',
  'TALLYHOOK_TOKEN',
  'SANDBOX_WEBHOOK_SECRET',
  'CHAIN_KEY',
  'PAYMENTS_MERCHANT_ID',
  'PAYMENTS_API_KEY',
  ...ALERT_SECRETS,
  ...ARCHIVE_SECRETS,
  ...OIDC_SECRETS,
]);

export interface Config {
  /** Undefined: the embedded database under `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** The owner of the schema, if it is not the runtime role. */
  readonly migrateDatabaseUrl: string | undefined;
  /** The same database without a pooler, for what needs a session of its own; undefined: `databaseUrl`. */
  readonly queueDatabaseUrl: string | undefined;
  /** A standby for reads of the console; undefined: they use the primary. */
  readonly databaseReadUrl: string | undefined;
  /** Undefined: the queues use the database. */
  readonly redisUrl: string | undefined;
  /** What the names of the queues' keys begin with in Redis. */
  readonly redisPrefix: string;
  /** Certificates for TLS to Redis; undefined: those of Node.js. */
  readonly redisCaFile: string | undefined;
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly webhookPath: string;
  readonly webhookSecrets: readonly string[] | undefined;
  /** The public URL to which the service sends webhooks. */
  readonly webhookPublicUrl: string | undefined;
  readonly webhookMaxBodyBytes: number;
  /** Proxies that are believed when they name a client's address, at every port. */
  readonly trustedProxies: TrustedProxies;
  readonly adminHost: string;
  readonly adminPort: number;
  readonly adminToken: string | undefined;
  /** Commands run as the holder of this token; undefined: as a person who may do everything. */
  readonly commandToken: string | undefined;
  readonly installation: InstallationSettings;
  readonly consoleSessions: SessionSettings;
  /** Undefined: people sign in to the console with tokens only. */
  readonly oidc: OidcSettings | undefined;
  readonly metricsHost: string;
  /** Undefined: the default of the process's first role. */
  readonly metricsPort: number | undefined;
  /** How long a process that stops goes on serving. */
  readonly drainMs: number;
  readonly merchantId: string | undefined;
  /** The business profile that sends its webhooks here; undefined: all profiles of the account. */
  readonly profileId: string | undefined;
  /** URL of the payment service. */
  readonly baseUrl: string | undefined;
  /** Undefined: the service is not called; with the embedded database the sandbox replaces it. */
  readonly apiKey: string | undefined;
  readonly sandboxPort: number;
  /** The secret with which the sandbox signs; undefined: generated in `dataDir`. */
  readonly sandboxWebhookSecret: string | undefined;
  /** The secret from which the key of the chain is made; undefined: generated in `dataDir`, or none. */
  readonly chainKey: string | undefined;
  /** Every row of the ledger is proven at least once in this many days. */
  readonly verifyFullDays: number;
  readonly eventMaxAttempts: number;
  /** Percent of the service's rate limit that background work leaves to the shop. */
  readonly rateReservePercent: number;
  /** For all processes together; undefined: the service's rate limit without the reserve. */
  readonly backgroundRequestsPerMinute: number | undefined;
  /** Hours before an authorization expires at which to send a reminder. */
  readonly authorizationThresholdHours: readonly number[];
  /** Undefined: Tallyhook only sends reminders. */
  readonly authorizationPolicy:
    | { readonly action: 'capture' | 'cancel'; readonly hours: number }
    | undefined;
  readonly channels: ChannelSettings;
  /** Hour of the day, UTC; undefined: no daily summary. */
  readonly alertSummaryHour: number | undefined;
  /** Undefined: what retention removes is not archived. */
  readonly archive: ArchiveSettings | undefined;
  readonly retention: RetentionDays;
  readonly logLevel: LogLevel;
  /** The files that secrets were read from. */
  readonly secretFiles: readonly SecretFile[];
  /** Every setting and where it comes from, without secrets. */
  readonly inForce: readonly SettingInForce[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment, with defaults from `.env` in the working folder. */
export function readEnvironment(): Environment {
  if (existsSync('.env')) {
    const before = new Set(Object.keys(process.env));
    process.loadEnvFile('.env');
    noteFileNames(Object.keys(process.env).filter((name) => !before.has(name)));
  }
  return process.env;
}

/**
 * The environment of another program that is started. It needs no setting, and nothing else of `.env`: many of them
 * are secrets.
 */
export function withoutSettings(env: Environment): Environment {
  const isOwn = (name: string) => Object.hasOwn(SETTINGS.shape, name) || isFromFile(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOwn(name)));
}

/**
 * Reads the settings.
 * @throws UsageError with every error
 */
export function loadConfig(env: Environment): Config {
  const secretFiles = readSecretFiles(env);
  const named = Object.keys(SETTINGS.shape).flatMap((name) => {
    if (secretFiles.errors.has(name)) return [];
    const value = secretFiles.values.get(name) ?? env[name];
    const isUnset = value === undefined || (value === '' && !NEVER_EMPTY.has(name));
    return isUnset ? [] : [[name, value] as const];
  });
  // No schema accepts null, so that settings that need one of these are not reported, too.
  const unread = [...secretFiles.errors.keys()].map((name) => [name, null] as const);
  const given = [...named, ...unread];
  const parsed = SETTINGS.safeParse(Object.fromEntries(given));
  const errors = [
    ...secretFiles.errors.values(),
    ...(parsed.error?.issues ?? [])
      .filter(({ path }) => !secretFiles.errors.has(String(path[0])))
      .map(explain),
    ...missingFromGroups(new Set(given.map(([name]) => name))).map(
      ({ name, present }) => `${name}: must be set, too, because ${present.join(' and ')} is`,
    ),
  ];
  if (!parsed.success || errors.length > 0) {
    const lines = errors.map((error) => `  ${error}`);
    throw new UsageError(`Some settings are invalid:\n${lines.join('\n')}`);
  }
  const settings = parsed.data;
  return Object.freeze({
    databaseUrl: settings.DATABASE_URL,
    migrateDatabaseUrl: settings.MIGRATE_DATABASE_URL,
    queueDatabaseUrl: settings.QUEUE_DATABASE_URL,
    databaseReadUrl: settings.DATABASE_READ_URL,
    redisUrl: settings.REDIS_URL,
    redisPrefix: settings.REDIS_PREFIX,
    redisCaFile: settings.REDIS_CA_FILE,
    dataDir: settings.DATA_DIR,
    host: settings.HOST,
    port: settings.PORT,
    webhookPath: settings.WEBHOOK_PATH,
    webhookSecrets: settings.WEBHOOK_SECRETS,
    webhookPublicUrl: settings.WEBHOOK_PUBLIC_URL,
    webhookMaxBodyBytes: settings.WEBHOOK_MAX_BODY_BYTES,
    trustedProxies: settings.TRUSTED_PROXIES ?? NO_TRUSTED_PROXIES,
    adminHost: settings.ADMIN_HOST,
    adminPort: settings.ADMIN_PORT,
    adminToken: settings.ADMIN_TOKEN,
    commandToken: settings.TALLYHOOK_TOKEN,
    installation: installationOf(settings),
    consoleSessions: sessionsOf(settings),
    oidc: oidcOf(settings, settings.PUBLIC_CONSOLE_URL),
    metricsHost: settings.METRICS_HOST,
    metricsPort: settings.METRICS_PORT,
    drainMs: settings.DRAIN_SECONDS * SECOND_MS,
    merchantId: settings.PAYMENTS_MERCHANT_ID,
    profileId: settings.PAYMENTS_PROFILE_ID,
    baseUrl: settings.PAYMENTS_BASE_URL,
    apiKey: settings.PAYMENTS_API_KEY,
    sandboxPort: settings.SANDBOX_PORT,
    sandboxWebhookSecret: settings.SANDBOX_WEBHOOK_SECRET,
    chainKey: settings.CHAIN_KEY,
    verifyFullDays: settings.VERIFY_FULL_DAYS,
    eventMaxAttempts: settings.EVENT_MAX_ATTEMPTS,
    rateReservePercent: settings.RATE_RESERVE_PERCENT,
    backgroundRequestsPerMinute: settings.BACKGROUND_REQUESTS_PER_MINUTE,
    authorizationThresholdHours: settings.AUTHORIZATION_THRESHOLD_HOURS,
    authorizationPolicy: settings.AUTHORIZATION_POLICY,
    channels: channelsOf(settings),
    alertSummaryHour: settings.ALERT_SUMMARY_AT,
    archive: archiveOf(settings),
    retention: retentionOf(settings),
    logLevel: settings.LOG_LEVEL,
    secretFiles: secretFiles.files,
    inForce: settingsInForce(new Map(named), secretFiles.files, {
      parsed: settings,
      names: Object.keys(SETTINGS.shape),
    }),
  });
}

/** Settings that are not set although others of their group are, each with those others. */
function missingFromGroups(
  given: ReadonlySet<string>,
): readonly { readonly name: string; readonly present: readonly string[] }[] {
  const groups = [...ALERT_GROUPS, ARCHIVE_GROUP].map((names) => ({ names, besides: [] }));
  const oidc = { names: OIDC_GROUP, besides: [NEEDED_BY_OIDC] };
  return [...groups, oidc].flatMap(({ names, besides }) => {
    const present = names.filter((name) => given.has(name));
    if (present.length === 0) return [];
    return [...names, ...besides]
      .filter((name) => !given.has(name))
      .map((name) => ({ name, present }));
  });
}

/** States the setting and the error, never the value, which may be a secret. */
function explain({ path, message }: z.core.$ZodIssue): string {
  const [name, place] = path;
  const which = typeof place === 'number' ? ` (entry ${place + 1} of the list)` : '';
  return `${String(name)}${which}: ${message}`;
}
