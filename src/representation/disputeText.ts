/** What is due for a dispute, and why it was not contested or accepted, for every channel. */
import { formatMoney } from '../contract/money.ts';
import type { Edited } from '../disputes/domain/evidence.ts';
import { claimedText, type NotDone, notDoneText } from './notDone.ts';

/** Whether evidence can be submitted: a dispute that is decided waits for none. */
export function awaitsEvidence(status: string | null): boolean {
  return status === 'opened' || status === 'challenged';
}

/** Until when evidence can be submitted; null when nothing is due, although the service had sent a deadline. */
export function evidenceDueAt({
  status,
  deadlineAt,
}: {
  readonly status: string | null;
  readonly deadlineAt: Date | null;
}): Date | null {
  return awaitsEvidence(status) ? deadlineAt : null;
}

interface DisputeNow {
  readonly status: string | null;
  readonly stage: string | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
}

type NotActed =
  | (NotDone & { readonly attempt: number })
  | { readonly outcome: 'claimed'; readonly attempt: number }
  | { readonly outcome: 'changed'; readonly now: DisputeNow | undefined }
  | Edited;

const SAME_FINDS_OUT = 'The same request finds out.';

export function notActedText(disputeId: string, given: NotActed): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `act on ${disputeId}`);
    case 'changed':
      return changedText(disputeId, given.now);
    case 'edited':
      return editedText(disputeId, given);
    default:
      return notDoneText(given, { attempt: given.attempt, next: SAME_FINDS_OUT });
  }
}

/** Both versions: the text of the person is nowhere else. */
function editedText(disputeId: string, { fields }: Edited): string {
  const both = fields.map(
    ({ name, atService, wanted }) =>
      `${name}: the service has ${quotedOrNothing(atService)}, you gave ${quotedOrNothing(wanted)}.`,
  );
  return (
    `Somebody changed the evidence of ${disputeId} after you read it. Nothing was submitted. ${both.join(' ')} ` +
    'Read the evidence again, and submit what is right.'
  );
}

function quotedOrNothing(text: string): string {
  return text === '' ? 'nothing' : JSON.stringify(text);
}

export function notUploadedText(
  disputeId: string,
  given: Exclude<NotActed, { readonly outcome: 'edited' }>,
): string {
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

/**
 * What a person learns of a payment's disputes before a refund; empty without a dispute.
 * @param disputes the open and the lost ones
 */
export function disputedText(disputes: readonly (DisputeNow & { readonly id: string })[]): string {
  if (disputes.length === 0) return '';
  const named = disputes.map(
    ({ id, status, stage, ...money }) =>
      `${id} (${amountText(money)}, stage ${stage ?? 'unknown'}, status ${status ?? 'unknown'})`,
  );
  const what = disputes.length === 1 ? 'an open or lost dispute' : 'open or lost disputes';
  return `The payment has ${what}: ${named.join(', ')}. If you refund as well, the customer can get the money twice.`;
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

function amountText({
  amountMinor,
  currency,
}: Pick<DisputeNow, 'amountMinor' | 'currency'>): string {
  if (amountMinor === null || currency === null) return 'unknown amount';
  return formatMoney(amountMinor, currency);
}
