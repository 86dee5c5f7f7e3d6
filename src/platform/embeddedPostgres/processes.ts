/**
 * Reads the operating system's process table.
 *
 * A pid alone does not identify a process, because pids are reused. A process is identified by its
 * pid and its start time. A PostgreSQL process belongs to a cluster when its program is postgres (or
 * initdb) and its current folder is the cluster's; every PostgreSQL process stays there. The folder
 * alone is not enough: an operator's shell may be in it and must never receive a signal.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessTable {
  /** When the process started, in a platform-specific unit; undefined when it has ended, also as a zombie. */
  readonly startedAt: (pid: number) => string | undefined;
  /** Whether this process is a PostgreSQL process in this folder. */
  readonly isPostgresIn: (pid: number, folder: string) => boolean;
  /** Every PostgreSQL process in this folder that the platform lets us see. */
  readonly allPostgresIn: (folder: string) => readonly number[];
}

/** Linux: reads /proc. */
export const procfsTable: ProcessTable = {
  startedAt(pid) {
    // The name in parentheses may contain spaces and parentheses; fields count from its end.
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    // state is field 3 of proc(5), the start time field 22
    return state === undefined || state === 'Z' || state === 'X' ? undefined : fields[18];
  },
  isPostgresIn(pid, folder) {
    return isIn(pid, inodeOf(folder)) && runsPostgres(pid);
  },
  allPostgresIn(folder) {
    const inode = inodeOf(folder);
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => isIn(pid, inode) && runsPostgres(pid));
  },
};

/**
 * Other platforms: `ps`. The server's command line names its folder, but those of its children do
 * not, so orphans are not found, and PostgreSQL's shared memory check prevents a second server.
 */
export const portableTable: ProcessTable = {
  startedAt: (pid) => psColumn(pid, 'lstart='),
  isPostgresIn(pid, folder) {
    const commandLine = psColumn(pid, 'args=') ?? '';
    return commandLine.includes('postgres') && commandLine.includes(` ${folder} `);
  },
  allPostgresIn: () => [],
};

export function processTable(): ProcessTable {
  return process.platform === 'linux' ? procfsTable : portableTable;
}

/** Whether the pid is in use, even by a zombie. PostgreSQL's own lock check uses the same test. */
export function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Waits until the condition holds; returns false after the timeout. */
export async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await delay(10);
  }
  return true;
}

/** Sends the signal. A process that has ended meanwhile is not an error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Device and inode, because a path can have several spellings or be renamed; undefined if it is gone. */
function inodeOf(folder: string): string | undefined {
  const found = attempt(() => statSync(folder, { bigint: true }));
  return found && `${found.dev}:${found.ino}`;
}

function isIn(pid: number, inode: string | undefined): boolean {
  return inode !== undefined && inodeOf(`/proc/${pid}/cwd`) === inode;
}

function runsPostgres(pid: number): boolean {
  // "postgres (deleted)" after a reinstall under the running server
  const program = attempt(() => readlinkSync(`/proc/${pid}/exe`)) ?? '';
  return /^(postgres|initdb)( \(deleted\))?$/.test(path.basename(program));
}

function psColumn(pid: number, column: string): string | undefined {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C' };
  const result = spawnSync('ps', ['-ww', '-o', `state=,${column}`, '-p', String(pid)], {
    env,
    encoding: 'utf8',
  });
  const [, state, value] = /^\s*(\S+)\s+(.*\S)\s*$/.exec(result.stdout ?? '') ?? [];
  return state?.startsWith('Z') ? undefined : value;
}

/** A process may end, or become inaccessible, between two reads. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
