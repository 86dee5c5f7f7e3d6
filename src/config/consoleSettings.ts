/** Settings of the console in a browser: its public address, and the name of this installation. */
import { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '../platform/time.ts';
import { wholeNumber } from './values.ts';

/** The origin of the console, without a path: a page's address begins with it. */
const consoleUrl = z.string().transform((value, context): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url && isWeb && value.replace(/\/$/, '').toLowerCase() === url.origin) return url.origin;
  const message = 'must be an address without a path, such as https://tallyhook.shop.example';
  context.issues.push({ code: 'custom', message, input: value });
  return z.NEVER;
});

const MAX_NAME_LENGTH = 60;
const NAME_LENGTH = `must have 1 to ${MAX_NAME_LENGTH} characters`;

export const CONSOLE_SETTINGS = {
  PUBLIC_CONSOLE_URL: consoleUrl.optional(),
  INSTALLATION_NAME: z
    .string()
    .trim()
    .min(1, NAME_LENGTH)
    .max(MAX_NAME_LENGTH, NAME_LENGTH)
    .regex(/^\P{C}*$/u, 'must not contain control characters')
    .default('Tallyhook'),
  CONSOLE_SESSION_IDLE_MINUTES: wholeNumber(5, 1440).default(480),
  CONSOLE_SESSION_HOURS: wholeNumber(1, 720).default(24),
} as const;

/** How long people stay signed in to the console. */
export interface SessionSettings {
  readonly idleMs: number;
  readonly lifetimeMs: number;
}

export function sessionsOf(
  settings: z.output<z.ZodObject<typeof CONSOLE_SETTINGS>>,
): SessionSettings {
  return {
    idleMs: settings.CONSOLE_SESSION_IDLE_MINUTES * MINUTE_MS,
    lifetimeMs: settings.CONSOLE_SESSION_HOURS * HOUR_MS,
  };
}

/** What people call this installation, and where its pages are. */
export interface InstallationSettings {
  readonly name: string;
  /** Without a slash at its end; undefined: messages have no links. */
  readonly consoleUrl: string | undefined;
}

export function installationOf(
  settings: z.output<z.ZodObject<typeof CONSOLE_SETTINGS>>,
): InstallationSettings {
  return { name: settings.INSTALLATION_NAME, consoleUrl: settings.PUBLIC_CONSOLE_URL };
}
