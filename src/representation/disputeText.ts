/** Why a dispute was not contested or accepted, for every channel. */
import { formatMoney } from '../contract/money.ts';
import { claimedText, type NotDone, notDoneText } from './notDone.ts';

interface DisputeNow {
  readonly status: string | null;
  readonly stage: string | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
}

type NotActed =
  | (NotDone & { readonly attempt: number })
  | { readonly outcome: 'claimed'; readonly attempt: number }
  | { readonly outcome: 'changed'; readonly now: DisputeNow | undefined };

const SAME_FINDS_OUT = 'The same request finds out.';

export function notActedText(disputeId: string, given: NotActed): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `act on ${disputeId}`);
    case 'changed':
      return changedText(disputeId, given.now);
    default:
      return notDoneText(given, { attempt: given.attempt, next: SAME_FINDS_OUT });
  }
}

export function notUploadedText(disputeId: string, given: NotActed): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `upload a file for ${disputeId}`);
    case 'changed':
      return changedText(disputeId, given.now);
    default: {
      const next = 'Upload the file again: one that nothing names is harmless.';
      return notDoneText(given, { attempt: given.attempt, next });
    }
  }
}

function changedText(disputeId: string, now: DisputeNow | undefined): string {
  if (!now) return `No dispute is known as ${disputeId}. Nothing was done.`;
  const { amountMinor, currency, stage, status } = now;
  const money =
    amountMinor === null || currency === null
      ? 'of unknown amount'
      : `about ${formatMoney(amountMinor, currency)}`;
  return (
    `${disputeId} is ${money}, at ${stage ?? 'an unknown stage'}, and ${status ?? 'of unknown status'}: ` +
    'not what you saw, or decided already. Nothing was done.'
  );
}
