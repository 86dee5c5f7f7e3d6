/**
 * At most one process at a time starts, attaches to or stops the server of one data folder.
 *
 * The lock is the folder <dataDir>/postgres-start-lock with the listening socket of its holder, which
 * the kernel closes when the holder ends, for any reason. A waiting process is connected to the
 * holder and wakes when that connection closes. Only a user who may write to the data folder can hold
 * the lock. An abstract socket name has no permissions: any user can read it in /proc/net/unix and
 * bind it.
 *
 *   L1 A process makes a draft folder with a socket that listens and renames it to the lock. A rename
 *      replaces an empty folder and fails on any other, so that one process succeeds.
 *   L2 Each socket has a random name. A socket that refuses connections has no process and never has
 *      one again, so that its removal by name cannot remove the socket of a later holder.
 *   L3 Only the process that made a draft renames it to the lock. The holder removes the drafts of
 *      killed processes under a new name; a process that loses its draft this way makes another.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../errors.ts';
import { EmbeddedPostgresError } from './errors.ts';

export interface StartLockOptions {
  readonly dataDir: string;
  readonly timeoutMs: number;
  /** Called once when another process holds the lock. */
  readonly onWait: () => void;
}

export type Release = () => Promise<void>;

const LOCK_NAME = 'postgres-start-lock';
const DRAFT_PREFIX = `${LOCK_NAME}.`;

export async function acquireStartLock(options: StartLockOptions): Promise<Release> {
  const deadline = performance.now() + options.timeoutMs;
  let waited = false;
  for (;;) {
    const holder = holderOf(options.dataDir);
    const release = holder === undefined ? await tryToHold(options.dataDir) : undefined;
    if (release !== undefined) return release;
    if (holder === undefined) continue;
    const remainingMs = deadline - performance.now();
    const alive = await untilReleased(holder, Math.max(remainingMs, 1), () => {
      if (!waited) options.onWait();
      waited = true;
    });
    if (alive && performance.now() >= deadline) throw stillHeld(options);
  }
}

/** What the lock consists of while a process holds it. */
export function startLockFiles(dataDir: string): string[] {
  const folder = path.join(dataDir, LOCK_NAME);
  return [folder, ...socketsIn(folder).map((name) => path.join(folder, name))];
}

function holderOf(dataDir: string): string | undefined {
  const folder = path.join(dataDir, LOCK_NAME);
  const [name] = socketsIn(folder);
  return name === undefined ? undefined : path.join(folder, name);
}

function socketsIn(folder: string): string[] {
  return ignoring(['ENOENT'], () => readdirSync(folder)) ?? [];
}

/** Undefined when another process was faster. */
async function tryToHold(dataDir: string): Promise<Release | undefined> {
  const folder = path.join(dataDir, LOCK_NAME);
  const draft = path.join(dataDir, `${DRAFT_PREFIX}${randomName()}`);
  const name = randomName();
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => {}).on('close', () => waiting.delete(socket));
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of waiting) socket.destroy();
    });

  if (!(await listensInDraft(server, draft, name))) return undefined;
  if (!replacesEmptyFolder(draft, folder)) {
    rmSync(draft, { recursive: true, force: true });
    await close();
    return undefined;
  }
  removeDrafts(dataDir);
  return () => {
    ignoring(['ENOENT'], () => unlinkSync(path.join(folder, name)));
    // Not empty: another process holds the lock already.
    ignoring(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => rmdirSync(folder));
    return close();
  };
}

/** False when the holder of the lock removed the draft. */
async function listensInDraft(server: Server, draft: string, name: string): Promise<boolean> {
  mkdirSync(draft, { mode: 0o700 });
  const short = ignoring(['ENOENT'], () => shortPath(draft));
  if (short === undefined) return false;
  try {
    await listens(server, path.join(short.path, name));
    giveToOwner(path.dirname(draft), [path.join(short.path, name), draft]);
    return true;
  } catch (error) {
    server.close();
    if (!hasCode(error, ['ENOENT', 'EACCES']) || statSync(draft, { throwIfNoEntry: false })) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
    return false;
  } finally {
    short.close();
  }
}

function listens(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // exclusive: a cluster worker would otherwise share the handle with its siblings
    server.listen({ path: address, exclusive: true }, resolve);
  });
}

/** After a kill -9 of root, the owner of the data folder must be able to remove the lock. */
function giveToOwner(dataDir: string, files: readonly string[]): void {
  const { uid, gid } = statSync(dataDir);
  if (process.geteuid?.() !== 0 || uid === 0) return;
  // Root of a container may lack the right, and does not need it.
  for (const file of files) ignoring(['EPERM', 'EINVAL'], () => lchownSync(file, uid, gid));
}

function replacesEmptyFolder(draft: string, folder: string): boolean {
  try {
    renameSync(draft, folder);
    return true;
  } catch (error) {
    // ENOENT: the holder removed the draft
    if (hasCode(error, ['ENOTEMPTY', 'EEXIST', 'ENOENT'])) return false;
    throw error;
  }
}

/** A draft that is removed under its own name could become the lock while it is removed. */
function removeDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((one) => one.startsWith(DRAFT_PREFIX))) {
    const removed = path.join(dataDir, `${DRAFT_PREFIX}${randomName()}`);
    // One that cannot be removed does no harm, and another process may still be writing to it.
    ignoring(['ENOENT', 'ENOTEMPTY', 'EACCES', 'EPERM'], () => {
      renameSync(path.join(dataDir, name), removed);
      rmSync(removed, { recursive: true, force: true, maxRetries: 3 });
    });
  }
}

/** Waits for the end of the holder, or removes its socket when it has ended; returns whether it was alive. */
async function untilReleased(
  holder: string,
  timeoutMs: number,
  onConnect: () => void,
): Promise<boolean> {
  const short = ignoring(['ENOENT'], () => shortPath(path.dirname(holder)));
  if (short === undefined) return false;
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const socket = netConnect({ path: path.join(short.path, path.basename(holder)) }, onConnect);
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
  short.close();
  if (failure === undefined) return true;
  if (hasCode(failure, ['ECONNREFUSED', 'ENOTSOCK'])) {
    ignoring(['ENOENT'], () => unlinkSync(holder));
    return false;
  }
  // A holder with a full queue. Avoids a busy loop.
  await delay(10);
  return failure.code !== 'ENOENT';
}

interface ShortPath {
  readonly path: string;
  readonly close: () => void;
}

/** The address of a socket has at most 107 bytes, and the path of a data folder can be longer. */
function shortPath(folder: string): ShortPath {
  if (process.platform === 'linux') {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const descriptor = openSync(folder, flags);
    return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
  }
  const temporary = mkdtempSync(path.join(tmpdir(), 'tallyhook-'));
  const link = path.join(temporary, 'd');
  symlinkSync(folder, link);
  return { path: link, close: () => rmSync(temporary, { recursive: true, force: true }) };
}

function randomName(): string {
  return randomBytes(8).toString('hex');
}

function ignoring<T>(codes: readonly string[], attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (hasCode(error, codes)) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(errorCode(error));
}

function stillHeld({ timeoutMs }: StartLockOptions): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'folder_busy',
    `Another process has been starting or stopping PostgreSQL on this data folder for ${Math.round(timeoutMs / 1000)} s. ` +
      'Find the Tallyhook process that hangs, end it, and start again.',
  );
}
