/**
 * PgBouncer before a PostgreSQL server of the tests: clients get a server connection for one transaction
 * each, from few enough that they really share them.
 *
 * With `TEST_POOLER=transaction` in the environment, Tallyhook reaches every test database through one
 * (`poolerSettings`), and the queue directly.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { serverPort } from './serverPort.ts';
import { waitFor } from './waitFor.ts';

/** Debian installs it outside of an ordinary user's path. */
const PROGRAM =
  process.env.TEST_PGBOUNCER ??
  ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer'].find(existsSync) ??
  'pgbouncer';

export const isPgBouncerInstalled = spawnSync(PROGRAM, ['--version']).status === 0;

export interface PgBouncer {
  /** The URL of a database of the server, through this pooler. */
  readonly through: (url: string) => string;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  /** A URL of the server, with the user that the tests log in as. */
  readonly serverUrl: string;
  readonly mode?: 'session' | 'transaction' | 'statement';
  /** Server connections for each database and user. */
  readonly poolSize?: number;
  /** Further lines of the section `pgbouncer`. */
  readonly lines?: readonly string[];
}

export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const port = await serverPort();
  const dir = mkdtempSync(join(tmpdir(), 'tallyhook-pgbouncer-'));
  const child = spawn(PROGRAM, [writeConfiguration(dir, port, options)], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const through = (url: string): string => {
    const changed = new URL(url);
    changed.host = `127.0.0.1:${port}`;
    return changed.href;
  };
  await waitFor('pgbouncer to respond', () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${child.exitCode}`);
    const client = new pg.Client({ connectionString: through(options.serverUrl) });
    client.on('error', () => undefined);
    return client
      .connect()
      .then(() => client.end())
      .then(
        () => true,
        () => false,
      );
  });
  return {
    through,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * The settings that name a database: through the pooler of all tests if there is one, which serves only
 * the server that they share.
 */
export function databaseSettings(url: string): {
  readonly DATABASE_URL: string;
  readonly QUEUE_DATABASE_URL?: string;
} {
  const pooler = inject('poolerUrl');
  if (pooler === undefined || hostOf(url) !== hostOf(inject('postgresUrl'))) {
    return { DATABASE_URL: url };
  }
  const through = new URL(url);
  through.host = hostOf(pooler);
  return { DATABASE_URL: through.href, QUEUE_DATABASE_URL: url };
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

function writeConfiguration(dir: string, port: number, options: PgBouncerOptions): string {
  const { serverUrl, mode = 'transaction', poolSize = 4, lines = [] } = options;
  const server = new URL(serverUrl);
  const users = join(dir, 'users.txt');
  writeFileSync(users, `"${server.username}" "${decodeURIComponent(server.password)}"\n`);
  const file = join(dir, 'pgbouncer.ini');
  const all = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    // Users that a test creates log in, too: their secrets are read from the server.
    'auth_type = scram-sha-256',
    `auth_user = ${server.username}`,
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 500',
    // A server that a test stops and starts again is back within a moment.
    'server_login_retry = 1',
    // A database that a test drops must not wait for connections that nobody uses.
    'server_idle_timeout = 5',
    // It refuses to run as root.
    ...(process.getuid?.() === 0 ? ['user = nobody'] : []),
    ...lines,
  ];
  writeFileSync(file, `${all.join('\n')}\n`);
  for (const [path, rights] of [
    [dir, 0o755],
    [users, 0o644],
    [file, 0o644],
  ] as const) {
    chmodSync(path, rights);
  }
  return file;
}
