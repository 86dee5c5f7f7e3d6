/** Calls about payments. service-interface.md §4.3. */
import type { Page } from '../contract/lists.ts';
import type {
  CancelPaymentRequest,
  CapturePaymentRequest,
  ConfirmPaymentRequest,
  CreatePaymentRequest,
  ListPaymentsRequest,
  RetrieveQuery,
  UpdatePaymentRequest,
} from '../contract/requests/payments.ts';
import type { Payment } from '../contract/resources/payment.ts';
import type { Calls, OneOptions, ResultOf } from './calls.ts';
import { type CaptureOptions, captureOnce } from './capture.ts';
import { PaymentServiceError } from './errors.ts';
import { isUnreadable, refuseDifference, saysItExists } from './existing.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions, Spent } from './send.ts';

/** A payment, and how it came to be. */
export interface CreatedPayment {
  readonly payment: Payment;
  /**
   * `existing`: an earlier request with this payment_id was carried out, and the payment was read.
   */
  readonly origin: 'created' | 'existing';
  /**
   * Whether this call could be repeated without charging twice: false when it was made without a
   * payment_id. service-interface.md §4.3.1, `payment_id`.
   */
  readonly retrySafe: boolean;
}

/** Every method throws PaymentServiceError. A decline is no error: look at the payment's status. */
export interface PaymentCalls {
  /**
   * Creates a payment. With a payment_id the request is repeated as the retry policy says, and a
   * payment that exists already is read and returned; without one it is sent once.
   * service-interface.md §4.3.1.
   * @throws PaymentServiceError `id_in_use` when the payment that exists is another one than asked
   * for, by its amount, currency or order.
   */
  create: (request: CreatePaymentRequest, options?: CallOptions) => Promise<CreatedPayment>;
  /**
   * Changes a payment before it is confirmed. What is not sent stays. service-interface.md §4.3.2.
   */
  update: (
    paymentId: string,
    request: UpdatePaymentRequest,
    options?: CallOptions,
  ) => Promise<Payment>;
  /**
   * Authorizes a payment that was created without `confirm`. A decline is an answer: the status is
   * `failed`, with a `unified_code`. service-interface.md §4.3.3.
   */
  confirm: (
    paymentId: string,
    request: ConfirmPaymentRequest,
    options?: CallOptions,
  ) => Promise<Payment>;
  /** Reads a payment as it is now. service-interface.md §4.3.4. */
  retrieve: (paymentId: string, query?: RetrieveQuery, options?: CallOptions) => Promise<Payment>;
  /** One page, newest first. service-interface.md §4.3.5. */
  list: (filter?: ListPaymentsRequest, options?: CallOptions) => Promise<Page<Payment>>;
  /** The same by GET. service-interface.md §4.3.5. */
  listByQuery: (filter?: ListPaymentsRequest, options?: CallOptions) => Promise<Page<Payment>>;
  /**
   * All pages, each row once. Rows that leave a list while it is walked can hide others; rows that
   * cannot be read make it throw `unreadable_response` after the last.
   */
  iterate: (filter?: ListPaymentsRequest, options?: CallOptions) => AsyncIterable<Payment>;
  /**
   * Captures everything that is authorized, or `amount_to_capture` in minor units. After a 5xx the
   * request is sent again only if a retrieve shows that nothing was captured, and a second capture
   * could not take more than was asked for; never with `singleAttempt`.
   * service-interface.md §4.3.6.
   */
  capture: (
    paymentId: string,
    request?: CapturePaymentRequest,
    options?: CaptureOptions,
  ) => Promise<ResultOf<'capturePayment'>>;
  /** Gives an authorization up. service-interface.md §4.3.7. */
  cancel: (
    paymentId: string,
    request?: CancelPaymentRequest,
    options?: CallOptions,
  ) => Promise<ResultOf<'cancelPayment'>>;
  /**
   * Lets a payment go on that is held for manual review. service-interface.md §4.3.8.
   */
  approve: (paymentId: string, options?: CallOptions) => Promise<ResultOf<'approvePayment'>>;
  /**
   * Ends a payment that is held for manual review. service-interface.md §4.3.9.
   */
  reject: (paymentId: string, options?: CallOptions) => Promise<ResultOf<'rejectPayment'>>;
}

export function createPaymentCalls(calls: Calls): PaymentCalls {
  const { one, page, begin } = calls;
  const on = (payment_id: string) => ({ params: { payment_id } });
  const list: PaymentCalls['list'] = (filter = {}, options) =>
    page('listPayments', { body: filter }, options);

  /** Reads a payment that `original` says or hints is there; a hint that fails is dropped. */
  const readExisting = async (
    id: string,
    original: unknown,
    options: OneOptions,
  ): Promise<Payment> => {
    try {
      return await one('retrievePayment', on(id), { ...options, mustExist: true });
    } catch (cause) {
      if (!saysItExists(original) || !(cause instanceof PaymentServiceError)) throw original;
      const isHidden = cause.httpStatus === 404;
      throw new PaymentServiceError(isHidden ? 'unavailable' : cause.kind, {
        operation: 'createPayment',
        message: `the payment exists and could not be read (${cause.message})`,
        httpStatus: cause.httpStatus,
        code: cause.code,
        requestId: cause.requestId,
        attempts: cause.attempts,
        outcomeUnknown: true,
        retryable: cause.retryable || isHidden,
        cause,
      });
    }
  };

  return {
    create: async (request, options) => {
      const retrySafe = request.payment_id !== undefined;
      const spent = begin();
      try {
        const payment = await one('createPayment', { body: request }, { ...options, spent });
        return { payment, origin: 'created', retrySafe };
      } catch (error) {
        const id = request.payment_id;
        if (id === undefined || !(saysItExists(error) || isUnreadable(error))) throw error;
        const payment = await readExisting(id, error, { ...options, spent });
        refuseAnother(request, payment, spent);
        return { payment, origin: 'existing', retrySafe };
      }
    },
    update: (id, body, options) => one('updatePayment', { ...on(id), body }, options),
    confirm: (id, body, options) => one('confirmPayment', { ...on(id), body }, options),
    retrieve: (id, query = {}, options) => one('retrievePayment', { ...on(id), query }, options),
    list,
    listByQuery: (filter = {}, options) => page('listPaymentsByQuery', { query: filter }, options),
    iterate: createIterate('listPayments', list, ({ payment_id }) => payment_id),
    capture: (id, body = {}, options = {}) => captureOnce(calls, { id, body, options }),
    cancel: (id, body = {}, options) => one('cancelPayment', { ...on(id), body }, options),
    approve: (id, options) => one('approvePayment', on(id), options),
    reject: (id, options) => one('rejectPayment', on(id), options),
  };
}

/**
 * An id that was given out twice must not sell one order for another's payment.
 * @throws PaymentServiceError of kind `id_in_use`, which names fields and no values.
 */
function refuseAnother(request: CreatePaymentRequest, payment: Payment, spent: Spent): void {
  const pairs = [
    ['amount', request.amount, payment.amount],
    ['currency', request.currency, payment.currency?.toUpperCase()],
    ['metadata.order_id', request.metadata?.order_id, payment.metadata?.order_id],
  ] as const;
  refuseDifference('createPayment', 'payment_id', pairs, spent);
}
