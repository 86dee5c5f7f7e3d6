/**
 * PostgreSQL servers, run from the embedded binaries or from another build: a primary, and standbys copied
 * from it while it runs. A test starts, stops and crashes them; nothing restarts them automatically.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { chooseAccount } from '../../src/platform/embeddedPostgres/account.ts';
import { type Binaries, locateBinaries } from '../../src/platform/embeddedPostgres/binaries.ts';
import { errorCode } from '../../src/platform/errors.ts';
import { serverPort } from './serverPort.ts';
import { waitFor } from './waitFor.ts';

const USER = 'postgres';
const PASSWORD = 'replication-in-tests';
/** The standby's name in `synchronous_standby_names` and in its connection to the primary. */
export const STANDBY = 'standby';

export interface PostgresServer {
  readonly url: string;
  readonly dir: string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Shuts it down cleanly. */
  stop(): Promise<void>;
  /** Ends it immediately, as a power failure does; what it committed is on disk. */
  crash(): Promise<void>;
}

export interface ServerOptions {
  /** Passed to `postgres` as `-c name=value`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** URL of the primary to replicate from. */
  readonly follows?: string;
  readonly port?: number;
  /** The default is the embedded build. */
  readonly programs?: Binaries;
}

const embedded = locateBinaries(process.platform, process.arch);

/** Creates an empty cluster in a folder that does not exist yet. */
export function createCluster(dir: string, { initdb, postgres } = embedded): void {
  const { account } = chooseAccount({ postgres, dataDir: dirname(dir), clusterDir: dir });
  const passwordFile = `${dir}.password`;
  writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
  account.give(passwordFile);
  account.give(dirname(dir));
  const plan = account.plan(initdb, [
    `--pgdata=${dir}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    '--no-sync',
  ]);
  execFileSync(plan.file, plan.args, { ...plan.options, cwd: '/', stdio: 'pipe' });
}

/** Starts the server of a cluster; resolves when it responds to a query. */
export async function startServer(dir: string, options: ServerOptions): Promise<PostgresServer> {
  const port = options.port ?? (await serverPort());
  const { postgres } = options.programs ?? embedded;
  if (options.follows !== undefined) writeFileSync(join(dir, 'standby.signal'), '');
  const { account } = chooseAccount({ postgres, dataDir: dirname(dir), clusterDir: dir });
  const plan = account.plan(postgres, ['-D', dir, ...argumentsOf(port, options)]);
  const log = openSync(`${dir}.log`, 'a', 0o600);
  const child = spawn(plan.file, plan.args, {
    ...plan.options,
    cwd: dir,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let ended = false;
  const exit = once(child, 'exit').then(() => {
    ended = true;
  });
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const query: PostgresServer['query'] = (text, values) => queryOnce(url, text, values);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exit;
  };
  const server = { url, dir, query, stop: () => end('SIGINT'), crash: () => end('SIGQUIT') };
  try {
    await waitFor('the server to respond', () => {
      if (ended)
        throw new Error(`the server ended: ${readFileSync(`${dir}.log`, 'utf8').slice(-2_000)}`);
      return query('select 1').then(
        () => true,
        () => false,
      );
    });
    return server;
  } catch (error) {
    await server.crash();
    throw error;
  }
}

function argumentsOf(port: number, { settings = {}, follows }: ServerOptions): string[] {
  const all: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '32MB',
    wal_keep_size: '512MB',
    wal_retrieve_retry_interval: '200ms',
    lc_messages: 'C',
    ...settings,
  };
  if (follows !== undefined) {
    const { hostname, port: primaryPort } = new URL(follows);
    all.primary_conninfo =
      `host=${hostname} port=${primaryPort} user=${USER} password=${PASSWORD} ` +
      `application_name=${STANDBY}`;
  }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Long, for a busy machine: a server that is down refuses at once. */
const CONNECT_TIMEOUT_MS = 30_000;

async function queryOnce<Row extends object>(
  connectionString: string,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Row>(text, values as unknown[]);
    return rows;
  } finally {
    await client.end();
  }
}

/** Files of the running server, which a copy creates itself. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts', 'standby.signal']);

/** Copies the cluster of a running primary; replaces the content of `dir`. */
export async function copyCluster(primary: PostgresServer, dir: string): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('copy', true)`);
    const wal = join(primary.dir, 'pg_wal');
    // The copy streams its WAL from the primary, which keeps enough of it.
    const isCopied = (file: string) => !NOT_COPIED.has(basename(file)) && dirname(file) !== wal;
    copyFolder(primary.dir, dir, isCopied);
    execFileSync('chmod', ['-R', 'go-rwx', dir]);
    const { rows } = await client.query<{ label: string }>(
      'select labelfile as label from pg_backup_stop(false)',
    );
    writeFileSync(join(dir, 'backup_label'), rows[0]?.label ?? '', { mode: 0o600 });
  } finally {
    await client.end();
  }
}

/** A running server also renames and removes files, such as those of a new connection: what is gone belongs to no copy. */
function copyFolder(from: string, to: string, isCopied: (file: string) => boolean): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const file = join(from, entry.name);
    if (!isCopied(file)) continue;
    if (entry.isDirectory()) copyFolder(file, join(to, entry.name), isCopied);
    else copyIfPresent(file, join(to, entry.name));
  }
}

function copyIfPresent(file: string, to: string): void {
  try {
    copyFileSync(file, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Makes commits wait for the standby; resolves when the standby is synchronous. */
export async function requireStandby(primary: PostgresServer): Promise<void> {
  await primary.query(`alter system set synchronous_standby_names = '${STANDBY}'`);
  await primary.query('select pg_reload_conf()');
  await waitFor('the standby to be synchronous', () => hasStandby(primary));
}

/** Whether a synchronous standby is streaming now. */
export async function hasStandby(primary: PostgresServer): Promise<boolean> {
  const rows = await primary.query(
    `select from pg_stat_replication where sync_state in ('sync', 'quorum') and state = 'streaming'`,
  );
  return rows.length > 0;
}

/** Process ids of the receiver's backends that wait for the standby in a commit. Others may wait before it does. */
export async function waitingBackends(primary: PostgresServer): Promise<readonly number[]> {
  const rows = await primary.query<{ pid: number }>(
    `select pid from pg_stat_activity
      where wait_event = 'SyncRep' and application_name = 'tallyhook-receiver'`,
  );
  return rows.map(({ pid }) => pid);
}
