/** Closes an open attempt for a person who found out what became of it. */
import type { Actor } from '../audit/domain/actor.ts';
import type { FinalResult } from '../audit/domain/entry.ts';
import { type ClosedAttempt, closeAttempt } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';

/** @param input the number of the attempt, what became of it, and how that is known; not empty */
export function closeAttemptAs(
  { db }: { readonly db: Database },
  actor: Actor,
  input: { readonly number: number; readonly result: FinalResult; readonly reason: string },
): Promise<ClosedAttempt> {
  return db.transaction((tx) => closeAttempt(tx, actor, input));
}
