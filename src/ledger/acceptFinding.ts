/**
 * Accepts a finding: a person leaves it as it is, and it no longer counts as a difference.
 *
 * An accepted finding stays open until its condition no longer holds. The next observation would open
 * a closed one again. The acceptance covers what the finding showed: if its detail changes, for
 * instance to a larger amount, the acceptance lapses. Accepting also resolves the alert; an overdue
 * finding has its alert under a rule of its own.
 */
import { acceptedOverdue } from '../alerts/domain/rules/overdue.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import { syncFindingAlerts } from '../alerts/syncFindingAlerts.ts';
import type { Queryable } from '../platform/db/database.ts';
import { type FindingName, markAccepted, readFindingState } from './store/findings.ts';

export type Accepted =
  | { readonly outcome: 'accepted'; readonly finding: FindingName }
  | { readonly outcome: 'unknown' | 'closed' | 'already' };

/**
 * Accepts an open finding.
 * @param tx the transaction that also records who accepts it
 * @param acceptance who accepts it and why; both not empty
 */
export async function acceptFinding(
  tx: Queryable,
  id: number,
  acceptance: { readonly by: string; readonly reason: string },
): Promise<Accepted> {
  const finding = await markAccepted(tx, id, acceptance);
  if (finding) {
    await syncFindingAlerts(tx, { open: [], closed: [finding] });
    if (finding.class === 'overdue') await syncAlerts(tx, [acceptedOverdue(finding.subject)]);
    return { outcome: 'accepted', finding };
  }
  const state = await readFindingState(tx, id);
  if (state === undefined) return { outcome: 'unknown' };
  return { outcome: state === 'closed' ? 'closed' : 'already' };
}
