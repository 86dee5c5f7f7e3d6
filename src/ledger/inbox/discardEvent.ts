/**
 * Discards a dead event: a person decides that it will not be applied.
 *
 * It keeps its row and its body, because it was acknowledged, and it can still be replayed. It counts no
 * more as dead, and its finding is accepted with the same reason, which resolves the alert.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { acceptFinding } from '../acceptFinding.ts';
import { eventSubject } from '../domain/findings.ts';
import { readOpenFindingId } from '../store/findings.ts';
import { markDiscarded } from './store/pending.ts';

/**
 * @param tx the transaction that also records who discards it
 * @returns false if the event is not dead, or was discarded before
 */
export async function discardEvent(
  tx: Queryable,
  id: number,
  discard: { readonly by: string; readonly reason: string },
): Promise<boolean> {
  if (!(await markDiscarded(tx, id, discard))) return false;
  const finding = await readOpenFindingId(tx, { class: 'event_dead', subject: eventSubject(id) });
  if (finding !== undefined) await acceptFinding(tx, finding, discard);
  return true;
}
