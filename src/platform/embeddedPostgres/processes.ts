/**
 * What the operating system says about processes.
 *
 * A pid alone names nobody: it is given out again. A process is known by its pid and its start
 * time, and a PostgreSQL process belongs to a cluster when its program is postgres (or initdb) and
 * its current folder is the cluster's (every PostgreSQL process stays there). The folder alone would not do:
 * an operator's shell may stand in it, and it must never be signalled.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessTable {
  /** When the process started, in no special unit; undefined when it has ended (a zombie has). */
  readonly startedAt: (pid: number) => string | undefined;
  /** Whether this process is a PostgreSQL that works in this folder. */
  readonly isPostgresIn: (pid: number, folder: string) => boolean;
  /** Every PostgreSQL process in this folder, as far as the platform lets us see. */
  readonly allPostgresIn: (folder: string) => readonly number[];
}

/** Linux: everything is in /proc. */
export const procfsTable: ProcessTable = {
  startedAt(pid) {
    // The name in parentheses may hold blanks and parentheses itself; fields count from its end.
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
    // state is field 3 of proc(5), the start time field 22
    return state === undefined || state === 'Z' || state === 'X' ? undefined : fields[18];
  },
  isPostgresIn(pid, folder) {
    return standsIn(pid, folder) && runsPostgres(pid);
  },
  allPostgresIn(folder) {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => standsIn(pid, folder) && runsPostgres(pid));
  },
};

/**
 * Elsewhere: `ps`. The server's own command line names its folder; its children's do not, so that
 * orphans stay unseen and PostgreSQL's shared memory check is what stands before a second start.
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

/** Whether the pid is in use at all, if only by a zombie. PostgreSQL's own lock check asks this. */
export function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Waits until the condition holds; false when it does not within the time. */
export async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await delay(10);
  }
  return true;
}

/** Sends the signal; a process that has ended meanwhile is what the caller wants. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Compared by device and inode: a path can be spelled in many ways, or be renamed meanwhile. */
function standsIn(pid: number, folder: string): boolean {
  const here = attempt(() => statSync(`/proc/${pid}/cwd`, { bigint: true }));
  const there = attempt(() => statSync(folder, { bigint: true }));
  return here !== undefined && here.dev === there?.dev && here.ino === there.ino;
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

/** A process may vanish, or belong to somebody else, between any two looks at it. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
