/** Removes old data at once for an operator, as the schedule does. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import {
  type RemovedRows,
  type RetentionParts,
  type RunLimits,
  removeOld,
} from '../retention/removeOld.ts';

export function runRetentionAs(
  parts: RetentionParts,
  actor: Actor,
  limits: RunLimits,
): Promise<readonly RemovedRows[]> {
  const subject = { kind: 'retention', id: 'all' } as const;
  return recordAttempt(parts.db, { actor, action: 'retention.run', subject }, async () => {
    const removed = await removeOld(parts, limits);
    const rows = Object.fromEntries(removed.map((one) => [one.name, one.rows]));
    return { result: 'done', detail: { removed_rows: rows }, value: removed };
  });
}
