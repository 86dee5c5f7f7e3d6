/**
 * A person accepts a finding: it is known, and no longer counts as a difference.
 *
 * It stays open while its test fails, and closes by itself like any other. It was accepted for what it
 * showed: when it comes to show something else, a larger amount for instance, the acceptance lapses.
 * Closing it instead would have the next look open it anew.
 */
import type { Queryable } from '../platform/db/database.ts';
import { markAccepted, readFindingState } from './store/findings.ts';

export type Accepted =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'unknown' | 'closed' | 'already' };

/**
 * Accepts an open finding.
 * @param acceptance who, and why; neither empty
 */
export async function acceptFinding(
  db: Queryable,
  id: number,
  acceptance: { readonly by: string; readonly reason: string },
): Promise<Accepted> {
  if (await markAccepted(db, id, acceptance)) return { outcome: 'accepted' };
  const state = await readFindingState(db, id);
  if (state === undefined) return { outcome: 'unknown' };
  return { outcome: state === 'closed' ? 'closed' : 'already' };
}
