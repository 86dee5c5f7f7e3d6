/**
 * Accepts a finding: a person leaves it as it is, and it no longer counts as a difference.
 *
 * An accepted finding stays open until its condition no longer holds. The next observation would open
 * a closed one again. The acceptance covers what the finding showed: if its detail changes, for
 * instance to a larger amount, the acceptance lapses. For the same reason it is refused when the facts
 * changed after they were shown. Accepting also resolves the alert; an overdue finding has its alert
 * under a rule of its own.
 */
import { acceptedOverdue } from '../alerts/domain/rules/overdue.ts';
import { syncAlerts } from '../alerts/syncAlerts.ts';
import { syncFindingAlerts } from '../alerts/syncFindingAlerts.ts';
import type { Queryable } from '../platform/db/database.ts';
import {
  type Acceptance,
  type FindingName,
  markAccepted,
  readFindingState,
} from './store/findings.ts';

export type Accepted =
  | { readonly outcome: 'accepted'; readonly finding: FindingName }
  | { readonly outcome: 'unknown' | 'closed' | 'already' | 'changed' };

/**
 * Accepts an open finding.
 * @param tx the transaction that also records who accepts it
 */
export async function acceptFinding(
  tx: Queryable,
  id: number,
  acceptance: Acceptance,
): Promise<Accepted> {
  const finding = await markAccepted(tx, id, acceptance);
  if (finding) {
    await syncFindingAlerts(tx, { open: [], closed: [finding] });
    if (finding.class === 'overdue') await syncAlerts(tx, [acceptedOverdue(finding.subject)]);
    return { outcome: 'accepted', finding };
  }
  switch (await readFindingState(tx, id)) {
    case undefined:
      return { outcome: 'unknown' };
    case 'closed':
      return { outcome: 'closed' };
    case 'accepted':
      return { outcome: 'already' };
    case 'open':
      return { outcome: 'changed' };
  }
}
