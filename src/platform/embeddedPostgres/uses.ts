/**
 * Which processes use the server: a file for each use, which says whose it is. It names both by more
 * than a pid, so that neither a pid given out again nor a server put in place of a crashed one is
 * taken for what it was. Sessions of the server would tell less: a process may have none for a while.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type DataFolder, writePrivateFile } from './folder.ts';
import type { Server, ServerContext } from './server.ts';

const useRecord = z.object({
  pid: z.int().positive(),
  startedAt: z.string(),
  serverPid: z.int().positive(),
});

/** Writes down that this process uses the server. @returns the file, which ends with the use */
export function recordUse({ folder, account, processes }: ServerContext, server: Server): string {
  const startedAt = processes.startedAt(process.pid);
  const record = { pid: process.pid, startedAt, serverPid: server.pid };
  const file = path.join(folder.dataDir, `postgres-use-${randomBytes(6).toString('hex')}.json`);
  writePrivateFile(file, `${JSON.stringify(record)}\n`, account);
  return file;
}

/** Whether a living process uses the server. What dead ones left is removed. */
export function isUsed({ folder, processes }: ServerContext, server: Server): boolean {
  const uses = filesOf(folder).map((file) => ({ file, record: readUse(file) }));
  const isLiving = ({ record }: (typeof uses)[number]) =>
    record !== undefined && processes.startedAt(record.pid) === record.startedAt;
  for (const use of uses) if (!isLiving(use)) endUse(use.file);
  return uses.some((use) => isLiving(use) && use.record?.serverPid === server.pid);
}

export function endUse(file: string): void {
  rmSync(file, { force: true });
}

function filesOf({ dataDir }: DataFolder): readonly string[] {
  const names = readdirSync(dataDir).filter((name) => /^postgres-use-.*\.json$/.test(name));
  return names.map((name) => path.join(dataDir, name));
}

/** Undefined when it cannot be read: nobody lives who could have written that. */
function readUse(file: string): z.infer<typeof useRecord> | undefined {
  try {
    return useRecord.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
