/** Accepts a finding for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { type Accepted, acceptFinding } from '../ledger/acceptFinding.ts';
import { orderKeyOfSubject } from '../ledger/read/orderOfSubject.ts';
import type { Database } from '../platform/db/database.ts';

/** @param input the number of the finding, and why it is accepted; not empty */
export function acceptFindingAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { number, reason }: { readonly number: number; readonly reason: string },
): Promise<Accepted> {
  return db.transaction(async (tx) => {
    const accepted = await acceptFinding(tx, number, { by: actor.name, reason });
    if (accepted.outcome === 'accepted') {
      const { class: name, subject } = accepted.finding;
      await recordAudit(tx, {
        actor,
        action: 'finding.accept',
        subject: { kind: 'finding', id: String(number) },
        orderKey: await orderKeyOfSubject(tx, subject),
        reason,
        detail: { class: name, subject },
      });
    }
    return accepted;
  });
}
