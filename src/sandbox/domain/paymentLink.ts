/**
 * Payment links. service-interface.md §4.7; their statuses are those of services of this family, and
 * `completed`.
 *
 * 1. A one-time link is completed by a payment that is in progress or received money. A payment that
 *    ended without money leaves it active.
 * 2. An expired link accepts no payment; a payment that was created in time can still be finished.
 */
import { MINUTE_MS } from '../../platform/time.ts';
import { accept, type Decision, rejectValue } from './decision.ts';
import type { PaymentState } from './payment.ts';
import { isoBound, isoTime } from './time.ts';

export interface PaymentLinkInput {
  readonly amount: number;
  readonly currency: string;
  readonly description?: string | undefined;
  readonly link_type?: string | undefined;
  readonly expiry?: string | undefined;
  readonly customer_id?: string | undefined;
  readonly email?: string | undefined;
  readonly capture_method?: string | undefined;
  readonly authentication_type?: string | undefined;
  readonly require_customer_info?: boolean | undefined;
  readonly payment_link_config?: { readonly seller_name?: string | undefined } | undefined;
}

export interface PaymentLinkState extends PaymentLinkInput {
  readonly payment_link_id: string;
  readonly merchant_id: string;
  readonly link_to_pay: string;
  readonly link_type: string;
  readonly expiry: string;
  readonly created: string;
  /** The last payment that was created by the link. */
  readonly payment_id?: string | undefined;
}

export interface NewPaymentLink {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  readonly nowMs: number;
}

/** As at services of this family. */
const DEFAULT_VALIDITY_MS = 15 * MINUTE_MS;

export function createPaymentLink(
  input: PaymentLinkInput,
  created: NewPaymentLink,
): Decision<PaymentLinkState> {
  const { nowMs } = created;
  const { expiry: requested, link_type = 'one_time' } = input;
  const expiry = requested ? isoBound(requested, Math.floor) : isoTime(nowMs + DEFAULT_VALIDITY_MS);
  if (Date.parse(expiry) <= nowMs) return rejectValue('expiry: has passed already');
  return accept({
    ...input,
    payment_link_id: created.id,
    merchant_id: created.merchantId,
    link_to_pay: created.url,
    link_type,
    expiry,
    created: isoTime(nowMs),
  });
}

export type PaymentLinkStatus = 'active' | 'expired' | 'completed';

/** The fields of a payment that decide the status of its link. */
export type LinkedPayment = Pick<PaymentState, 'status' | 'amount_received'>;

/** @param last the last payment that was created by the link, if any */
export function paymentLinkStatus(
  state: PaymentLinkState,
  last: LinkedPayment | undefined,
  nowMs: number,
): PaymentLinkStatus {
  const isUsed = last !== undefined && (last.amount_received > 0 || !ENDED.has(last.status));
  if (state.link_type === 'one_time' && isUsed) return 'completed';
  return Date.parse(state.expiry) <= nowMs ? 'expired' : 'active';
}

/** Ended without the whole amount; a part may have been captured. */
const ENDED: ReadonlySet<string> = new Set(['failed', 'cancelled', 'expired']);
