/** Calls about refunds. service-interface.md §4.5. */
import type { Page } from '../contract/lists.ts';
import type { RetrieveQuery } from '../contract/requests/payments.ts';
import type {
  CreateRefundRequest,
  ListRefundsRequest,
  UpdateRefundRequest,
} from '../contract/requests/refunds.ts';
import type { Refund } from '../contract/resources/refund.ts';
import type { Calls, OneOptions } from './calls.ts';
import { PaymentServiceError } from './errors.ts';
import { isUnreadable, refuseDifference, saysItExists } from './existing.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** A refund, and how it came to be. */
export interface CreatedRefund {
  readonly refund: Refund;
  /** `existing`: the refund was found under its refund_id after the answer was lost or refused. */
  readonly origin: 'created' | 'existing';
}

/** Every method throws PaymentServiceError. A refund that failed is no error: look at its status. */
export interface RefundCalls {
  /**
   * Refunds a payment. The request is never sent twice: the contract does not say that a second one
   * with the same refund_id is refused. With a refund_id, a refund whose answer was lost is looked
   * for instead, and returned when it is there.
   * @throws PaymentServiceError `outcome_unknown` when the answer was lost and no refund is found.
   */
  create: (request: CreateRefundRequest, options?: CallOptions) => Promise<CreatedRefund>;
  /** Changes a refund's reason or metadata. What is not sent stays. */
  update: (
    refundId: string,
    request: UpdateRefundRequest,
    options?: CallOptions,
  ) => Promise<Refund>;
  /** Reads a refund as it is now. */
  retrieve: (refundId: string, query?: RetrieveQuery, options?: CallOptions) => Promise<Refund>;
  /** One page, newest first. */
  list: (filter?: ListRefundsRequest, options?: CallOptions) => Promise<Page<Refund>>;
  /**
   * All pages, each row once. Rows that leave a list while it is walked can hide others; rows that
   * cannot be read make it throw `unreadable_response` after the last.
   */
  iterate: (filter?: ListRefundsRequest, options?: CallOptions) => AsyncIterable<Refund>;
}

export function createRefundCalls({ one, page, begin }: Calls): RefundCalls {
  const on = (refund_id: string) => ({ params: { refund_id } });
  const list: RefundCalls['list'] = (filter = {}, options) =>
    page('listRefunds', { body: filter }, options);

  /** Looks for a refund that should exist; whatever goes wrong, `original` is what is told. */
  const find = async (id: string, original: unknown, options: OneOptions): Promise<Refund> => {
    try {
      return await one('retrieveRefund', on(id), { ...options, mustExist: true });
    } catch {
      throw original;
    }
  };

  return {
    create: async (request, options) => {
      const spent = begin();
      try {
        const refund = await one('createRefund', { body: request }, { ...options, spent });
        return { refund, origin: 'created' };
      } catch (error) {
        const { refund_id: id, payment_id: paymentId, amount } = request;
        if (id === undefined || !(saysItExists(error) || lostItsAnswer(error))) throw error;
        const refund = await find(id, error, { ...options, spent });
        const pairs = [
          ['payment_id', paymentId, refund.payment_id],
          ['amount', amount, refund.amount],
        ] as const;
        refuseDifference('createRefund', 'refund_id', pairs, spent);
        return { refund, origin: 'existing' };
      }
    },
    update: (id, body, options) => one('updateRefund', { ...on(id), body }, options),
    retrieve: (id, query = {}, options) => one('retrieveRefund', { ...on(id), query }, options),
    list,
    iterate: createIterate('listRefunds', list, ({ refund_id }) => refund_id),
  };
}

function lostItsAnswer(error: unknown): boolean {
  return (
    isUnreadable(error) ||
    (error instanceof PaymentServiceError && error.kind === 'outcome_unknown')
  );
}
