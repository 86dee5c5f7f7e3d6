/** Ends a session of the console for an operator. */
import { endSession } from '../access/store/sessions.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';

/** @returns the holder; undefined if there is no such session, or it has ended */
export function endSessionAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { id, reason }: { readonly id: number; readonly reason: string },
): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    const holder = await endSession(tx, id);
    if (holder !== undefined) {
      const subject = { kind: 'session', id: String(id) };
      await recordAudit(tx, { actor, action: 'session.end', subject, reason, detail: { holder } });
    }
    return holder;
  });
}
