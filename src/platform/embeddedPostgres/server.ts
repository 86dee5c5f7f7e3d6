/**
 * One PostgreSQL server process: finds, starts and stops it, and checks whether it is ready.
 *
 * The caller holds the start lock.
 *
 * S1 `postmaster.pid` is trusted only when the process it names is PostgreSQL in this folder.
 * S2 It is removed only when it would prevent PostgreSQL from starting (its pid belongs to another
 *    program) and no PostgreSQL process is left in the folder. In every other case PostgreSQL checks
 *    it, which keeps its shared memory check, the guard against a second server, in effect.
 * S3 The postmaster is never killed with SIGKILL: its children would continue to write.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Account } from './account.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { type DataFolder, readIfPresent } from './folder.ts';
import { isPidTaken, type ProcessTable, signal, waitUntil } from './processes.ts';

const ORPHAN_TIMEOUT_MS = 10_000;
const FAST_STOP_TIMEOUT_MS = 60_000;
const IMMEDIATE_STOP_TIMEOUT_MS = 10_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

export interface Server {
  readonly pid: number;
  readonly port: number;
  /** Identifies the process, together with the pid. */
  readonly startedAt: string;
}

export interface ServerContext {
  readonly folder: DataFolder;
  readonly account: Account;
  readonly postgres: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly processes: ProcessTable;
  readonly choosePort: () => Promise<number>;
  readonly log: (message: string) => void;
  readonly onWait: (message: string) => void;
}

export interface Launched {
  readonly server: Server;
  /** The server's log since it was launched. */
  readonly ownLog: () => string;
  readonly onEnd: (listener: (how: string) => void) => void;
}

interface LockFile {
  /** NaN when the file is empty; negative when a single-user server holds it. */
  readonly pid: number;
  readonly port: number;
  readonly status: string;
}

/** `postmaster.pid`: line 1 the pid, line 4 the port, line 8 the state. */
export function readLockFile({ clusterDir }: DataFolder): LockFile | undefined {
  const text = readIfPresent(path.join(clusterDir, 'postmaster.pid'));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  return { pid, port: Number(lines[3]), status: lines[7]?.trim() ?? '' };
}

/** The server that runs on this folder. If none does, removes what would block a new one. */
export async function findServerOrRemoveLeftovers(
  context: ServerContext,
): Promise<Server | undefined> {
  const { folder, processes, log } = context;
  const lock = readLockFile(folder);
  const holder = Math.abs(lock?.pid ?? Number.NaN);
  if (lock && processes.isPostgresIn(holder, folder.clusterDir)) {
    if (lock.pid < 0) throw singleUserServer(holder, folder);
    const startedAt = processes.startedAt(holder);
    if (startedAt !== undefined) return { pid: holder, port: lock.port, startedAt };
  }
  await endOrphans(context);
  if (lock && (Number.isNaN(holder) || isPidTaken(holder))) {
    log(`removing a stale postmaster.pid: process ${holder} is not PostgreSQL`);
    rmSync(path.join(folder.clusterDir, 'postmaster.pid'), { force: true });
  }
  return undefined;
}

/**
 * Ends server processes that outlived a killed postmaster. Idle ones notice and exit; busy ones
 * continue, hold the shared memory, and block the restart. SIGQUIT ends them without a checkpoint, and
 * the next start recovers from the write-ahead log, as after a power failure.
 */
async function endOrphans({ folder, processes, log }: ServerContext): Promise<void> {
  const orphans = () => processes.allPostgresIn(folder.clusterDir);
  if (orphans().length === 0) return;
  log(`ending PostgreSQL processes that outlived their server: ${orphans().join(', ')}`);
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    for (const pid of orphans()) signal(pid, name);
    if (await waitUntil(() => orphans().length === 0, ORPHAN_TIMEOUT_MS)) return;
  }
  throw new EmbeddedPostgresError(
    'folder_busy',
    `Processes of an earlier PostgreSQL server do not end: ${orphans().join(', ')}. They work in ` +
      `${folder.clusterDir}, and a second server beside them would destroy data. Usually the disk hangs. End them and start again.`,
  );
}

/**
 * Starts the process without waiting until it is ready.
 * @param wantedPort a free port if omitted
 */
export async function launchServer(
  context: ServerContext,
  wantedPort: number | undefined,
): Promise<Launched> {
  const { folder, account, processes } = context;
  const port = wantedPort || (await context.choosePort());
  const plan = account.plan(context.postgres, serverArguments(context, port));
  rotateLog(folder.logFile);
  const log = openSync(folder.logFile, 'a', 0o600);
  try {
    account.give(folder.logFile);
    const logOffset = fstatSync(log).size;
    // Detached, in a session of its own: Ctrl-C reaches the whole foreground group, and the server
    // must run until the application has drained. Unreferenced: Node may exit while the server runs.
    const child = spawn(plan.file, plan.args, {
      ...plan.options,
      cwd: folder.clusterDir,
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    await once(child, 'spawn');
    const pid = child.pid ?? Number.NaN;
    return {
      server: { pid, port, startedAt: processes.startedAt(pid) ?? 'ended at once' },
      ownLog: () => readFileSync(folder.logFile).subarray(logOffset).toString('utf8'),
      onEnd: (listener) => {
        child.once('exit', (code, signalName) => listener(signalName ?? `exit code ${code}`));
      },
    };
  } finally {
    closeSync(log);
  }
}

/** Later settings win, so callers can override the defaults, but not where the server listens. */
function serverArguments({ folder, settings }: ServerContext, port: number): string[] {
  const all = {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    max_connections: '100',
    shared_buffers: '256MB',
    lc_messages: 'C',
    // Error details quote whole rows, and rows contain personal data.
    log_error_verbosity: 'terse',
    ...settings,
    logging_collector: 'off',
    log_destination: 'stderr',
    listen_addresses: '127.0.0.1',
    port: String(port),
    // A socket path has at most 93 characters, and a data folder may have a longer one; TCP is enough.
    unix_socket_directories: '',
  };
  return [
    '-D',
    folder.clusterDir,
    ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

/** Whether the server itself reports that it accepts connections. */
export function reportsReady(folder: DataFolder, server: Server): boolean {
  const lock = readLockFile(folder);
  return lock?.pid === server.pid && lock.status === 'ready';
}

export function isRunning(server: Server, processes: ProcessTable): boolean {
  return processes.startedAt(server.pid) === server.startedAt;
}

/**
 * SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint. SIGTERM is not
 * used, because it waits for every client to disconnect.
 */
export async function shutDown(
  server: Server,
  context: Pick<ServerContext, 'processes' | 'log'>,
): Promise<void> {
  const { processes, log } = context;
  const ended = () => !isRunning(server, processes);
  if (ended()) return;
  signal(server.pid, 'SIGINT');
  if (await waitUntil(ended, FAST_STOP_TIMEOUT_MS)) return;
  log(
    `PostgreSQL (pid ${server.pid}) did not stop in ${FAST_STOP_TIMEOUT_MS / 1000} s; the next start will recover`,
  );
  signal(server.pid, 'SIGQUIT');
  if (await waitUntil(ended, IMMEDIATE_STOP_TIMEOUT_MS)) return;
  throw new EmbeddedPostgresError(
    'stop_failed',
    `PostgreSQL (pid ${server.pid}) does not stop. Usually its disk hangs. It is still running, and its data is safe.`,
  );
}

/** A port that is free now. Another process may take it before the caller does, which then retries. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port: 0, exclusive: true }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(file, `${file}.1`);
}

function singleUserServer(pid: number, folder: DataFolder): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'folder_busy',
    `A single-user PostgreSQL (pid ${pid}) uses ${folder.clusterDir}. Wait until it has ended, and start again.`,
  );
}
