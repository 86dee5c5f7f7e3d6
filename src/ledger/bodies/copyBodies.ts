/**
 * Copies bodies that an older version stored beside their events into their days, some thousand at a time.
 *
 * 1. A step is one transaction: a body is in the column or in its day, never in both or in neither.
 * 2. A step locks rows of events for as long as it takes, and no table: intake goes on.
 * 3. It follows the newest events for good, because a receiver of the older version may run until the end
 *    of an upgrade. Where nothing is to be copied, a step reads some thousand rows by their key.
 *
 * PostgreSQL reuses the space for new rows of `webhook_events`. `vacuum full webhook_events` returns it to
 * the file system; it locks the inbox, so stop the receivers first.
 */
import type { Database } from '../../platform/db/database.ts';
import {
  type CopyLimits,
  copyBodies,
  ensureBodyDay,
  readCopyRange,
  saveCopyProgress,
} from './store/copy.ts';
import { lockBodies } from './store/lock.ts';

export interface CopyStep {
  /** How many events the step covered; 0 if the copy has reached the newest ones. */
  readonly events: number;
  readonly copied: number;
}

export async function copyNext(db: Database, limits: CopyLimits): Promise<CopyStep> {
  return await db.transaction(async (tx) => {
    await lockBodies(tx);
    const range = await readCopyRange(tx, limits);
    for (const day of range.days) await ensureBodyDay(tx, day);
    const copied = range.legacy === 0 ? 0 : await copyBodies(tx, range);
    if (copied !== range.legacy) {
      throw new Error(
        `${range.legacy} bodies of the events ${range.after + 1} to ${range.through} were to be copied, but ` +
          `${copied} were. Nothing was changed.`,
      );
    }
    await saveCopyProgress(tx, { ...range, settleMs: limits.settleMs, copied });
    return { events: range.events, copied };
  });
}
