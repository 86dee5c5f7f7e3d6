/**
 * What is sent to pay a payout again.
 *
 * 1. The service offers no repetition of a payout, so a new one is created. Its reference follows from the
 *    id of the payout that it replaces: that is how it is found, and why there is at most one.
 * 2. It goes to the stored method of the first payout, or to details that a person types: the service
 *    returns details masked.
 * 3. Everything else is as it was. A field of the response that a request cannot have is left out.
 */
import { type AccountDetailsRequest, TYPE_OF_DATA } from '../../contract/requests/payoutMethod.ts';
import { type CreatePayoutRequest, createPayoutRequest } from '../../contract/requests/payouts.ts';
import type { Payout } from '../../contract/resources/payout.ts';

const PREFIX = 'again_';

/** Rule 1. */
export function againReference(payoutId: string): string {
  return `${PREFIX}${payoutId}`;
}

/** The payout that one with this reference replaces. */
export function replacedBy(reference: string | null): string | undefined {
  return reference?.startsWith(PREFIX) ? reference.slice(PREFIX.length) : undefined;
}

/** Whether the money of a payout waits to be sent by a person. */
export function isFulfillable(status: string | null): boolean {
  return status === 'requires_fulfillment';
}

/** Statuses that a payout also reaches although nobody sent its money. */
const ENDED_UNSENT: ReadonlySet<string> = new Set(['cancelled', 'expired', 'ineligible']);

/** Whether the money of a payout that waited for a person was sent, also where it did not arrive. */
export function isSent(status: string): boolean {
  return !status.startsWith('requires_') && !ENDED_UNSENT.has(status);
}

/** Whether a payout can still be cancelled, as far as its status shows. */
export function isCancellable(status: string | null): boolean {
  return (
    status !== null &&
    (status.startsWith('requires_') || status === 'initiated' || status === 'pending')
  );
}

/** Fields that stay as they were (rule 3). */
const COPIED = [
  'payout_type',
  'billing',
  'auto_fulfill',
  'recurring',
  'entity_type',
  'priority',
  'business_country',
  'description',
  'profile_id',
] as const satisfies readonly (keyof CreatePayoutRequest & keyof Payout)[];

export type PayoutMethod =
  | { readonly kind: 'stored'; readonly id: string }
  | { readonly kind: 'typed'; readonly details: AccountDetailsRequest };

/** @returns undefined: the method does not fit, or the service did not return what a request needs */
export function requestOf(payout: Payout, method: PayoutMethod): CreatePayoutRequest | undefined {
  const { payout_id: id, amount, currency, customer_id: customerId, metadata } = payout;
  const { shape } = createPayoutRequest;
  const copied = COPIED.flatMap((name) => {
    const { data } = shape[name].safeParse(payout[name]);
    return data === undefined ? [] : [[name, data] as const];
  });
  const reference = payout.merchant_order_reference_id;
  const origin = { pays_again: id, ...(reference && { first_reference: reference }) };
  const all = shape.metadata.safeParse({ ...metadata, ...origin });
  const request = {
    ...Object.fromEntries(copied),
    ...(method.kind === 'typed'
      ? { payout_type: typeOf(method.details), payout_method_data: method.details }
      : { payout_method_id: method.id }),
    ...(customerId && { customer: { id: customerId } }),
    metadata: all.data ?? origin,
    amount,
    currency,
    merchant_order_reference_id: againReference(id),
    confirm: true,
  };
  const isSameType =
    method.kind === 'stored' ||
    !payout.payout_type ||
    payout.payout_type === typeOf(method.details);
  return isSameType ? createPayoutRequest.safeParse(request).data : undefined;
}

function typeOf(details: AccountDetailsRequest): string | undefined {
  const [kind] = Object.keys(details);
  return TYPE_OF_DATA[kind ?? ''];
}
