/** The command line as users run it: the compiled program in its own process. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { checkout, requireBuild } from './embeddedPostgresProcess.ts';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `tallyhook` with these arguments and a database. */
export function spawnTallyhook(
  databaseUrl: string,
  ...args: readonly string[]
): ChildProcessByStdio<null, Readable, Readable> {
  requireBuild();
  return spawn(process.execPath, [join(checkout, 'bin/tallyhook.js'), ...args], {
    // Outside the checkout, so that neither a `.env` nor this process's settings apply.
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs `tallyhook` until it exits. */
export async function tallyhook(
  databaseUrl: string,
  ...args: readonly string[]
): Promise<CliResult> {
  const child = spawnTallyhook(databaseUrl, ...args);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: child.exitCode, stdout, stderr };
}
