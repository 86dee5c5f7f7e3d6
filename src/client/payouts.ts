/** Calls about payouts. service-interface.md §4.8. */
import type { Page } from '../contract/lists.ts';
import type { RetrieveQuery } from '../contract/requests/payments.ts';
import type {
  ConfirmPayoutRequest,
  CreatePayoutRequest,
  ListPayoutsRequest,
  UpdatePayoutRequest,
} from '../contract/requests/payouts.ts';
import type { Payout } from '../contract/resources/payout.ts';
import type { Calls } from './calls.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/**
 * Every method throws PaymentServiceError. What changes a payout is never sent twice: the service
 * chooses the id, so nothing tells a repetition from a second payout. A
 * `merchant_order_reference_id` lets one be looked for in the list after its answer was lost.
 */
export interface PayoutCalls {
  /** Creates a payout; only `amount`, in minor units, and `currency` are mandatory. */
  create: (request: CreatePayoutRequest, options?: CallOptions) => Promise<Payout>;
  /** Changes a payout before it is confirmed. What is not sent stays. */
  update: (
    payoutId: string,
    request: UpdatePayoutRequest,
    options?: CallOptions,
  ) => Promise<Payout>;
  /** Confirms a payout. `payout_type` must be known by now, from its creation, a change or here. */
  confirm: (
    payoutId: string,
    request?: ConfirmPayoutRequest,
    options?: CallOptions,
  ) => Promise<Payout>;
  /** Lets the money go, of a payout that was created without `auto_fulfill`. */
  fulfill: (payoutId: string, options?: CallOptions) => Promise<Payout>;
  /** Ends a payout whose money has not gone. */
  cancel: (payoutId: string, options?: CallOptions) => Promise<Payout>;
  /** Reads a payout as it is now. */
  retrieve: (payoutId: string, query?: RetrieveQuery, options?: CallOptions) => Promise<Payout>;
  /** One page, newest first. */
  list: (filter?: ListPayoutsRequest, options?: CallOptions) => Promise<Page<Payout>>;
  /**
   * All pages, each row once. Rows that leave a list while it is walked can hide others; rows that
   * cannot be read make it throw `unreadable_response` after the last.
   */
  iterate: (filter?: ListPayoutsRequest, options?: CallOptions) => AsyncIterable<Payout>;
}

export function createPayoutCalls({ one, page }: Calls): PayoutCalls {
  const on = (payout_id: string) => ({ params: { payout_id } });
  const list: PayoutCalls['list'] = (filter = {}, options) =>
    page('listPayouts', { body: filter }, options);
  return {
    create: (body, options) => one('createPayout', { body }, options),
    update: (id, body, options) => one('updatePayout', { ...on(id), body }, options),
    confirm: (id, body = {}, options) => one('confirmPayout', { ...on(id), body }, options),
    fulfill: (id, options) => one('fulfillPayout', on(id), options),
    cancel: (id, options) => one('cancelPayout', on(id), options),
    retrieve: (id, query = {}, options) => one('retrievePayout', { ...on(id), query }, options),
    list,
    iterate: createIterate('listPayouts', list, ({ payout_id }) => payout_id),
  };
}
