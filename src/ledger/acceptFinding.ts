/**
 * A person accepts a finding: it is known, and no longer counts as a difference.
 *
 * It stays open while its test fails, and closes by itself like any other. It was accepted for what it
 * showed: when it comes to show something else, a larger amount for instance, the acceptance lapses.
 * Closing it instead would have the next look open it anew.
 * Its alert ends with it; money that takes long has one under a name of its own.
 */
import { acceptedOverdue } from '../alerts/domain/rules/overdue.ts';
import { settleAlerts } from '../alerts/raise.ts';
import { settleFindings } from '../alerts/settleFindings.ts';
import type { Database } from '../platform/db/database.ts';
import { markAccepted, readFindingState } from './store/findings.ts';

export type Accepted =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'unknown' | 'closed' | 'already' };

/**
 * Accepts an open finding.
 * @param acceptance who, and why; neither empty
 */
export async function acceptFinding(
  db: Database,
  id: number,
  acceptance: { readonly by: string; readonly reason: string },
): Promise<Accepted> {
  const accepted = await db.transaction(async (tx) => {
    const name = await markAccepted(tx, id, acceptance);
    if (name) await settleFindings(tx, { open: [], over: [name] });
    if (name?.class === 'overdue') await settleAlerts(tx, [acceptedOverdue(name.subject)]);
    return name;
  });
  if (accepted) return { outcome: 'accepted' };
  const state = await readFindingState(db, id);
  if (state === undefined) return { outcome: 'unknown' };
  return { outcome: state === 'closed' ? 'closed' : 'already' };
}
