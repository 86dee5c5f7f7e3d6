/**
 * Removes the bodies of whole days, for retention.
 *
 * 1. Only a day that is packed and detached is removed; before, its bodies are in two places.
 * 2. Bodies of events that are pending or dead, or that an open finding or an undecided dispute is about,
 *    are kept, in the transaction that detaches their day. They are released when nothing needs them anymore.
 * 3. The partition is dropped two days later, which returns its space at once.
 */
import type { Database, Queryable } from '../../platform/db/database.ts';
import { lockBodies } from './store/lock.ts';
import { deleteUnneededBodies, detachPackedDay } from './store/removal.ts';

/** Removes days, which are named by their number since 1970. @returns how many */
export async function removeBodyDays(tx: Queryable, days: readonly number[]): Promise<number> {
  for (const day of days) await detachPackedDay(tx, day);
  return days.length;
}

/** Deletes bodies that outlived their day and are no longer needed. @returns how many */
export async function releaseKept(db: Database, limit: number): Promise<number> {
  return await db.transaction(async (tx) => {
    await lockBodies(tx);
    return await deleteUnneededBodies(tx, limit);
  });
}
