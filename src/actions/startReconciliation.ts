/** Starts reconcile runs for an operator: in a command, or as a job of the reconcile worker. */
import type { Actor } from '../audit/domain/actor.ts';
import { type Attempted, recordAttempt } from '../audit/recordAudit.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { OperatorRequest } from '../reconcile/jobs.ts';

export interface StartParts<T> {
  readonly db: Queryable;
  /** Runs or enqueues it. Receives the number of the attempt in the audit log. */
  readonly start: (request: OperatorRequest, attempt: number) => Promise<Attempted<T>>;
}

export function startReconciliationAs<T>(
  { db, start }: StartParts<T>,
  actor: Actor,
  request: OperatorRequest,
): Promise<T> {
  const { streams, mode, fromMs, toMs, isDryRun } = request;
  const intent = {
    actor,
    action: 'reconciliation.start',
    subject: { kind: 'reconciliation', id: streams.join(',') },
    detail: {
      mode,
      is_dry_run: isDryRun,
      ...(fromMs !== undefined && { from: new Date(fromMs).toISOString() }),
      ...(toMs !== undefined && { to: new Date(toMs).toISOString() }),
    },
  } as const;
  return recordAttempt(db, intent, (attempt) => start(request, attempt));
}
