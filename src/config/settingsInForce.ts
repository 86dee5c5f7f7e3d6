/**
 * The settings in force, for people: what each is and where it comes from. No value of a secret leaves
 * this file, of an address neither its password nor its query, and only the server of one that messages are
 * posted to.
 */

import { formatFingerprint, secretFingerprint } from '../platform/secretFingerprint.ts';
import { maskedUrl } from './maskedUrl.ts';
import { HIDDEN_SETTINGS, type SecretFile } from './secretFiles.ts';

/**
 * `file`: the file `.env` in the working folder; the environment has precedence over it.
 * `secret_file`: the file that `NAME_FILE` names.
 */
export type SettingSource = 'environment' | 'file' | 'secret_file' | 'default' | 'unset';

export interface SettingInForce {
  readonly name: string;
  /** Null for a secret, and for a setting that is not set. */
  readonly value: string | null;
  readonly source: SettingSource;
  /** Of a setting that is read from a file of its own. */
  readonly path?: string;
  /** Of the secrets that sign webhooks, in their order: what events are marked with. */
  readonly fingerprints?: readonly string[];
}

const SIGNING_SECRETS = 'WEBHOOK_SECRETS';

/** A name that such a setting of a later version would have. */
const SOUNDS_SECRET = /SECRET|TOKEN|PASSWORD|_KEY$/;

/** Addresses that messages are posted to: a token for that is in the path. */
const POSTED_TO: ReadonlySet<string> = new Set(['ALERT_WEBHOOK_URL', 'ORDER_WEBHOOK_URL']);

const fileNames = new Set<string>();

/** Records which names of the environment come from a file. */
export function noteFileNames(names: Iterable<string>): void {
  for (const name of names) fileNames.add(name);
}

/** Whether a file added a name to the environment. */
export function isFromFile(name: string): boolean {
  return fileNames.has(name);
}

/**
 * @param given the settings that are set, as text
 * @param files those of them that were read from files
 * @param schema every setting by name, and with defaults
 */
export function settingsInForce(
  given: ReadonlyMap<string, string>,
  files: readonly SecretFile[],
  { names, parsed }: SchemaOutput,
): readonly SettingInForce[] {
  const paths = new Map(files.map(({ name, path }) => [name, path]));
  return names.map((name): SettingInForce => {
    const text = given.get(name);
    const isHidden = HIDDEN_SETTINGS.has(name) || SOUNDS_SECRET.test(name);
    if (text !== undefined) {
      const source = sourceOf(name, paths.get(name));
      if (isHidden) return { name, value: null, ...source, ...fingerprintsOf(name, parsed[name]) };
      const value = POSTED_TO.has(name) ? maskedUrl(text) : withoutPassword(text);
      return { name, value, ...source };
    }
    const standard = isHidden ? undefined : textOf(parsed[name]);
    if (standard === undefined) return { name, value: null, source: 'unset' };
    return { name, value: standard, source: 'default' };
  });
}

interface SchemaOutput {
  readonly names: readonly string[];
  readonly parsed: Readonly<Record<string, unknown>>;
}

function sourceOf(name: string, path: string | undefined): Pick<SettingInForce, 'source' | 'path'> {
  if (path !== undefined) return { source: 'secret_file', path };
  return { source: isFromFile(name) ? 'file' : 'environment' };
}

/** Whether somebody set it. */
export function isSet({ source }: SettingInForce): boolean {
  return source !== 'default' && source !== 'unset';
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
