/** What became of a payout that a person paid again, and why one was not cancelled or fulfilled, for every channel. */
import { isUndonePayout } from '../contract/reasons.ts';
import { claimedText, type NotDone, notDoneText } from './notDone.ts';
import { formatTime } from './time.ts';

type Attempt = { readonly attempt: number };
type Changed = { readonly outcome: 'changed'; readonly status: string | null };
type Claimed = Attempt & { readonly outcome: 'claimed' };

export type NotRetried =
  | (NotDone & Attempt)
  | Claimed
  | Changed
  | { readonly outcome: 'existing'; readonly payoutId: string }
  | { readonly outcome: 'no_method'; readonly hasDetails: boolean }
  | { readonly outcome: 'uncertain'; readonly until: Date };

/** A new payout that ended at once paid nobody. @param status of the new payout */
export function paidAgainText(newId: string, status: string | null): string {
  return isUndonePayout(status)
    ? `The new payout ${newId} is ${status}: the payee does not have the money. Correct the cause, then pay ${newId} again.`
    : `Paid again: ${newId}, status ${status ?? 'unknown'}.`;
}

export function notRetriedText(payoutId: string, given: NotRetried): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `pay ${payoutId} again`);
    case 'changed':
      return changedText(payoutId, given.status);
    case 'existing':
      return `${payoutId} was paid again before, as ${given.payoutId}. Nothing was sent.`;
    case 'no_method':
      return given.hasDetails
        ? `The account details do not fit the type of ${payoutId}. Nothing was sent.`
        : `The service has no stored account for ${payoutId}. Nothing was sent. Give the details of the account.`;
    case 'uncertain':
      return (
        `An earlier attempt to pay ${payoutId} again has an unknown outcome, and the service does not list a new ` +
        `payout yet. Nothing was sent, so that nobody is paid twice. Try again after ${formatTime(given.until)}.`
      );
    default: {
      const next = `The same request finds out whether a new payout exists, and sends none for an hour.`;
      return notDoneText(given, { attempt: given.attempt, next });
    }
  }
}

export function notActedOnPayoutText(
  { payoutId, action }: { readonly payoutId: string; readonly action: 'cancel' | 'fulfill' },
  given: (NotDone & Attempt) | Claimed | Changed,
): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `${action} ${payoutId}`);
    case 'changed':
      return changedText(payoutId, given.status);
    default: {
      const next = 'Refresh the payout from the service before you try again.';
      return notDoneText(given, { attempt: given.attempt, next });
    }
  }
}

function changedText(payoutId: string, status: string | null): string {
  return `${payoutId} is not what you saw, or its status does not allow this: it is ${status ?? 'unknown'}. Nothing was done.`;
}
