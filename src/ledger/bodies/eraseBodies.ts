/** Erases the bodies of single events, for the erasure of a person. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  eraseInlineBodies,
  eraseKeptBodies,
  eraseOpenBodies,
  erasePackedBodies,
  eraseVariants,
  readDetachedOf,
} from './store/erasing.ts';
import { lockBodies } from './store/lock.ts';
import { dropDetachedPartition } from './store/packing.ts';

/**
 * Erases the bodies of events wherever they are: open, packed, kept, in the column of an older version,
 * and further bodies under their ids. Idempotent. Detached partitions of their days are dropped at once:
 * what was detached was compared before, and they would keep the bodies for up to two days.
 *
 * Until vacuum, the file system still has the bytes; no statement can read them.
 * @returns of how many events it erased a body
 */
export async function eraseBodies(tx: Queryable, ids: readonly number[]): Promise<number> {
  await lockBodies(tx);
  const erased = new Set<number>();
  for (const erase of [
    eraseOpenBodies,
    erasePackedBodies,
    eraseKeptBodies,
    eraseInlineBodies,
    eraseVariants,
  ]) {
    for (const { id } of await erase(tx, ids)) erased.add(id);
  }
  for (const name of await readDetachedOf(tx, ids)) await dropDetachedPartition(tx, name, true);
  return erased.size;
}
