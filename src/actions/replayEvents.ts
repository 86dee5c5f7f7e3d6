/** Replays events for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { findAbsences } from '../ledger/bodies/readBodies.ts';
import { describeAbsence } from '../ledger/domain/bodyAbsence.ts';
import { replayEvents } from '../ledger/inbox/applyEvents.ts';
import { inChunks } from '../platform/collections.ts';
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

/** Bodies of as many events are in memory together. */
const EVENTS_AT_ONCE = 100;

/**
 * Makes events pending again, some in each transaction, and enqueues them. One without a body is refused: it
 * could not be applied, and would end as a dead event.
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
  for (const batch of inChunks(numbers, EVENTS_AT_ONCE)) {
    const absences = await findAbsences(db, batch);
    const present = batch.filter((number) => !absences.has(number));
    for (const [number, absence] of absences) {
      refused.push({ number, reason: describeAbsence(absence) });
    }
    if (present.length === 0) continue;
    await db.transaction(async (tx) => {
      await replayEvents(tx, present);
      for (const number of present) await record(tx, number);
    });
    replayed.push(...present);
  }
  try {
    if (replayed.length > 0) await enqueue(replayed);
    return { outcome: 'enqueued', replayed, refused };
  } catch (error) {
    return { outcome: 'left_to_sweep', reason: toError(error).message, replayed, refused };
  }
}
