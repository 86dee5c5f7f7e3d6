/**
 * What the ledger tells alerts of a transaction: the resources that showed something new. The caller
 * holds them all.
 */
import type { Queryable } from '../platform/db/database.ts';
import type { ResourceFacts } from './domain/facts.ts';
import { NEEDS_ANSWER } from './domain/rules/dispute.ts';
import { evidenceDeadline, nextThresholdMs } from './domain/rules/evidence.ts';
import { resourceAlerts } from './domain/rules/resource.ts';
import { settleAlerts } from './raise.ts';
import { dropDeadlines, type PlannedDeadline, planDeadlines } from './store/deadlines.ts';

export interface Changed {
  readonly resources: readonly ResourceFacts[];
  readonly nowMs: number;
}

/** Raises and resolves what follows. Where all is ordinary it takes no statement. */
export async function settleResources(tx: Queryable, { resources, nowMs }: Changed): Promise<void> {
  await settleAlerts(
    tx,
    resources.flatMap((facts) => resourceAlerts(facts, nowMs)),
  );
  await planEvidence(
    tx,
    resources.filter(({ kind }) => kind === 'dispute'),
    nowMs,
  );
}

/** Plans when to speak of disputes that need an answer, and ends that for others. */
async function planEvidence(
  tx: Queryable,
  disputes: readonly ResourceFacts[],
  nowMs: number,
): Promise<void> {
  const planned = disputes.flatMap((facts): readonly PlannedDeadline[] => {
    if (facts.status !== NEEDS_ANSWER) return [];
    const { deadlineMs } = evidenceDeadline(facts, nowMs);
    const nextMs = nextThresholdMs(deadlineMs, nowMs);
    if (nextMs === undefined) return [];
    return [{ ...facts, deadlineAt: new Date(deadlineMs), nextAt: new Date(nextMs) }];
  });
  const awaited = new Set(planned.map(({ id }) => id));
  const over = disputes.filter(({ id, before }) => before !== undefined && !awaited.has(id));
  if (planned.length > 0) await planDeadlines(tx, planned);
  if (over.length > 0) await dropDeadlines(tx, over);
}
