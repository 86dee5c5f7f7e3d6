/**
 * Settings of outgoing messages: the channels of alerts, and the endpoint of order webhooks.
 *
 * 1. Nothing is sent in clear text: https and SMTP with TLS, except to this machine.
 * 2. An endpoint and its signing secret are set together or not at all.
 */
import { z } from 'zod';
import type { LogLevel } from '../platform/log.ts';
import { oneOf } from './values.ts';

const SEVERITIES = ['info', 'warning', 'critical'] as const;

/** Host names of this machine. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export function isLoopback(url: URL): boolean {
  return LOOPBACK.test(url.hostname);
}

function urlOf(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A URL for POST requests. */
const httpUrl = z
  .string()
  .refine(
    (value) => {
      const url = urlOf(value);
      if (url?.protocol === 'https:') return true;
      return url?.protocol === 'http:' && isLoopback(url);
    },
    { message: 'must begin with https://; http:// is allowed only for this machine' },
  )
  .refine(
    (value) => {
      const url = urlOf(value);
      return url === undefined || (url.username === '' && url.password === '');
    },
    {
      message:
        'must not contain a user name or password, which requests cannot use; ' +
        'if the receiver needs more than a signature, put a token in the path',
    },
  );

const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;
const SIGNING_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

const signingSecret = z.string().refine(
  (value) => {
    const [, key = ''] = SIGNING_SECRET.exec(value) ?? [];
    const bytes = Buffer.from(key, 'base64').length;
    return bytes >= MIN_KEY_BYTES && bytes <= MAX_KEY_BYTES && key.length % 4 === 0;
  },
  {
    message:
      `must be whsec_ and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64; ` +
      '`echo whsec_$(openssl rand -base64 32)` makes one',
  },
);

/** Newest first. Each one signs, so that a receiver can still verify with the old one. */
const signingSecrets = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(signingSecret));

const smtpUrl = z
  .string()
  .refine(
    (value) => {
      const url = urlOf(value);
      if (url?.protocol !== 'smtp:' && url?.protocol !== 'smtps:') return false;
      return url.hostname !== '' && isDecodable(url.username) && isDecodable(url.password);
    },
    {
      message:
        'must be smtp://user:password@host:port or smtps://…, with special characters %-encoded',
    },
  )
  .transform((value): SmtpServer => {
    const url = new URL(value);
    const isTls = url.protocol === 'smtps:';
    return {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
      isTls,
      isLoopback: isLoopback(url),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  });

/** One address, without a name and without characters that could inject a header. */
const mailAddress = z
  .string()
  .trim()
  .regex(
    /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/,
    'must be plain addresses: name@example.com',
  );

const mailAddresses = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(mailAddress));

const severity = oneOf(SEVERITIES);

/** `off`, or an hour of the day in UTC. */
const hour = z
  .string()
  .regex(/^(off|[01]?\d|2[0-3])$/, 'must be an hour in UTC, 0 to 23, or off')
  .transform((text) => (text === 'off' ? undefined : Number(text)));

export const ALERT_SETTINGS = {
  ALERT_WEBHOOK_URL: httpUrl.optional(),
  ALERT_WEBHOOK_SECRET: signingSecrets.optional(),
  ALERT_WEBHOOK_SEVERITY: severity.default('info'),
  ALERT_SLACK_URL: httpUrl.optional(),
  ALERT_SLACK_SEVERITY: severity.default('warning'),
  ALERT_MAIL_TO: mailAddresses.optional(),
  ALERT_MAIL_FROM: mailAddress.optional(),
  SMTP_URL: smtpUrl.optional(),
  ALERT_MAIL_SEVERITY: severity.default('warning'),
  ALERT_SUMMARY_AT: hour.prefault('6'),
  ORDER_WEBHOOK_URL: httpUrl.optional(),
  ORDER_WEBHOOK_SECRET: signingSecrets.optional(),
} as const;

/** Settings for which an empty value is an error instead of "not set". */
export const ALERT_SECRETS = ['ALERT_WEBHOOK_SECRET', 'ORDER_WEBHOOK_SECRET'] as const;

type Name = keyof typeof ALERT_SETTINGS;

/** Settings that are set together (rule 2). */
export const ALERT_GROUPS: readonly (readonly Name[])[] = [
  ['ALERT_WEBHOOK_URL', 'ALERT_WEBHOOK_SECRET'],
  ['ORDER_WEBHOOK_URL', 'ORDER_WEBHOOK_SECRET'],
  ['ALERT_MAIL_TO', 'ALERT_MAIL_FROM', 'SMTP_URL'],
];

export type AlertSeverity = (typeof SEVERITIES)[number];

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise the connection is upgraded with STARTTLS first. */
  readonly isTls: boolean;
  readonly isLoopback: boolean;
  readonly user: string;
  readonly password: string;
}

export interface SignedEndpoint {
  readonly url: string;
  /** Newest first; each signs. */
  readonly secrets: readonly string[];
}

/** The configured channels. */
export interface ChannelSettings {
  readonly log: { readonly severity: AlertSeverity } | undefined;
  readonly webhook: (SignedEndpoint & { readonly severity: AlertSeverity }) | undefined;
  readonly slack: { readonly url: string; readonly severity: AlertSeverity } | undefined;
  readonly mail:
    | {
        readonly to: readonly string[];
        readonly from: string;
        readonly smtp: SmtpServer;
        readonly severity: AlertSeverity;
      }
    | undefined;
  /** The endpoint of order webhooks. */
  readonly shop: SignedEndpoint | undefined;
}

type Settings = z.output<z.ZodObject<typeof ALERT_SETTINGS>> & { readonly LOG_LEVEL: LogLevel };

/** Builds the channels from validated settings. */
export function channelsOf(settings: Settings): ChannelSettings {
  const { ALERT_SLACK_URL: slackUrl, ALERT_MAIL_TO: to, ALERT_MAIL_FROM: from } = settings;
  const { SMTP_URL: smtp } = settings;
  const webhook = endpointOf(settings.ALERT_WEBHOOK_URL, settings.ALERT_WEBHOOK_SECRET);
  const logSeverity = severityShownAt(settings.LOG_LEVEL);
  return {
    log: logSeverity && { severity: logSeverity },
    webhook: webhook && { ...webhook, severity: settings.ALERT_WEBHOOK_SEVERITY },
    slack:
      slackUrl === undefined
        ? undefined
        : { url: slackUrl, severity: settings.ALERT_SLACK_SEVERITY },
    mail:
      to === undefined || from === undefined || smtp === undefined
        ? undefined
        : { to, from, smtp, severity: settings.ALERT_MAIL_SEVERITY },
    shop: endpointOf(settings.ORDER_WEBHOOK_URL, settings.ORDER_WEBHOOK_SECRET),
  };
}

/** The log is a channel only for alerts that its level shows. */
function severityShownAt(level: LogLevel): AlertSeverity | undefined {
  switch (level) {
    case 'trace':
    case 'debug':
    case 'info':
      return 'info';
    case 'warn':
      return 'warning';
    case 'error':
    case 'silent':
      return undefined;
  }
}

function endpointOf(
  url: string | undefined,
  secrets: readonly string[] | undefined,
): SignedEndpoint | undefined {
  return url === undefined || secrets === undefined ? undefined : { url, secrets };
}
