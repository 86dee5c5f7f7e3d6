/**
 * Starts or attaches to the server of a data folder. See index.ts for the terms and invariants. With
 * the seams below, tests simulate another platform or a port that is taken at the last moment.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { explainFullDisk } from '../errors.ts';
import { chooseAccount } from './account.ts';
import { locateBinaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { connectionString, type OpenOutcome, openDatabase } from './database.ts';
import { EmbeddedPostgresError, lastLines } from './errors.ts';
import { type DataFolder, prepareDataFolder } from './folder.ts';
import { readPassword, replaceLostPassword } from './password.ts';
import type { ProcessTable } from './processes.ts';
import {
  findServerOrRemoveLeftovers,
  isRunning,
  launchServer,
  readLockFile,
  reportsReady,
  type Server,
  type ServerContext,
  shutDown,
} from './server.ts';
import { acquireStartLock, type Release, startLockFiles } from './startLock.ts';
import { supervise } from './supervise.ts';
import { endUse, isUsed, recordUse } from './uses.ts';

export interface EmbeddedPostgres {
  /** postgres://... on 127.0.0.1, with the generated password. */
  readonly connectionString: string;
  /**
   * Restarts the server whenever it ends while it is in use. Resolves with `stop()`; rejects with an
   * EmbeddedPostgresError after the last restart attempt.
   */
  supervise(warn: (message: string) => void): Promise<void>;
  /** Ends this use, and stops the server (fast shutdown, SIGINT) if it was the last use. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Created if missing; the cluster is <dataDir>/postgres. */
  readonly dataDir: string;
  readonly log: (message: string) => void;
  /** Is given what a start waits for, every five seconds; undefined: `log`. */
  readonly onWait?: (message: string) => void;
  /** Additional PostgreSQL settings (-c name=value). A running server keeps its own. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Seams {
  readonly processes: ProcessTable;
  readonly choosePort: () => Promise<number>;
}

// Crash recovery of a busy ledger may take minutes. A server that fails ends at once.
const READY_TIMEOUT_MS = 300_000;
const START_LOCK_TIMEOUT_MS = READY_TIMEOUT_MS + 60_000;
const STOP_LOCK_TIMEOUT_MS = 10_000;
const PROGRESS_INTERVAL_MS = 5_000;
// A ready server responds at once. On a machine under load it may miss a connection or two.
const NO_RESPONSE_TIMEOUT_MS = 30_000;
const LAUNCH_ATTEMPTS = 5;

interface Reached {
  readonly server: Server;
  /** Calls back once when a server that this process launched has ended, for any reason. */
  readonly onEnd?: (listener: (how: string) => void) => void;
}

/** @throws OperatorError when an operator must fix something first */
export function start(options: EmbeddedPostgresOptions, seams: Seams): Promise<EmbeddedPostgres> {
  return startOrAttach(options, seams).catch(explainFullDisk);
}

async function startOrAttach(
  options: EmbeddedPostgresOptions,
  { processes, choosePort }: Seams,
): Promise<EmbeddedPostgres> {
  const { initdb, postgres } = locateBinaries(process.platform, process.arch);
  const folder = prepareDataFolder(options.dataDir);
  const { log, onWait = log, settings = {} } = options;
  const release = await lockFolder(folder, START_LOCK_TIMEOUT_MS, { log, onWait });
  try {
    const { account, majorVersion } = chooseAccount({ postgres, ...folder });
    for (const file of [folder.dataDir, ...startLockFiles(folder.dataDir)]) account.give(file);
    await ensureCluster({ folder, account, initdb, majorVersion, processes, log });
    const context = { folder, account, postgres, settings, processes, choosePort, log, onWait };
    return createHandle(context, await reachServer(context));
  } finally {
    await release();
  }
}

async function reachServer(context: ServerContext): Promise<Reached> {
  for (let attempt = 1; attempt <= LAUNCH_ATTEMPTS; attempt++) {
    // Processes that used a crashed server reconnect to its old port.
    const port = attempt === 1 ? readLockFile(context.folder)?.port : undefined;
    const running = await findServerOrRemoveLeftovers(context);
    const reached = running ? await join(context, running) : await launch(context, port);
    if (reached !== undefined) return reached;
  }
  throw new EmbeddedPostgresError(
    'start_failed',
    `PostgreSQL did not start in ${LAUNCH_ATTEMPTS} attempts; its port or lock was in use each time. See ${context.folder.logFile}.`,
  );
}

/** Attaches to a running server; undefined when it ended. */
async function join(context: ServerContext, server: Server): Promise<Reached | undefined> {
  const { folder, log } = context;
  if (readPassword(folder) === undefined) {
    throw new EmbeddedPostgresError(
      'wrong_password',
      `${folder.passwordFile} is missing while its PostgreSQL runs (pid ${server.pid}). Restore the file; ` +
        `or stop the server (kill -INT ${server.pid}) and start again, which sets a new password.`,
    );
  }
  if (!(await becomesReady(context, server))) return undefined;
  log(`using the PostgreSQL on 127.0.0.1:${server.port} (pid ${server.pid}, ${folder.clusterDir})`);
  return { server };
}

/** Starts a server; undefined when another attempt, with another port, may succeed. */
async function launch(
  context: ServerContext,
  port: number | undefined,
): Promise<Reached | undefined> {
  const { folder, log } = context;
  if (readPassword(folder) === undefined) {
    log(`${folder.passwordFile} is missing: setting a new password`);
    replaceLostPassword(folder, context.account, context.postgres);
  }
  const { server, ownLog, onEnd } = await launchServer(context, port);
  try {
    if (await becomesReady(context, server)) {
      log(`PostgreSQL runs on 127.0.0.1:${server.port} (pid ${server.pid}, ${folder.clusterDir})`);
      return { server, onEnd };
    }
  } catch (error) {
    await shutDown(server, context);
    throw error;
  }
  const output = lastLines(ownLog());
  if (/could not create any TCP\/IP sockets|lock file ".*" already exists/.test(output)) {
    log(`PostgreSQL could not use port ${server.port} or acquire its lock; retrying`);
    return undefined;
  }
  throw new EmbeddedPostgresError(
    'start_failed',
    `PostgreSQL did not start on ${folder.clusterDir}. It reported:\n${output}\nThe whole log is ${folder.logFile}.` +
      (output.includes('No space left on device')
        ? ' Its disk is full: make room on it, and start again.'
        : ''),
  );
}

/** True after a connection has succeeded, false when the server ended first. */
function becomesReady(context: ServerContext, server: Server): Promise<boolean> {
  const text =
    `waiting for PostgreSQL (pid ${server.pid}, ${context.folder.clusterDir}), which is starting or stopping or ` +
    'does not respond; after a crash it first replays its write-ahead log';
  return noting(
    () => context.onWait(text),
    () => untilReady(context, server),
  );
}

async function untilReady(context: ServerContext, server: Server): Promise<boolean> {
  const { folder, processes } = context;
  const deadline = performance.now() + READY_TIMEOUT_MS;
  const refuseSilence = limitSilence(folder, server);
  let cause: unknown;
  while (performance.now() < deadline) {
    // Until the server reports that it is ready, another server may still have the port.
    if (reportsReady(folder, server)) {
      const triedAtMs = performance.now();
      const outcome = await openDatabase(server.port, readPassword(folder) ?? '');
      if (outcome.kind === 'opened') return true;
      if (outcome.kind === 'wrong_password') throw wrongPassword(folder, outcome.cause);
      refuseSilence(outcome, triedAtMs);
      cause = outcome.cause;
    }
    if (!isRunning(server, processes)) return false;
    await delay(10);
  }
  throw new EmbeddedPostgresError(
    'start_failed',
    `PostgreSQL (pid ${server.pid}) accepts no connection after ${READY_TIMEOUT_MS / 1000} s. See ${folder.logFile}.`,
    { cause },
  );
}

/** Is given each attempt to connect to a server that reports that it is ready. It throws after a long time without any response. */
function limitSilence({ clusterDir, logFile }: DataFolder, { pid }: Server) {
  let sinceMs: number | undefined;
  return (outcome: OpenOutcome, triedAtMs: number): void => {
    sinceMs = outcome.kind === 'no_response' ? (sinceMs ?? triedAtMs) : undefined;
    if (sinceMs === undefined || performance.now() - sinceMs < NO_RESPONSE_TIMEOUT_MS) return;
    throw new EmbeddedPostgresError(
      'no_response',
      `The embedded PostgreSQL (pid ${pid}, ${clusterDir}) runs and reports that it is ready, but has not responded ` +
        `for ${NO_RESPONSE_TIMEOUT_MS / 1000} s, so nothing can be read or stored. Usually its processes are stopped ` +
        `(state T of \`ps\`), or its disk hangs. Continue it with \`kill -CONT ${pid}\`. If that does not help, end it ` +
        `with \`kill -QUIT ${pid}\` and start again: it recovers everything that was committed. Its log is ${logFile}.`,
    );
  };
}

function createHandle(context: ServerContext, reached: Reached): EmbeddedPostgres {
  const { folder, log, processes } = context;
  let { server } = reached;
  let use = recordUse(context, server);
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  let supervising: Promise<void> | undefined;
  const logEnd = ({ onEnd }: Reached): void =>
    onEnd?.((how) => {
      if (!stopping.signal.aborted) {
        log(`PostgreSQL ended by itself (${how}); see ${folder.logFile}`);
      }
    });
  logEnd(reached);

  const restart = async (): Promise<void> => {
    const again = await reachAgain(context, server.port);
    logEnd(again);
    endUse(use);
    server = again.server;
    use = recordUse(context, server);
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    // A restart in progress creates the server to stop.
    await supervising?.catch(() => undefined);
    await leave(context, server, use);
  };
  return {
    connectionString: connectionString(server.port, readPassword(folder) ?? ''),
    supervise(warn) {
      const supervised = {
        name: () => `the embedded PostgreSQL (pid ${server.pid}, ${folder.clusterDir})`,
        isRunning: () => isRunning(server, processes),
        restart,
        log: () => readFileSync(folder.logFile, 'utf8'),
        warn,
      };
      supervising ??= supervise(supervised, stopping.signal);
      return supervising;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** @throws EmbeddedPostgresError when it does not start on this port */
async function reachAgain(context: ServerContext, port: number): Promise<Reached> {
  const release = await lockFolder(context.folder, START_LOCK_TIMEOUT_MS, context);
  try {
    const reached = await reachServer({ ...context, choosePort: () => Promise.resolve(port) });
    if (reached.server.port === port) return reached;
    throw new EmbeddedPostgresError(
      'server_lost',
      `Another process started PostgreSQL on port ${reached.server.port}, and this process uses port ${port}. ` +
        'Start this process again.',
    );
  } finally {
    await release();
  }
}

/** Holds the start lock, so that no process attaches to a server that is about to stop. */
async function leave(context: ServerContext, server: Server, use: string): Promise<void> {
  // A process that hangs while it starts must not prevent the server from stopping.
  const release = await lockFolder(context.folder, STOP_LOCK_TIMEOUT_MS, context).catch(
    () => undefined,
  );
  try {
    endUse(use);
    if (!isUsed(context, server)) await shutDown(server, context);
  } finally {
    await release?.();
  }
}

function lockFolder(
  { dataDir }: DataFolder,
  timeoutMs: number,
  { log, onWait }: Pick<ServerContext, 'log' | 'onWait'>,
): Promise<Release> {
  const text = `waiting: another process starts or stops PostgreSQL in ${dataDir}`;
  return noting(
    () => onWait(text),
    () => acquireStartLock({ dataDir, timeoutMs, onWait: () => log(text) }),
  );
}

/** Calls `note` every five seconds while the work lasts. */
async function noting<T>(note: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(note, PROGRESS_INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

function wrongPassword(folder: DataFolder, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'wrong_password',
    `PostgreSQL rejects the password in ${folder.passwordFile}. Restore the file that belongs to this cluster; ` +
      'or delete it while no server runs, and start again, which sets a new password.',
    { cause },
  );
}
