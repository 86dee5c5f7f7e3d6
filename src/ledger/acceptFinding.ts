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
import type { Database } from '../platform/db/database.ts';
import { markAccepted, readFindingState } from './store/findings.ts';

export type Accepted =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'unknown' | 'closed' | 'already' };

/**
 * Accepts an open finding.
 * @param acceptance who accepts it and why; both not empty
 */
export async function acceptFinding(
  db: Database,
  id: number,
  acceptance: { readonly by: string; readonly reason: string },
): Promise<Accepted> {
  const accepted = await db.transaction(async (tx) => {
    const name = await markAccepted(tx, id, acceptance);
    if (name) await syncFindingAlerts(tx, { open: [], closed: [name] });
    if (name?.class === 'overdue') await syncAlerts(tx, [acceptedOverdue(name.subject)]);
    return name;
  });
  if (accepted) return { outcome: 'accepted' };
  const state = await readFindingState(db, id);
  if (state === undefined) return { outcome: 'unknown' };
  return { outcome: state === 'closed' ? 'closed' : 'already' };
}
