/**
 * Settings of the sign-in at an OpenID Connect provider.
 *
 * 1. The provider is reached by https, except on this machine.
 * 2. They are set together or not at all, and with the public address of the console, to which the provider
 *    sends people back.
 * 3. Whoever has several of the values gets the role of the first in the list.
 */
import { z } from 'zod';
import { isLoopback } from './alertSettings.ts';
import { text } from './values.ts';

const issuer = z.string().transform((value, context): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url && isSafe && url.username === '' && url.search === '' && url.hash === '') return value;
  const message =
    'must be the address of the provider, https:// and without a query; http:// is allowed only for this machine';
  context.issues.push({ code: 'custom', message, input: value });
  return z.NEVER;
});

/** Roles that people may have; a program that reads metrics has a token. */
const PERSON_ROLES = ['viewer', 'shop', 'operator', 'treasurer', 'admin'] as const;
type PersonRole = (typeof PERSON_ROLES)[number];

export interface RoleMapping {
  /** A value of the claim. */
  readonly value: string;
  readonly role: PersonRole;
}

/** `payments-oncall=operator,accounting=viewer`. A value may contain `=`. */
const roles = z.string().transform((list, context): readonly RoleMapping[] => {
  const mappings = list.split(',').map(readMapping);
  const values = new Set(mappings.map((mapping) => mapping?.value));
  if (mappings.every((one) => one !== undefined) && values.size === mappings.length) {
    return mappings;
  }
  const message = `must be value=role, separated by commas, each value once, with the roles ${PERSON_ROLES.join(', ')}`;
  context.issues.push({ code: 'custom', message, input: list });
  return z.NEVER;
});

function readMapping(entry: string): RoleMapping | undefined {
  const at = entry.lastIndexOf('=');
  const value = entry.slice(0, Math.max(0, at)).trim();
  const role = PERSON_ROLES.find((one) => one === entry.slice(at + 1).trim());
  return value === '' || role === undefined ? undefined : { value, role };
}

export const OIDC_SETTINGS = {
  CONSOLE_OIDC_ISSUER: issuer.optional(),
  CONSOLE_OIDC_CLIENT_ID: text(255).optional(),
  CONSOLE_OIDC_CLIENT_SECRET: text().optional(),
  CONSOLE_OIDC_ROLES: roles.optional(),
  CONSOLE_OIDC_ROLE_CLAIM: z.string().trim().pipe(text(255)).default('groups'),
  CONSOLE_OIDC_SCOPES: z
    .string()
    .trim()
    .refine((list) => list.split(/\s+/).includes('openid'), {
      message: 'must contain openid, with spaces between the scopes',
    })
    .default('openid profile email'),
} as const;

/** Settings for which an empty value is an error instead of "not set". */
export const OIDC_SECRETS = ['CONSOLE_OIDC_CLIENT_SECRET'] as const;

/** Settings that are set together (rule 2). */
export const OIDC_GROUP = [
  'CONSOLE_OIDC_ISSUER',
  'CONSOLE_OIDC_CLIENT_ID',
  'CONSOLE_OIDC_CLIENT_SECRET',
  'CONSOLE_OIDC_ROLES',
] as const;

/** What the group needs besides (rule 2). */
export const NEEDED_BY_OIDC = 'PUBLIC_CONSOLE_URL';

export interface OidcSettings {
  /** Without a slash at its end. */
  readonly consoleUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: string;
  readonly roleClaim: string;
  readonly roles: readonly RoleMapping[];
}

/** @returns undefined if there is no provider */
export function oidcOf(
  settings: z.output<z.ZodObject<typeof OIDC_SETTINGS>>,
  consoleUrl: string | undefined,
): OidcSettings | undefined {
  const {
    CONSOLE_OIDC_ISSUER: issuerUrl,
    CONSOLE_OIDC_CLIENT_ID: clientId,
    CONSOLE_OIDC_CLIENT_SECRET: clientSecret,
    CONSOLE_OIDC_ROLES: mapping,
  } = settings;
  if (consoleUrl === undefined || issuerUrl === undefined || clientId === undefined)
    return undefined;
  if (clientSecret === undefined || mapping === undefined) return undefined;
  return {
    consoleUrl,
    issuer: issuerUrl,
    clientId,
    clientSecret,
    scopes: settings.CONSOLE_OIDC_SCOPES,
    roleClaim: settings.CONSOLE_OIDC_ROLE_CLAIM,
    roles: mapping,
  };
}
