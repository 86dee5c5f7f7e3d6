/** Stops a reconcile run for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';
import { markRunStopped, type RunRow, readRun } from '../reconcile/store/runs.ts';

export type Stopped =
  | { readonly outcome: 'stopped'; readonly run: RunRow }
  /** It ended before, in this state. */
  | { readonly outcome: 'ended'; readonly state: RunRow['state'] }
  | { readonly outcome: 'unknown' };

/** The run ends before its next request, and keeps what it compared (reconcile/run.ts, rule 7). */
export function stopReconciliationAs(
  { db }: { readonly db: Database },
  actor: Actor,
  number: number,
): Promise<Stopped> {
  return db.transaction(async (tx): Promise<Stopped> => {
    const run = await markRunStopped(tx, number, actor.name);
    if (!run) {
      const other = await readRun(tx, number);
      return other ? { outcome: 'ended', state: other.state } : { outcome: 'unknown' };
    }
    const subject = { kind: 'reconciliation', id: String(number) };
    const detail = { stream: run.stream, cause: run.cause, is_dry_run: run.isDryRun };
    await recordAudit(tx, { actor, action: 'reconciliation.stop', subject, detail });
    return { outcome: 'stopped', run };
  });
}
