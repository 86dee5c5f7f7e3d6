/**
 * Which process stops the server. The record names both by more than a pid, so that neither a pid
 * given out again nor a server put in place of a crashed one is taken for what it was.
 */
import { readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { type DataFolder, writePrivateFile } from './folder.ts';
import type { Server, ServerContext } from './server.ts';

const ownerRecord = z.object({
  pid: z.int().positive(),
  startedAt: z.string(),
  serverPid: z.int().positive(),
});

/** Undefined when there is none or it cannot be read: a server without an owner is adopted. */
function readOwner({ ownerFile }: DataFolder): z.infer<typeof ownerRecord> | undefined {
  try {
    return ownerRecord.parse(JSON.parse(readFileSync(ownerFile, 'utf8')));
  } catch {
    return undefined;
  }
}

export function ownerLives({ folder, processes }: ServerContext, server: Server): boolean {
  const owner = readOwner(folder);
  return owner?.serverPid === server.pid && processes.startedAt(owner.pid) === owner.startedAt;
}

export function recordOwner({ folder, account, processes }: ServerContext, server: Server): void {
  const startedAt = processes.startedAt(process.pid);
  const record = { pid: process.pid, startedAt, serverPid: server.pid };
  writePrivateFile(folder.ownerFile, `${JSON.stringify(record)}\n`, account);
}

/** Leaves the record of a server that somebody has started since. */
export function forgetOwner(folder: DataFolder, server: Server): void {
  const owner = readOwner(folder);
  if (owner?.pid === process.pid && owner.serverPid === server.pid) rmSync(folder.ownerFile);
}
