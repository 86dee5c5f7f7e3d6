/** The processes of the bench: started here, stopped here, and no others. */
import { type ChildProcess, fork, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cleanup } from './cleanup.ts';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 30_000;

export interface Started {
  readonly name: string;
  readonly pid: number;
  /** Lines of its log at level warn and above. */
  readonly warnings: readonly string[];
  stop(): Promise<void>;
}

export interface Server extends Started {
  readonly port: number;
}

export interface ProgramOptions {
  readonly name: string;
  readonly file: string;
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly cleanup: Cleanup;
}

/** A log line of Tallyhook, as far as the bench reads it. */
interface LogLine {
  readonly level?: string;
  readonly msg?: string;
  readonly port?: number;
}

/** Starts a program that logs JSON lines, and waits for the line of the event `readyEvent`. */
export async function startLogging(
  options: ProgramOptions,
  readyEvent: string | undefined,
): Promise<Started & { readonly ready: LogLine | undefined }> {
  const child = spawn(
    process.execPath,
    [...(options.nodeArgs ?? []), options.file, ...(options.args ?? [])],
    { env: environment(options.env), cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const warnings: string[] = [];
  const warn = (line: string): void => {
    if (warnings.length < 20) warnings.push(line.slice(0, 400));
  };
  createInterface({ input: child.stderr }).on('line', warn);
  const output = createInterface({ input: child.stdout });
  const ready = new Promise<LogLine>((resolve) => {
    output.on('line', (text) => {
      const line = parseLine(text);
      if (line.msg === readyEvent) resolve(line);
      if (line.level === 'warn' || line.level === 'error') warn(text);
    });
  });
  const started = manage(child, options, warnings);
  if (readyEvent === undefined) await once(child, 'spawn');
  return {
    ...started,
    ready: readyEvent === undefined ? undefined : await whileItLives(child, started, ready),
  };
}

/** Starts a module of the bench itself, which sends messages on its channel. */
export function startModule(
  options: ProgramOptions,
  onMessage: (message: Serializable) => void,
  onEnd: () => void = () => undefined,
): { readonly started: Started; readonly send: (message: Serializable) => void } {
  const child = fork(options.file, {
    env: environment(options.env),
    cwd: options.cwd,
    execArgv: [...(options.nodeArgs ?? [])],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', onMessage);
  child.once('exit', onEnd);
  return { started: manage(child, options, []), send: (message) => child.send(message) };
}

/** Starts a module that sends `{ port }` once it listens. */
export async function startServerModule(options: ProgramOptions): Promise<Server> {
  let listening: (port: number) => void = () => undefined;
  const port = new Promise<number>((resolve) => {
    listening = resolve;
  });
  const { started } = startModule(options, (message) => {
    if (typeof message === 'object' && 'port' in message) listening(Number(message.port));
  });
  return { ...started, port: await withTimeout(port, `${options.name} to listen`) };
}

/** The compiled file of a module of this project, named from the folder of package.json. */
export function compiled(path: string): string {
  return join(import.meta.dirname, '..', path);
}

function manage(
  child: ChildProcess,
  { name, cleanup }: ProgramOptions,
  warnings: readonly string[],
): Started {
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    child.kill('SIGTERM');
    const forced = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(forced);
  };
  cleanup.add(stop);
  return { name, pid: child.pid ?? 0, warnings, stop };
}

/** Takes all processor time from a process until `wake`; it is woken before the bench ends. */
export function createSuspension({ pid }: Started, cleanup: Cleanup) {
  let isSuspended = false;
  const wake = (): void => {
    if (isSuspended) process.kill(pid, 'SIGCONT');
    isSuspended = false;
  };
  cleanup.add(wake);
  return {
    suspend: (): void => {
      process.kill(pid, 'SIGSTOP');
      isSuspended = true;
    },
    wake,
  };
}

async function whileItLives<T>(
  child: ChildProcess,
  started: Started,
  ready: Promise<T>,
): Promise<T> {
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${started.name} ended at its start:\n  ${started.warnings.join('\n  ')}`);
  });
  return await withTimeout(Promise.race([ready, ended]), `${started.name} to be ready`);
}

async function withTimeout<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), START_TIMEOUT_MS);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Nothing of the caller's settings reaches the processes: each run measures the same thing. */
function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, NODE_ENV: 'production', ...env };
}

function parseLine(text: string): LogLine {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? line : {};
  } catch {
    return {};
  }
}
