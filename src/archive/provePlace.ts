/**
 * Whether the archive is the one that was written before. A file system that is not mounted leaves an empty folder
 * of the same name, and a container without its volume begins with one. What is written there is lost or hidden
 * later, and its rows would be removed meanwhile.
 *
 * 1. The proof is the manifest of the batch that was removed last. Its name follows from its content, so no other
 *    archive has it.
 * 2. A batch of more than a week ago proves nothing: a lifecycle rule may have removed it from the archive.
 */
import { buffer } from 'node:stream/consumers';
import type { Queryable } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { readLastBatch } from './store/batches.ts';
import type { ArchiveTarget } from './target.ts';

/** @returns the name of the batch that was removed last, if the archive lacks it */
export async function findMissingBatch(
  db: Queryable,
  target: ArchiveTarget,
): Promise<string | undefined> {
  const last = await readLastBatch(db);
  return last === undefined || (await mayHave(target, last)) ? undefined : last;
}

/** An object that cannot be read now is there, as in cold storage. What cannot be written is refused later. */
async function mayHave(target: ArchiveTarget, name: string): Promise<boolean> {
  try {
    const stored = await target.get(name);
    if (stored) await buffer(stored);
    return stored !== undefined;
  } catch {
    return true;
  }
}

/** @throws OperatorError if the archive is another one than before */
export async function refuseOtherArchive(db: Queryable, target: ArchiveTarget): Promise<void> {
  const missing = await findMissingBatch(db, target);
  if (missing === undefined) return;
  throw new OperatorError(
    `The archive ${target.description} lacks ${missing}, which was archived last: its file system is not ` +
      'mounted, its objects were removed, or it is another place than before. Retention removes nothing, because what is archived there ' +
      'may be lost. Mount it, or correct ARCHIVE_URL. To continue in another place, copy the archive there first.',
  );
}
