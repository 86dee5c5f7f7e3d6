/**
 * Records which processes use the server, in one file per use. A record identifies the process and
 * the server by more than a pid, so that neither a reused pid nor the replacement of a crashed server
 * is confused with the original. Sessions of the server would not be enough: a process may have none
 * for a while.
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

/** Records that this process uses the server. @returns the file, which endUse removes */
export function recordUse({ folder, account, processes }: ServerContext, server: Server): string {
  const startedAt = processes.startedAt(process.pid);
  const record = { pid: process.pid, startedAt, serverPid: server.pid };
  const file = path.join(folder.dataDir, `postgres-use-${randomBytes(6).toString('hex')}.json`);
  writePrivateFile(file, `${JSON.stringify(record)}\n`, account);
  return file;
}

/** Whether a running process uses the server. Removes the records of ended processes. */
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

/** Undefined when it cannot be read: no running process can have written such a record. */
function readUse(file: string): z.infer<typeof useRecord> | undefined {
  try {
    return useRecord.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
