/** Why a request that moves money was not carried out, or may have been: one text for every channel. */
import { formatMoney } from '../contract/money.ts';
import { formatTime } from './time.ts';

export interface NotDone {
  readonly outcome: 'failed' | 'refused' | 'unknown';
  readonly reason: string;
}

/**
 * @param attempt its number in the audit log
 * @param next what shows an unknown outcome, as a sentence
 */
export function notDoneText(
  { outcome, reason }: NotDone,
  { attempt, next }: { readonly attempt: number; readonly next: string },
): string {
  switch (outcome) {
    case 'refused':
      return `The service refused: ${reason}.`;
    case 'failed':
      return `Nothing was done: ${reason}. It is safe to try again.`;
    case 'unknown':
      return `The outcome is unknown: ${reason}. Attempt ${attempt} in the audit log. ${next}`;
  }
}

/** @param what such as `refund pay_1` */
export function claimedText(attempt: number, what: string): string {
  return (
    `Attempt ${attempt} to ${what} has no result yet. Nothing was done. If its process ended, find out ` +
    'what became of it and record it with `npx tallyhook audit close`.'
  );
}

/** The outcomes of a refund that move nothing. */
export type NotRefunded =
  | (NotDone & { readonly attempt: number })
  | { readonly outcome: 'claimed'; readonly attempt: number }
  | { readonly outcome: 'existing'; readonly refundId: string }
  | { readonly outcome: 'uncertain'; readonly until: Date }
  | { readonly outcome: 'changed'; readonly now: RefundableNow };

interface NotRefundable {
  readonly outcome: 'not_refundable';
  readonly status: string | null;
  readonly isCaptured: boolean;
}

type RefundableNow =
  | {
      readonly outcome: 'refundable';
      readonly payment: { readonly refundableMinor: number; readonly currency: string };
    }
  | NotRefundable
  | { readonly outcome: 'not_retrieved' };

interface RefundSeen {
  readonly paymentId: string;
  readonly expectedMinor: number;
  readonly currency: string;
}

export function notRefundedText(seen: RefundSeen, given: NotRefunded): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `refund ${seen.paymentId}`);
    case 'existing':
      return `The refund ${given.refundId} exists: an earlier attempt was carried out. Nothing was done now.`;
    case 'uncertain':
      return (
        `An earlier attempt to refund another amount of ${seen.paymentId} has an unknown outcome, and the service ` +
        'does not show that refund yet. Nothing was sent, so that the customer is not paid twice. Repeat the ' +
        `earlier request, which finds out, or try again after ${formatTime(given.until)}.`
      );
    case 'changed':
      return changedText(seen, given.now);
    default: {
      const next = 'The same request finds out, and sends nothing if the refund exists.';
      return notDoneText(given, { attempt: given.attempt, next });
    }
  }
}

function changedText(
  { paymentId, expectedMinor, currency }: RefundSeen,
  now: RefundableNow,
): string {
  if (now.outcome === 'refundable') {
    const left = formatMoney(now.payment.refundableMinor, now.payment.currency);
    return `${left} of ${paymentId} can be refunded, not ${formatMoney(expectedMinor, currency)}. Nothing was done.`;
  }
  const known = now.outcome === 'not_refundable' ? now : { status: null, isCaptured: false };
  return `${nothingToRefundText(paymentId, known)} Nothing was done.`;
}

/** Of a payment that was captured, the status does not explain why. */
export function nothingToRefundText(
  paymentId: string,
  { status, isCaptured }: Pick<NotRefundable, 'status' | 'isCaptured'>,
): string {
  const why = isCaptured
    ? 'all of it is refunded, disputed, voided or of unknown amount'
    : `its status is ${status ?? 'unknown'}`;
  return `Nothing of ${paymentId} can be refunded: ${why}.`;
}

/** The outcomes of a capture or cancellation that move nothing, or may have. */
export type NotCaptured =
  | (NotDone & { readonly attempt: number })
  | { readonly outcome: 'claimed'; readonly attempt: number }
  | { readonly outcome: 'uncertain'; readonly until: Date }
  | { readonly outcome: 'changed'; readonly now: HoldNow }
  | {
      readonly outcome: 'busy';
      readonly policy: { readonly action: 'capture' | 'cancel'; readonly since: Date };
    };

type HoldNow =
  | {
      readonly outcome: 'held';
      readonly hold: { readonly capturableMinor: number; readonly currency: string | null };
    }
  | { readonly outcome: 'not_held'; readonly status: string | null };

interface HoldSeen {
  readonly paymentId: string;
  readonly capturableMinor: number;
  readonly currency: string | null;
}

/** @param next what shows an unknown outcome, as a sentence */
export function notCapturedText(
  seen: HoldSeen,
  given: NotCaptured,
  next = 'Refresh the payment from the service before you try again.',
): string {
  switch (given.outcome) {
    case 'claimed':
      return claimedText(given.attempt, `capture or cancel ${seen.paymentId}`);
    case 'changed':
      return changedHoldText(seen, given.now);
    case 'uncertain':
      return (
        `An earlier capture of ${seen.paymentId} has an unknown outcome, and the service does not show it yet. ` +
        'Nothing was sent, so that no more is captured than was decided. Try again after ' +
        `${formatTime(given.until)}.`
      );
    case 'busy': {
      const { action, since } = given.policy;
      return (
        `The policy of authorizations began to ${action} ${seen.paymentId} at ${formatTime(since)}, and has no ` +
        'result yet. Nothing was done. Refresh the payment from the service in a minute, and look at what is left.'
      );
    }
    default:
      return notDoneText(given, { attempt: given.attempt, next });
  }
}

export function changedHoldText(seen: HoldSeen, now: HoldNow): string {
  if (now.outcome === 'not_held') return notHeldText(seen.paymentId, now.status);
  return `${holdText(now.hold)} of ${seen.paymentId} can be captured, not ${holdText(seen)}. Nothing was done.`;
}

export function notHeldText(paymentId: string, status: string | null): string {
  return `${paymentId} cannot be captured or canceled: its status at the service is ${status ?? 'unknown'}.`;
}

/** @param hold one of an unknown currency shows minor units */
export function holdText({
  capturableMinor,
  currency,
}: Pick<HoldSeen, 'capturableMinor' | 'currency'>): string {
  if (currency === null) return `${capturableMinor} minor units`;
  return formatMoney(capturableMinor, currency);
}
