/** Refund calls. service-interface.md §4.5. */
import type { Page } from '../contract/lists.ts';
import type { RetrieveQuery } from '../contract/requests/payments.ts';
import type {
  CreateRefundRequest,
  ListRefundsRequest,
  UpdateRefundRequest,
} from '../contract/requests/refunds.ts';
import type { Refund } from '../contract/resources/refund.ts';
import type { Calls, SharedCallOptions } from './calls.ts';
import { PaymentServiceError } from './errors.ts';
import { isIdInUse, isUnreadable, rejectMismatch } from './existing.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** A refund, and how it came to exist. */
export interface CreatedRefund {
  readonly refund: Refund;
  /** `existing`: the refund was found by its refund_id after the response was lost or refused. */
  readonly origin: 'created' | 'existing';
}

/** Every method throws PaymentServiceError. A failed refund is not an error: check its status. */
export interface RefundCalls {
  /**
   * Refunds a payment. The request is never sent twice: the contract does not promise that a second
   * one with the same refund_id is rejected. With a refund_id, a lost response is resolved by a
   * retrieve, and the refund is returned if it exists.
   * @throws PaymentServiceError `outcome_unknown` when the response was lost and no refund is
   * found.
   */
  create: (request: CreateRefundRequest, options?: CallOptions) => Promise<CreatedRefund>;
  /** Updates a refund's reason or metadata. Fields that are not sent stay as they are. */
  update: (
    refundId: string,
    request: UpdateRefundRequest,
    options?: CallOptions,
  ) => Promise<Refund>;
  /** Retrieves a refund. */
  retrieve: (refundId: string, query?: RetrieveQuery, options?: CallOptions) => Promise<Refund>;
  /** One page, newest first. */
  list: (filter?: ListRefundsRequest, options?: CallOptions) => Promise<Page<Refund>>;
  /**
   * All pages, each row once. Rows that leave the list meanwhile can hide others. If rows cannot be
   * parsed, it throws `unreadable_response` after the last row.
   */
  iterate: (filter?: ListRefundsRequest, options?: CallOptions) => AsyncIterable<Refund>;
}

export function createRefundCalls({ call, page, startCall }: Calls): RefundCalls {
  const on = (refund_id: string) => ({ params: { refund_id } });
  const list: RefundCalls['list'] = (filter = {}, options) =>
    page('listRefunds', { body: filter }, options);

  /** Retrieves a refund that should exist. Any failure is reported as `original`. */
  const find = async (
    id: string,
    original: unknown,
    options: SharedCallOptions,
  ): Promise<Refund> => {
    try {
      return await call('retrieveRefund', on(id), { ...options, mustExist: true });
    } catch {
      throw original;
    }
  };

  return {
    create: async (request, options) => {
      const totals = startCall();
      try {
        const refund = await call('createRefund', { body: request }, { ...options, totals });
        return { refund, origin: 'created' };
      } catch (error) {
        const { refund_id: id, payment_id: paymentId, amount } = request;
        if (id === undefined || !(isIdInUse(error) || hasLostResponse(error))) throw error;
        const refund = await find(id, error, { ...options, totals });
        const pairs = [
          ['payment_id', paymentId, refund.payment_id],
          ['amount', amount, refund.amount],
        ] as const;
        rejectMismatch('createRefund', 'refund_id', pairs, totals);
        return { refund, origin: 'existing' };
      }
    },
    update: (id, body, options) => call('updateRefund', { ...on(id), body }, options),
    retrieve: (id, query = {}, options) => call('retrieveRefund', { ...on(id), query }, options),
    list,
    iterate: createIterate('listRefunds', list, ({ refund_id }) => refund_id),
  };
}

function hasLostResponse(error: unknown): boolean {
  return (
    isUnreadable(error) ||
    (error instanceof PaymentServiceError && error.kind === 'outcome_unknown')
  );
}
