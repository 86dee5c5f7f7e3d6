/** Ends sessions of the console for an operator, or all sessions of a person for that person. */
import { endSession, endSessionsOfSamePerson } from '../access/store/sessions.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';

export interface EndRequest {
  readonly id: number;
  /** Every session of the same person. */
  readonly everywhere: boolean;
  /** Undefined: people end their own sessions. */
  readonly reason: string | undefined;
}

export interface EndedSessions {
  readonly holder: string;
  readonly sessions: number;
}

/** @returns undefined if there is no such session, or it has ended */
export function endSessionAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { id, everywhere, reason }: EndRequest,
): Promise<EndedSessions | undefined> {
  return db.transaction(async (tx) => {
    const ended = everywhere ? await endSessionsOfSamePerson(tx, id) : await endSession(tx, id);
    const holder = ended[0]?.holder;
    if (holder === undefined) return undefined;
    await recordAudit(tx, {
      actor,
      action: 'session.end',
      subject: { kind: 'session', id: String(id) },
      reason,
      detail: { holder, sessions: ended.length },
    });
    return { holder, sessions: ended.length };
  });
}
