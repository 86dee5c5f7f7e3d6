/** Replays events for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { findAbsence } from '../ledger/bodies/readBodies.ts';
import { describeAbsence } from '../ledger/domain/bodyAbsence.ts';
import { replayEvent } from '../ledger/inbox/applyEvents.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';

export interface ReplayParts {
  readonly db: Database;
  /** Enqueues events by their inbox numbers. */
  readonly enqueue: (numbers: readonly number[]) => Promise<void>;
}

/** An event that cannot be replayed, because its body does not exist anymore. */
export interface RefusedReplay {
  readonly number: number;
  readonly reason: string;
}

export type Replayed = {
  readonly replayed: readonly number[];
  readonly refused: readonly RefusedReplay[];
} & (
  | { readonly outcome: 'enqueued' }
  /** The queue is unavailable: the sweep enqueues the events, within two minutes. */
  | { readonly outcome: 'left_to_sweep'; readonly reason: string }
);

/**
 * Replays events, with an entry of the audit log for each.
 * @param numbers inbox numbers of stored events
 */
export function replayEventsAs(
  parts: ReplayParts,
  actor: Actor,
  numbers: readonly number[],
): Promise<Replayed> {
  return replayEach(parts, numbers, async (tx, number) => {
    const subject = { kind: 'event', id: String(number) };
    await recordAudit(tx, { actor, action: 'event.replay', subject });
  });
}

/**
 * Makes events pending again, each in a transaction of its own, and enqueues them. One without a body
 * is refused: it could not be applied, and would end as a dead event.
 * @param numbers inbox numbers of stored events
 * @param record what is committed with the replay of an event
 */
export async function replayEach(
  { db, enqueue }: ReplayParts,
  numbers: readonly number[],
  record: (tx: Queryable, number: number) => Promise<void> = () => Promise.resolve(),
): Promise<Replayed> {
  const replayed: number[] = [];
  const refused: RefusedReplay[] = [];
  for (const number of numbers) {
    const absence = await findAbsence(db, number);
    if (absence) {
      refused.push({ number, reason: describeAbsence(absence) });
      continue;
    }
    replayed.push(number);
    await db.transaction(async (tx) => {
      await replayEvent(tx, number);
      await record(tx, number);
    });
  }
  try {
    if (replayed.length > 0) await enqueue(replayed);
    return { outcome: 'enqueued', replayed, refused };
  } catch (error) {
    return { outcome: 'left_to_sweep', reason: toError(error).message, replayed, refused };
  }
}
