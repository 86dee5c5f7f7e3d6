/**
 * Raises and resolves alerts about resources that changed in a transaction of the ledger. The caller
 * holds their locks.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { ResourceFacts } from './domain/facts.ts';
import { NEEDS_RESPONSE } from './domain/rules/dispute.ts';
import { evidenceDeadline, plannedThresholdMs } from './domain/rules/evidence.ts';
import { resourceAlerts } from './domain/rules/resource.ts';
import { dropDeadlines, type PlannedDeadline, planDeadlines } from './store/deadlines.ts';
import { syncAlerts } from './syncAlerts.ts';

export interface Changed {
  readonly resources: readonly ResourceFacts[];
  readonly nowMs: number;
}

/** Runs no statement if no resource can have an alert. */
export async function syncResourceAlerts(
  tx: Queryable,
  { resources, nowMs }: Changed,
): Promise<void> {
  await syncAlerts(
    tx,
    resources.flatMap((facts) =>
      resourceAlerts(facts, nowMs).map((alerts) => ({ ...alerts, causedBy: facts.causedBy })),
    ),
  );
  await planEvidence(
    tx,
    resources.filter(({ kind }) => kind === 'dispute'),
    nowMs,
  );
}

/** Plans reminders of disputes that need a response, and drops those of others. */
async function planEvidence(
  tx: Queryable,
  disputes: readonly ResourceFacts[],
  nowMs: number,
): Promise<void> {
  const planned = disputes.flatMap((facts): readonly PlannedDeadline[] => {
    if (facts.status !== NEEDS_RESPONSE) return [];
    const { deadlineMs } = evidenceDeadline(facts, nowMs);
    const nextMs = plannedThresholdMs(deadlineMs, facts, nowMs);
    if (nextMs === undefined) return [];
    return [{ ...facts, deadlineAt: new Date(deadlineMs), nextAt: new Date(nextMs) }];
  });
  const awaited = new Set(planned.map(({ id }) => id));
  const done = disputes.filter(({ id, before }) => before !== undefined && !awaited.has(id));
  if (planned.length > 0) await planDeadlines(tx, planned);
  if (done.length > 0) await dropDeadlines(tx, done);
}
