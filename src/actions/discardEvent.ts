/** Discards a dead event for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { discardEvent } from '../ledger/inbox/discardEvent.ts';
import type { Database } from '../platform/db/database.ts';

/**
 * @param input the inbox number of the event, and why it is not to be applied; not empty
 * @returns false if it is not dead, or was discarded before: nothing was changed
 */
export function discardEventAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { number, reason }: { readonly number: number; readonly reason: string },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await discardEvent(tx, number, { by: actor.name, reason }))) return false;
    const subject = { kind: 'event', id: String(number) };
    await recordAudit(tx, { actor, action: 'event.discard', subject, reason });
    return true;
  });
}
