/** Accepts findings for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { type Accepted, acceptFinding } from '../ledger/acceptFinding.ts';
import { orderKeyOfSubject } from '../ledger/read/orderOfSubject.ts';
import type { Database } from '../platform/db/database.ts';

export interface ChosenFinding {
  readonly number: number;
  /** Digest of the facts that were shown; undefined: any. */
  readonly digest?: string | undefined;
}

/** @param input the finding, and why it is accepted; not empty */
export function acceptFindingAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { number, digest, reason }: ChosenFinding & { readonly reason: string },
): Promise<Accepted> {
  return db.transaction(async (tx) => {
    const accepted = await acceptFinding(tx, number, { by: actor.name, reason, digest });
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

export interface RefusedAcceptance {
  readonly number: number;
  readonly outcome: Exclude<Accepted['outcome'], 'accepted'>;
}

export interface AcceptedFindings {
  readonly accepted: readonly number[];
  readonly refused: readonly RefusedAcceptance[];
}

/** Accepts several findings for one reason, each in a transaction of its own. */
export async function acceptFindingsAs(
  parts: { readonly db: Database },
  actor: Actor,
  { findings, reason }: { readonly findings: readonly ChosenFinding[]; readonly reason: string },
): Promise<AcceptedFindings> {
  const accepted: number[] = [];
  const refused: RefusedAcceptance[] = [];
  for (const [number, { digest }] of new Map(
    findings.map((finding) => [finding.number, finding]),
  )) {
    const { outcome } = await acceptFindingAs(parts, actor, { number, digest, reason });
    if (outcome === 'accepted') accepted.push(number);
    else refused.push({ number, outcome });
  }
  return { accepted, refused };
}
