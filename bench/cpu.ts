/**
 * How busy each process was, so that a figure comes with what limited it. Reads /proc for each
 * process, which only Linux has; elsewhere it measures the whole machine.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

export interface Watched {
  readonly name: string;
  readonly pid: number;
  /** Its child processes are counted with it. */
  readonly isTree?: boolean;
}

interface Snapshot {
  readonly atMs: number;
  readonly busyMs: number;
  readonly processMs: ReadonlyMap<string, number>;
}

/** Cores that were busy, on average; 1 is one core all the time. */
export interface CpuUse {
  readonly cores: number;
  readonly busy: number;
  readonly processes: Readonly<Record<string, number>>;
  /** Cores that other programs used. */
  readonly others: number | undefined;
}

export interface CpuWatch {
  start(): void;
  /** The use since it was started. */
  stop(): CpuUse;
}

export function watchCpu(watched: readonly Watched[]): CpuWatch {
  let before = takeSnapshot(watched);
  return {
    start: () => {
      before = takeSnapshot(watched);
    },
    stop: () => compare(before, takeSnapshot(watched)),
  };
}

function compare(before: Snapshot, after: Snapshot): CpuUse {
  const elapsedMs = after.atMs - before.atMs;
  const processes = Object.fromEntries(
    [...after.processMs].map(([name, ms]) => [
      name,
      (ms - (before.processMs.get(name) ?? 0)) / elapsedMs,
    ]),
  );
  const busy = (after.busyMs - before.busyMs) / elapsedMs;
  const own = Object.values(processes).reduce((sum, share) => sum + share, 0);
  const others = after.processMs.size > 0 ? Math.max(0, busy - own) : undefined;
  return { cores: cpus().length, busy, processes, others };
}

/** Figures are unreliable while other programs use more than this share of a core. */
const DISTURBING = 0.15;

export function isDisturbed({ others }: CpuUse): boolean {
  return others !== undefined && others > DISTURBING;
}

const NEARLY_WHOLE = 0.9;

/** What the run waited for, in words. */
export function limitOf({ cores, busy, processes }: CpuUse): string {
  const idle = cores - busy;
  if (idle < 0.1 * cores) return `the machine: ${cores} cores, ${percent(busy / cores)} busy`;
  const [name, share] = Object.entries(processes)
    .filter(([process]) => process !== 'postgres')
    .reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  if (share > NEARLY_WHOLE) return `the one thread of ${name} (${percent(share)} of a core)`;
  return `none of the processors (${percent(idle / cores)} idle): waiting for commits and replies`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function takeSnapshot(watched: readonly Watched[]): Snapshot {
  const busyMs = cpus().reduce(
    (sum, { times }) => sum + times.user + times.sys + times.nice + times.irq,
    0,
  );
  const processMs = new Map<string, number>();
  if (process.platform === 'linux') {
    const table = readProcessTable();
    for (const { name, pid, isTree } of watched) {
      const own = table.get(pid);
      if (!own) continue;
      const children = isTree ? [...table.values()].filter(({ parent }) => parent === pid) : [];
      const ended = isTree ? own.endedChildrenMs : 0;
      const ms = children.reduce((sum, child) => sum + child.ownMs, own.ownMs + ended);
      processMs.set(name, (processMs.get(name) ?? 0) + ms);
    }
  }
  return { atMs: performance.now(), busyMs, processMs };
}

interface ProcessEntry {
  readonly parent: number;
  readonly ownMs: number;
  readonly endedChildrenMs: number;
}

/** A tick of /proc/PID/stat; 100 a second on every Linux that Node runs on. */
const TICK_MS = 10;

function readProcessTable(): ReadonlyMap<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The command may hold spaces and brackets; what follows its last bracket does not.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const ticks = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * TICK_MS;
      table.set(Number(name), {
        parent: fields[1] ?? 0,
        ownMs: ticks(11),
        endedChildrenMs: ticks(13),
      });
    } catch {
      // It ended while the folder was read.
    }
  }
  return table;
}
