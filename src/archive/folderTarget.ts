/**
 * An archive in a folder.
 *
 * 1. An object is written under another name, flushed to the disk, and renamed; then its folder is
 *    flushed. After a power failure it is complete or absent.
 * 2. Archives contain personal data: only the owner of the process may read them.
 */
import { randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { errorCode } from '../platform/errors.ts';
import type { ArchiveTarget } from './target.ts';

/** Begins the names of files that are not complete. */
const PARTIAL = '.partial-';

export function createFolderTarget(folder: string): ArchiveTarget {
  return {
    description: folder,
    put: (name, bytes) => putFile(folder, name, bytes),
    get: (name) => openFile(path.join(folder, name)),
    list: (below) => listFiles(folder, below ?? ''),
    probe: () => probeFolder(folder),
    close: () => undefined,
  };
}

async function putFile(folder: string, name: string, bytes: Buffer): Promise<void> {
  const target = path.join(folder, name);
  const parent = path.dirname(target);
  const created = await mkdir(parent, { recursive: true, mode: 0o700 });
  const partial = path.join(parent, `${PARTIAL}${randomBytes(8).toString('hex')}`);
  try {
    const file = await open(partial, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  await syncFolder(parent);
  // The entries of new folders are in the folders above them.
  if (created !== undefined) await syncAbove(parent, path.dirname(created));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncAbove(folder: string, top: string): Promise<void> {
  for (let above = folder; above !== top && above !== path.dirname(above); ) {
    above = path.dirname(above);
    await syncFolder(above);
  }
}

async function openFile(file: string): Promise<Readable | undefined> {
  const handle = await open(file, 'r').catch(ignoreMissing);
  return handle && createReadStream('', { fd: handle });
}

/** The folder is created by the first object, if its parent can be written. */
async function probeFolder(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || folder === path.dirname(folder)) throw error;
    await probeFolder(path.dirname(folder));
  }
}

async function* listFiles(folder: string, below: string): AsyncGenerator<string> {
  const entries = await opendir(path.join(folder, below)).catch(ignoreMissing);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* listFiles(folder, name);
    else if (entry.isFile() && !entry.name.startsWith(PARTIAL)) yield name;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
