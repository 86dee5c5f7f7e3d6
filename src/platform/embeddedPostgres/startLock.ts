/**
 * At most one process at a time starts, attaches to or stops the server of one data folder.
 *
 * The lock is a listening local socket: the kernel gives the name to one process and releases it when
 * that process ends, for any reason. A lock file would be worse: after a kill -9 another process must
 * break it, and two processes that break it at once would both hold it and start two servers on one
 * folder. A waiting process is connected to the holder and wakes when that connection closes.
 *
 * On Linux the name is abstract, without a file. On other platforms the socket file outlives its
 * process, and two processes that remove it at once can race; PostgreSQL's own lock then decides.
 */
import { createHash } from 'node:crypto';
import { statSync, unlinkSync } from 'node:fs';
import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.ts';

export interface StartLockOptions {
  readonly address: string;
  readonly timeoutMs: number;
  /** Called once when another process holds the lock. */
  readonly onWait: () => void;
}

export type Release = () => Promise<void>;

/** The lock's name for this folder, independent of the spelling of its path. */
export function startLockAddress(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  const name = `tallyhook-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 24)}`;
  return process.platform === 'linux' ? `\0${name}` : path.join(tmpdir(), `${name}.sock`);
}

export async function acquireStartLock(options: StartLockOptions): Promise<Release> {
  const deadline = performance.now() + options.timeoutMs;
  let waited = false;
  for (;;) {
    const release = await tryToHold(options.address);
    if (release !== undefined) return release;
    if (!waited) options.onWait();
    waited = true;
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) throw stillHeld(options);
    await untilReleased(options.address, remainingMs);
  }
}

async function tryToHold(address: string): Promise<Release | undefined> {
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => {}).on('close', () => waiting.delete(socket));
  });
  if (!(await listens(server, address))) return undefined;
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of waiting) socket.destroy();
    });
}

function listens(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    // exclusive: a cluster worker would otherwise share the handle with its siblings
    server.listen({ path: address, exclusive: true }, () => resolve(true));
  });
}

async function untilReleased(address: string, timeoutMs: number): Promise<void> {
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const socket = netConnect({ path: address });
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    let problem: NodeJS.ErrnoException | undefined;
    socket.on('error', (error) => {
      problem = error;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(problem);
    });
    socket.resume();
  });
  if (failure === undefined) return;
  if (failure.code === 'ECONNREFUSED' && !address.startsWith('\0')) removeSocketFile(address);
  // In use but not connectable: between bind and listen, or with a full queue. Avoids a busy loop.
  await delay(10);
}

function removeSocketFile(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function stillHeld({ timeoutMs }: StartLockOptions): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'folder_busy',
    `Another process has been starting or stopping PostgreSQL on this data folder for ${Math.round(timeoutMs / 1000)} s. ` +
      'Find the Tallyhook process that hangs, end it, and start again.',
  );
}
