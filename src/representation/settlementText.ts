/** Why a line was not matched or unmatched, for people. */
import type { MatchedByHand, Unmatched } from '../ledger/domain/matchOutcomes.ts';

export function notMatchedText(
  lineId: number,
  refused: Exclude<MatchedByHand, { readonly outcome: 'matched' }>,
): string {
  switch (refused.outcome) {
    case 'no_line':
      return `No line has the number ${lineId}.`;
    case 'already': {
      const { kind, id } = refused.target;
      const target = id === undefined ? kind : `${kind}:${id}`;
      return `Line ${lineId} is matched with ${target}. Unmatch it first.`;
    }
    case 'not_possible':
      return refused.type === 'bank'
        ? "A bank line is about a settlement, or excluded because it is not the service's."
        : `A line of the type ${refused.type} cannot be about that: a payment, refund, dispute or payout is about one of its kind, or an adjustment; fees and adjustments are about nothing.`;
    case 'no_target':
      return 'Nothing with that id has money in the currency of the line.';
  }
}

export function notUnmatchedText(
  lineId: number,
  refused: Exclude<Unmatched, { readonly outcome: 'unmatched' }>,
): string {
  return refused.outcome === 'no_line'
    ? `No line has the number ${lineId}.`
    : `Line ${lineId} is not matched.`;
}
