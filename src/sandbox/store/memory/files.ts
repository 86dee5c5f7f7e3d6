/** Uploaded files, in memory. */
import type { StoredFile } from '../files.ts';
import type { Tables } from './tables.ts';

export function insertFile({ files }: Tables, file: StoredFile): void {
  files.put(file);
}

export function findFiles(
  { files }: Tables,
  disputeId: string,
  fileIds: readonly string[],
): ReadonlySet<string> {
  return new Set(fileIds.filter((id) => files.get(id)?.disputeId === disputeId));
}
