/** Matches and unmatches lines of settlement reports and bank statements for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { MatchedByHand, MatchTarget, Unmatched } from '../ledger/domain/matchOutcomes.ts';
import { matchByHand, unmatchByHand } from '../ledger/lines/matchByHand.ts';
import type { Database } from '../platform/db/database.ts';

export interface MatchInput {
  readonly lineId: number;
  readonly target: MatchTarget;
  readonly writeOff: boolean;
  /** Not empty. */
  readonly reason: string;
}

export function matchLineAs(
  { db }: { readonly db: Database },
  actor: Actor,
  input: MatchInput,
): Promise<MatchedByHand> {
  return db.transaction(async (tx) => {
    const matched = await matchByHand(tx, { ...input, by: actor.name });
    if (matched.outcome === 'matched') {
      const { writtenOffMinor, currency } = matched;
      await recordAudit(tx, {
        actor,
        action: 'settlement.match',
        subject: { kind: 'settlement_line', id: String(input.lineId) },
        reason: input.reason,
        detail: {
          target: targetText(input.target),
          ...(writtenOffMinor !== 0 && { written_off: writtenOffMinor, currency }),
        },
      });
    }
    return matched;
  });
}

export function unmatchLineAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { lineId, reason }: Pick<MatchInput, 'lineId' | 'reason'>,
): Promise<Unmatched> {
  return db.transaction(async (tx) => {
    const unmatched = await unmatchByHand(tx, { lineId, reason, by: actor.name });
    if (unmatched.outcome === 'unmatched') {
      await recordAudit(tx, {
        actor,
        action: 'settlement.unmatch',
        subject: { kind: 'settlement_line', id: String(lineId) },
        reason,
        detail: { target: targetText(unmatched.target) },
      });
    }
    return unmatched;
  });
}

function targetText({ kind, id }: MatchTarget): string {
  return id === undefined ? kind : `${kind}:${id}`;
}
