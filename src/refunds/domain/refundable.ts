/**
 * What of a payment can be refunded.
 *
 * 1. What was captured, without the refunds that did not fail, pending ones included, and without the
 *    disputes in which the money is withheld or lost: a refund besides a dispute pays the customer twice.
 *    Nothing of a capture that was voided: the customer has the money back.
 * 2. An amount that is unknown may be the whole payment, and so may one in another currency, as of a dispute in
 *    the currency of the card: then nothing can be refunded.
 * 3. A dispute that is neither won nor canceled is open or lost, at any stage: who refunds learns of it first.
 */

export interface RefundedPart {
  readonly kind: string;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
}

export interface RefundedPayment {
  readonly status: string | null;
  readonly currency: string | null;
  readonly capturedMinor: number;
}

/** @returns minor units; undefined where a part has no amount in the payment's currency (rule 2) */
export function refundableMinor(
  { status, currency, capturedMinor }: RefundedPayment,
  parts: readonly RefundedPart[],
): number | undefined {
  if (status === 'cancelled_post_capture') return 0;
  let left = capturedMinor;
  for (const part of parts) {
    if (!counts(part)) continue;
    if (part.amountMinor === null || part.currency !== currency) return undefined;
    left -= part.amountMinor;
  }
  return Math.max(left, 0);
}

function counts({ kind, status, stage }: RefundedPart): boolean {
  if (kind === 'refund') return status !== 'failed';
  return isOpenOrLost({ kind, status }) && stage !== 'pre_dispute';
}

/** Rule 3. */
export function isOpenOrLost({ kind, status }: Pick<RefundedPart, 'kind' | 'status'>): boolean {
  return kind === 'dispute' && status !== 'won' && status !== 'cancelled';
}
