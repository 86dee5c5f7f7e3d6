/**
 * The settings in force, for people: what each is and where it comes from. No value of a secret leaves
 * this file, and of an address neither its password nor its query.
 */

import { formatFingerprint, secretFingerprint } from '../platform/secretFingerprint.ts';

/** `file`: the file `.env` in the working folder; the environment has precedence over it. */
export type SettingSource = 'environment' | 'file' | 'default' | 'unset';

export interface SettingInForce {
  readonly name: string;
  /** Null for a secret, and for a setting that is not set. */
  readonly value: string | null;
  readonly source: SettingSource;
  /** Of the secrets that sign webhooks, in their order: what events are marked with. */
  readonly fingerprints?: readonly string[];
}

/** Settings that are secrets; also addresses that anybody who knows them can post to. */
const HIDDEN_SETTINGS: ReadonlySet<string> = new Set([
  'WEBHOOK_SECRETS',
  'ADMIN_TOKEN',
  'TALLYHOOK_TOKEN',
  'PAYMENTS_API_KEY',
  'SANDBOX_WEBHOOK_SECRET',
  'ALERT_WEBHOOK_SECRET',
  'ALERT_SLACK_URL',
  'ORDER_WEBHOOK_SECRET',
  'ARCHIVE_S3_ACCESS_KEY_ID',
  'ARCHIVE_S3_SECRET_ACCESS_KEY',
]);

const SIGNING_SECRETS = 'WEBHOOK_SECRETS';

/** A name that such a setting of a later version would have. */
const SOUNDS_SECRET = /SECRET|TOKEN|PASSWORD|_KEY$/;

const fileNames = new Set<string>();

/** Records which names of the environment come from a file. */
export function noteFileNames(names: Iterable<string>): void {
  for (const name of names) fileNames.add(name);
}

/**
 * @param given the settings that are set, as text
 * @param parsed every setting, with defaults
 */
export function settingsInForce(
  given: ReadonlyMap<string, string>,
  parsed: Readonly<Record<string, unknown>>,
  names: readonly string[],
): readonly SettingInForce[] {
  return names.map((name): SettingInForce => {
    const text = given.get(name);
    const isHidden = HIDDEN_SETTINGS.has(name) || SOUNDS_SECRET.test(name);
    if (text !== undefined) {
      const source = fileNames.has(name) ? 'file' : 'environment';
      if (isHidden) return { name, value: null, source, ...fingerprintsOf(name, parsed[name]) };
      return { name, value: withoutPassword(text), source };
    }
    const standard = isHidden ? undefined : textOf(parsed[name]);
    if (standard === undefined) return { name, value: null, source: 'unset' };
    return { name, value: standard, source: 'default' };
  });
}

function fingerprintsOf(name: string, secrets: unknown): Pick<SettingInForce, 'fingerprints'> {
  if (name !== SIGNING_SECRETS || !Array.isArray(secrets)) return {};
  return { fingerprints: secrets.map((one) => formatFingerprint(secretFingerprint(String(one)))) };
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return Array.isArray(value) ? value.join(',') : undefined;
}

/** An address without its user's password and its query, each of which may be a secret. */
export function withoutPassword(text: string): string {
  if (!text.includes('://')) return text;
  const [address = '', ...query] = text.split('?');
  // The last @ ends the user: a password that was not encoded may contain others.
  const masked = address.replace(/^([a-z0-9+.-]+:\/\/)(.*)@/is, (_whole, scheme, user: string) =>
    user.includes(':') ? `${scheme}${user.slice(0, user.indexOf(':'))}:•••@` : `${scheme}${user}@`,
  );
  return query.length === 0 ? masked : `${masked}?•••`;
}
