/** Pauses and resumes background requests to the payment service for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';
import { beginPause, endPause, type Pause, readPause } from '../reconcile/store/pauses.ts';

export type Paused =
  | { readonly outcome: 'paused' }
  /** `pause` is undefined if it ended meanwhile. */
  | { readonly outcome: 'already'; readonly pause: Pause | undefined };

const SUBJECT = { kind: 'reconciliation', id: 'background' } as const;

/** @param input why; not empty */
export function pauseReconciliationAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { reason }: { readonly reason: string },
): Promise<Paused> {
  return db.transaction(async (tx): Promise<Paused> => {
    if (!(await beginPause(tx, { by: actor.name, reason }))) {
      return { outcome: 'already', pause: await readPause(tx) };
    }
    await recordAudit(tx, { actor, action: 'reconciliation.pause', subject: SUBJECT, reason });
    return { outcome: 'paused' };
  });
}

export function resumeReconciliationAs(
  { db }: { readonly db: Database },
  actor: Actor,
): Promise<{ readonly outcome: 'resumed' | 'not_paused' }> {
  return db.transaction(async (tx) => {
    if (!(await endPause(tx, actor.name))) return { outcome: 'not_paused' };
    await recordAudit(tx, { actor, action: 'reconciliation.resume', subject: SUBJECT });
    return { outcome: 'resumed' };
  });
}
