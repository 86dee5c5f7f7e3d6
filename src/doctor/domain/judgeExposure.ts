/**
 * Judges what the settings expose: connections without encryption, ports that are meant for this machine, and
 * files with secrets that other users can read. Private networks and machines make each acceptable, and the
 * settings do not show whether they are private, so these are warnings. No result contains a URL, which may
 * have a password.
 */
import { addressesOf } from '../../platform/db/hosts.ts';
import { type Judgment, ok, warning } from './judge.ts';

export interface ConnectionSettings {
  readonly databaseUrl: string | undefined;
  readonly migrateDatabaseUrl: string | undefined;
  readonly queueDatabaseUrl: string | undefined;
  readonly databaseReadUrl: string | undefined;
  readonly redis: { readonly hosts: readonly string[]; readonly isTls: boolean } | undefined;
}

/** A file that a secret is read from. */
export interface SecretFileFacts {
  readonly name: string;
  readonly path: string;
  readonly isOpen: boolean;
}

export interface PortSettings {
  /** Undefined: this process does not listen there. */
  readonly adminHost: string | undefined;
  readonly metricsHost: string | undefined;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;
const ENCRYPTED_SSL_MODES = new Set(['require', 'verify-ca', 'verify-full']);

/** Whether the connections to database and queue stay on this machine or are encrypted. */
export function judgeConnections(settings: ConnectionSettings): Judgment {
  const { databaseUrl, databaseReadUrl, migrateDatabaseUrl, queueDatabaseUrl, redis } = settings;
  const problems = [
    ...clearTextHosts('DATABASE_URL', databaseUrl, isPostgresEncrypted),
    ...clearTextHosts('MIGRATE_DATABASE_URL', migrateDatabaseUrl, isPostgresEncrypted),
    ...clearTextHosts('QUEUE_DATABASE_URL', queueDatabaseUrl, isPostgresEncrypted),
    ...clearTextHosts('DATABASE_READ_URL', databaseReadUrl, isPostgresEncrypted),
    ...clearTextRedis(redis),
  ];
  return problems.length === 0
    ? ok('connections leave this machine only encrypted')
    : warning(
        problems
          .map(({ setting, host }) => `${setting} connects to ${host} without TLS`)
          .join('\n'),
        'Add ?sslmode=verify-full to a postgres:// URL, and use rediss:// for Redis. Without TLS, whoever ' +
          'reads the network reads the password and the payments.',
      );
}

/** Whether the admin port and the health port accept connections from this machine only. */
export function judgePorts({ adminHost, metricsHost }: PortSettings): Judgment {
  const open = [
    ...(isOpen(adminHost) ? [`ADMIN_HOST opens the admin port at ${adminHost}`] : []),
    ...(isOpen(metricsHost) ? [`METRICS_HOST opens the health port at ${metricsHost}`] : []),
  ];
  return open.length === 0
    ? ok('the admin port and the health port are open to this machine only')
    : warning(
        open.join('\n'),
        'Use 127.0.0.1 with a proxy that adds TLS, or let only a private network reach the port. Tokens of ' +
          'the admin port cross the network unencrypted, and the health port requires none.',
      );
}

interface ClearTextHost {
  readonly setting: string;
  readonly host: string;
}

function clearTextHosts(
  setting: string,
  text: string | undefined,
  isEncrypted: (url: URL) => boolean,
): readonly ClearTextHost[] {
  // A URL without a host, such as that of a socket, connects to this machine.
  return addressesOf(text ?? '')
    .filter((address) => URL.canParse(address))
    .map((address) => new URL(address))
    .filter((url) => !isEncrypted(url))
    .map((url) => url.searchParams.get('host') ?? decodeURIComponent(url.hostname))
    .filter((host) => host !== '' && !host.startsWith('/') && !LOOPBACK.test(host))
    .map((host) => ({ setting, host }));
}

function clearTextRedis(redis: ConnectionSettings['redis']): readonly ClearTextHost[] {
  if (redis === undefined || redis.isTls) return [];
  return redis.hosts
    .filter((host) => !LOOPBACK.test(host))
    .map((host) => ({ setting: 'REDIS_URL', host }));
}

function isPostgresEncrypted({ searchParams }: URL): boolean {
  const mode = searchParams.get('sslmode');
  return mode === null
    ? ['true', '1'].includes(searchParams.get('ssl') ?? '')
    : ENCRYPTED_SSL_MODES.has(mode);
}

function isOpen(host: string | undefined): host is string {
  return host !== undefined && !LOOPBACK.test(host);
}

/** Whether the files that secrets are read from are private. */
export function judgeSecretFiles(files: readonly SecretFileFacts[]): Judgment {
  const open = files.filter(({ isOpen: isReadable }) => isReadable);
  if (open.length === 0) {
    return ok(
      files.length === 0
        ? 'no secret is read from a file of its own'
        : `${files.map(({ name }) => name).join(', ')}: only the owner and the group read the file`,
    );
  }
  return warning(
    open
      .map(({ name, path }) => `${name}_FILE: every user of the machine can read or change ${path}`)
      .join('\n'),
    `Run: chmod 400 ${open.map(({ path }) => path).join(' ')}`,
  );
}
