/**
 * Secrets that are read from files, as Docker, Kubernetes and systemd provide them: `NAME_FILE` is the path
 * of the file that has the value of the setting NAME.
 *
 * 1. A setting and its file are never both set: which one wins would be a guess.
 * 2. A file that is missing, unreadable or empty is an error, never a setting that is not set: it is one line,
 *    and no other setting is reported for it.
 * 3. One line break at the end is not part of the secret: editors and `echo` add it.
 * 4. No message contains what is in a file.
 */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { errorCode } from '../platform/errors.ts';

/** Secrets, and addresses that anybody who knows them can post to. */
const SECRETS = [
  'WEBHOOK_SECRETS',
  'ADMIN_TOKEN',
  'TALLYHOOK_TOKEN',
  'CONSOLE_OIDC_CLIENT_SECRET',
  'PAYMENTS_API_KEY',
  'SANDBOX_WEBHOOK_SECRET',
  'CHAIN_KEY',
  'ALERT_WEBHOOK_SECRET',
  'ALERT_SLACK_URL',
  'ORDER_WEBHOOK_SECRET',
  'ARCHIVE_S3_ACCESS_KEY_ID',
  'ARCHIVE_S3_SECRET_ACCESS_KEY',
] as const;

/** Addresses that may contain a password. */
const ADDRESSES = [
  'DATABASE_URL',
  'MIGRATE_DATABASE_URL',
  'QUEUE_DATABASE_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'SMTP_URL',
] as const;

/** Settings of which no value is ever shown. */
export const HIDDEN_SETTINGS: ReadonlySet<string> = new Set(SECRETS);

/** Settings that can be read from a file. */
export const FILE_SETTINGS: ReadonlySet<string> = new Set([...SECRETS, ...ADDRESSES]);

/** More than a list of secrets has; a larger file is something else. */
const MAX_BYTES = 64 * 1024;

export interface SecretFile {
  /** The setting. */
  readonly name: string;
  readonly path: string;
  /** Whether every user of the machine may read or change it. */
  readonly isOpen: boolean;
}

export interface SecretFiles {
  readonly files: readonly SecretFile[];
  /** By the name of the setting. */
  readonly values: ReadonlyMap<string, string>;
  /** What is wrong, by the name of the setting, which then has no value. */
  readonly errors: ReadonlyMap<string, string>;
}

export function readSecretFiles(env: Readonly<Record<string, string | undefined>>): SecretFiles {
  const files: SecretFile[] = [];
  const values = new Map<string, string>();
  const errors = new Map<string, string>();
  for (const name of FILE_SETTINGS) {
    const variable = `${name}_FILE`;
    const path = env[variable];
    if (path === undefined || path === '') continue;
    const read = env[name] ? bothSet(name) : readSecretFile(path);
    if ('problem' in read) {
      errors.set(name, `${variable}: ${read.problem}`);
    } else {
      files.push({ name, path, isOpen: read.isOpen });
      values.set(name, read.value);
    }
  }
  return { files, values, errors };
}

type Read = { readonly value: string; readonly isOpen: boolean } | { readonly problem: string };

function bothSet(name: string): Read {
  return { problem: `must not be set together with ${name}; remove one of the two` };
}

function readSecretFile(path: string): Read {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return { problem: `${path} is not a file` };
    if (stats.size > MAX_BYTES) return { problem: `${path} is larger than ${MAX_BYTES} bytes` };
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (value.trim() === '') return { problem: `${path} is empty; write the secret to it` };
    return { value, isOpen: isOpen(stats) };
  } catch (error) {
    return { problem: explain(path, error) };
  }
}

const OTHERS_READ_OR_WRITE = 0o006;

function isOpen({ mode }: Stats): boolean {
  return (mode & OTHERS_READ_OR_WRITE) !== 0;
}

function explain(path: string, error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT') {
    return `there is no file ${path}; correct the path, or check that the secret is mounted there`;
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return `${path} cannot be read by the user of this process; make that user the owner of the file`;
  }
  return `${path} cannot be read (${code})`;
}
