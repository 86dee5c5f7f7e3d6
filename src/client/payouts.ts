/** Payout calls. service-interface.md §4.8. */
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
 * Every method throws PaymentServiceError. A change of a payout is never sent twice: the service
 * chooses the id, so a retry cannot be distinguished from a second payout. After a lost response, look for
 * the `merchant_order_reference_id` in the list.
 */
export interface PayoutCalls {
  /** Creates a payout; only `amount`, in minor units, and `currency` are required. */
  create: (request: CreatePayoutRequest, options?: CallOptions) => Promise<Payout>;
  /** Replaces a payout before it is confirmed: a field that is not sent is removed. */
  update: (
    payoutId: string,
    request: UpdatePayoutRequest,
    options?: CallOptions,
  ) => Promise<Payout>;
  /**
   * Confirms a payout. `payout_type` must be known by now, from the creation, an update or this
   * call.
   */
  confirm: (
    payoutId: string,
    request?: ConfirmPayoutRequest,
    options?: CallOptions,
  ) => Promise<Payout>;
  /** Sends the money of a payout that was created without `auto_fulfill`. */
  fulfill: (payoutId: string, options?: CallOptions) => Promise<Payout>;
  /** Cancels a payout before its money is sent. */
  cancel: (payoutId: string, options?: CallOptions) => Promise<Payout>;
  /** Retrieves a payout. */
  retrieve: (payoutId: string, query?: RetrieveQuery, options?: CallOptions) => Promise<Payout>;
  /** One page, newest first. */
  list: (filter?: ListPayoutsRequest, options?: CallOptions) => Promise<Page<Payout>>;
  /**
   * All pages, each row once. Rows that leave the list meanwhile can hide others. If rows cannot be
   * parsed, it throws `unreadable_response` after the last row.
   */
  iterate: (filter?: ListPayoutsRequest, options?: CallOptions) => AsyncIterable<Payout>;
}

export function createPayoutCalls({ call, page }: Calls): PayoutCalls {
  const on = (payout_id: string) => ({ params: { payout_id } });
  const list: PayoutCalls['list'] = (filter = {}, options) =>
    page('listPayouts', { body: filter }, options);
  return {
    create: (body, options) => call('createPayout', { body }, options),
    update: (id, body, options) => call('updatePayout', { ...on(id), body }, options),
    confirm: (id, body = {}, options) => call('confirmPayout', { ...on(id), body }, options),
    fulfill: (id, options) => call('fulfillPayout', on(id), options),
    cancel: (id, options) => call('cancelPayout', on(id), options),
    retrieve: (id, query = {}, options) => call('retrievePayout', { ...on(id), query }, options),
    list,
    iterate: createIterate('listPayouts', list, ({ payout_id }) => payout_id),
  };
}
