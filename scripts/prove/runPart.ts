/** Runs the processes of a part, and reads what they recorded. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Measured } from '../../bench/growth/summary.ts';
import type { Report as SpeedReport } from '../../bench/report.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { readGrowth, readSpeed } from './benchRecords.ts';
import type { Invocation } from './parts.ts';
import { type FigureRecord, parseRecords } from './records.ts';

export interface Recorded {
  /** That of the first process which failed; 0 if none did. */
  readonly exitCode: number;
  /** Also of processes that failed. */
  readonly records: readonly FigureRecord[];
}

/** A test of hundreds of kills takes hours; `waitFor` ends one that would wait forever. */
const TEST_TIMEOUT_MS = 12 * 3_600_000;
/** The default of the bench, stated so that it is recorded as it was. */
const BODY_BYTES = 1_500;

export interface Running {
  /** Called with each line that a process writes. */
  readonly print: (line: string) => void;
  readonly stop: AbortSignal;
}

/** Runs one after the other. */
export async function runInvocations(
  invocations: readonly Invocation[],
  running: Running,
): Promise<Recorded> {
  let all: Recorded = { exitCode: 0, records: [] };
  for (const invocation of invocations) {
    if (running.stop.aborted) break;
    const { exitCode, records } = await runInvocation(invocation, running);
    all = { exitCode: all.exitCode || exitCode, records: [...all.records, ...records] };
  }
  return all;
}

async function runInvocation(invocation: Invocation, running: Running): Promise<Recorded> {
  const folder = mkdtempSync(join(tmpdir(), 'tallyhook-prove-'));
  const file = join(folder, 'records');
  try {
    const { args, env } = commandOf(invocation, file);
    const exitCode = await runNode(args, env, running);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    return { exitCode, records: text === undefined ? [] : readRecords(invocation, text) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function commandOf(invocation: Invocation, file: string) {
  switch (invocation.runs) {
    case 'test': {
      const named = invocation.named === undefined ? [] : ['-t', invocation.named];
      const limit = `--testTimeout=${TEST_TIMEOUT_MS}`;
      return {
        args: ['node_modules/vitest/vitest.mjs', 'run', invocation.file, ...named, limit],
        env: { ...invocation.env, FIGURES_FILE: file },
      };
    }
    case 'bench': {
      const body = invocation.reads === 'growth' ? ['--body-bytes', String(BODY_BYTES)] : [];
      const args = [join('dist', invocation.module), ...invocation.args, ...body, '--json', file];
      return { args, env: {} };
    }
  }
}

function readRecords(invocation: Invocation, text: string): readonly FigureRecord[] {
  if (invocation.runs === 'test') return parseRecords(text);
  switch (invocation.reads) {
    case 'speed':
      return readSpeed(JSON.parse(text) as SpeedReport);
    case 'growth':
      return readGrowth(JSON.parse(text) as readonly Measured[], BODY_BYTES);
  }
}

/** @returns its exit code, and 1 if a signal ended it */
async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { print, stop }: Running,
): Promise<number> {
  const child = spawn(process.execPath, [...args], {
    cwd: packageRoot(),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printLines = (input: Readable) => createInterface({ input }).on('line', print);
  printLines(child.stdout);
  printLines(child.stderr);
  // A bench stops the servers that it started. Vitest ends at once, and leaves the PostgreSQL of its tests.
  const end = () => child.kill('SIGTERM');
  stop.addEventListener('abort', end);
  await once(child, 'close');
  stop.removeEventListener('abort', end);
  return child.exitCode ?? 1;
}
