/** Replays events for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { replayEvent } from '../ledger/inbox/applyEvents.ts';
import type { Database } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';

export interface ReplayParts {
  readonly db: Database;
  /** Enqueues events by their inbox numbers. */
  readonly enqueue: (numbers: readonly number[]) => Promise<void>;
}

export type Replayed =
  | { readonly outcome: 'enqueued' }
  /** The queue is unavailable: the sweep enqueues the events, within two minutes. */
  | { readonly outcome: 'left_to_sweep'; readonly reason: string };

/**
 * Makes events pending again, each in a transaction of its own, and enqueues them.
 * @param numbers inbox numbers of stored events
 */
export async function replayEventsAs(
  { db, enqueue }: ReplayParts,
  actor: Actor,
  numbers: readonly number[],
): Promise<Replayed> {
  for (const number of numbers) {
    await db.transaction(async (tx) => {
      await replayEvent(tx, number);
      const subject = { kind: 'event', id: String(number) };
      await recordAudit(tx, { actor, action: 'event.replay', subject });
    });
  }
  try {
    if (numbers.length > 0) await enqueue(numbers);
    return { outcome: 'enqueued' };
  } catch (error) {
    return { outcome: 'left_to_sweep', reason: toError(error).message };
  }
}
