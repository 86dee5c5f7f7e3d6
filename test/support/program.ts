/**
 * The compiled program as a child process, for tests of exit codes, signals and kills. It gets its own
 * environment, so that the machine's settings do not affect it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseSettings } from './pgBouncer.ts';
import { INSTALLATION_SETTINGS } from './tallyhook.ts';
import { waitFor } from './waitFor.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Exit {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly pid: number;
  /** Its output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exit: Promise<Exit>;
  /** Sends a signal. SIGKILL ends it without any cleanup. */
  kill(signal: NodeJS.Signals): void;
}

export interface ProgramOptions {
  readonly env?: Environment;
  readonly input?: string | Uint8Array;
}

/** Starts `node <script> ...args`; the script is a full path, or named from the root of the checkout. */
export function spawnProgram(
  script: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Program {
  if (!existsSync(path.join(checkout, 'dist/program/main.js'))) {
    throw new Error('dist/program/ is missing: run npm run build first (npm test does)');
  }
  const child = spawn(process.execPath, [path.resolve(checkout, script), ...args], {
    // Not the checkout: it may contain a developer's `.env`.
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, ...options.env },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  // 'close', not 'exit': by then all of its output has been read.
  const exit = once(child, 'close').then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
    ...printed,
  }));
  return {
    pid: child.pid ?? Number.NaN,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    exit,
    kill: (signal) => {
      child.kill(signal);
    },
  };
}

/** Runs `tallyhook ...args` in a process until it exits; most tests use cli.ts, which needs none. */
export function runTallyhookProcess(
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Exit> {
  return spawnProgram('bin/tallyhook.js', args, options).exit;
}

/** Settings of a complete installation with a database, on free ports. */
export function settingsFor(databaseUrl: string, more: Environment = {}): Environment {
  return {
    // A test that names an address itself tests that address, for the queue, too.
    ...(more.DATABASE_URL === undefined ? databaseSettings(databaseUrl) : {}),
    ...INSTALLATION_SETTINGS,
    LOG_LEVEL: 'info',
    ...more,
  };
}

/** Waits until the program has logged the port of its receiver. */
export async function webhookUrlOf(program: Program): Promise<string> {
  return `http://127.0.0.1:${await portOf(program, 'receiver')}/webhooks`;
}

/** Waits until the program has logged its health port. */
export async function healthUrlOf(program: Program): Promise<string> {
  return `http://127.0.0.1:${await portOf(program, 'health')}`;
}

type Listener = 'receiver' | 'console' | 'health';

/** Waits until the program has logged the port of one of its servers. */
export async function portOf(program: Program, listener: Listener): Promise<number> {
  let ended: Exit | undefined;
  void program.exit.then((exit) => {
    ended = exit;
  });
  let port: number | undefined;
  await waitFor(`the ${listener} port to listen`, () => {
    if (ended !== undefined) throw new Error(`the program ended: ${JSON.stringify(ended)}`);
    port = listeningPort(program.stdout(), listener);
    return port !== undefined;
  });
  return port ?? Number.NaN;
}

function listeningPort(stdout: string, listener: Listener): number | undefined {
  const completeLines = stdout.split('\n').slice(0, -1);
  const line = completeLines.find((text) => text.includes(`"msg":"${listener}.listening"`));
  if (line === undefined) return undefined;
  const { port } = JSON.parse(line) as { readonly port: number };
  return port;
}
