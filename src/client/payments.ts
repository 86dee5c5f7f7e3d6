/** Payment calls. service-interface.md §4.3. */
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
import type { Calls, ResultOf, SharedCallOptions } from './calls.ts';
import { type CaptureOptions, capturePayment } from './capture.ts';
import { PaymentServiceError } from './errors.ts';
import { isIdInUse, isUnreadable, rejectMismatch } from './existing.ts';
import { createIterate } from './paginate.ts';
import type { CallOptions, CallTotals } from './send.ts';

/** A payment, and how it came to exist. */
export interface CreatedPayment {
  readonly payment: Payment;
  /**
   * `existing`: an earlier request with this payment_id was processed, and the payment was
   * retrieved.
   */
  readonly origin: 'created' | 'existing';
  /**
   * Whether the call could be retried without charging twice: false without a payment_id.
   * service-interface.md §4.3.1.
   */
  readonly retrySafe: boolean;
}

/**
 * Every method throws PaymentServiceError. A decline is not an error: check the payment's status.
 */
export interface PaymentCalls {
  /**
   * Creates a payment. With a payment_id the request is retried as the retry policy allows, and an
   * existing payment is retrieved and returned. Without one it is sent once. service-interface.md
   * §4.3.1.
   * @throws PaymentServiceError `id_in_use` when the existing payment has another amount, currency
   * or order.
   */
  create: (request: CreatePaymentRequest, options?: CallOptions) => Promise<CreatedPayment>;
  /**
   * Updates a payment before it is confirmed. Fields that are not sent stay as they are.
   * service-interface.md §4.3.2.
   */
  update: (
    paymentId: string,
    request: UpdatePaymentRequest,
    options?: CallOptions,
  ) => Promise<Payment>;
  /**
   * Authorizes a payment that was created without `confirm`. A decline is a response: the status is
   * `failed`, with a `unified_code`. service-interface.md §4.3.3.
   */
  confirm: (
    paymentId: string,
    request: ConfirmPaymentRequest,
    options?: CallOptions,
  ) => Promise<Payment>;
  /** Retrieves a payment. service-interface.md §4.3.4. */
  retrieve: (paymentId: string, query?: RetrieveQuery, options?: CallOptions) => Promise<Payment>;
  /** One page, newest first. service-interface.md §4.3.5. */
  list: (filter?: ListPaymentsRequest, options?: CallOptions) => Promise<Page<Payment>>;
  /** The same by GET. service-interface.md §4.3.5. */
  listByQuery: (filter?: ListPaymentsRequest, options?: CallOptions) => Promise<Page<Payment>>;
  /**
   * All pages, each row once. Rows that leave the list meanwhile can hide others. If rows cannot be
   * parsed, it throws `unreadable_response` after the last row.
   */
  iterate: (filter?: ListPaymentsRequest, options?: CallOptions) => AsyncIterable<Payment>;
  /**
   * Captures everything that is authorized, or `amount_to_capture` in minor units. After a 5xx the
   * request is retried only if a retrieve shows that nothing was captured and a second capture
   * could not exceed the requested amount; never with `singleAttempt`. service-interface.md §4.3.6.
   */
  capture: (
    paymentId: string,
    request?: CapturePaymentRequest,
    options?: CaptureOptions,
  ) => Promise<ResultOf<'capturePayment'>>;
  /** Cancels a payment and releases its hold. service-interface.md §4.3.7. */
  cancel: (
    paymentId: string,
    request?: CancelPaymentRequest,
    options?: CallOptions,
  ) => Promise<ResultOf<'cancelPayment'>>;
  /** Approves a payment in manual review. service-interface.md §4.3.8. */
  approve: (paymentId: string, options?: CallOptions) => Promise<ResultOf<'approvePayment'>>;
  /** Rejects a payment in manual review. service-interface.md §4.3.9. */
  reject: (paymentId: string, options?: CallOptions) => Promise<ResultOf<'rejectPayment'>>;
}

export function createPaymentCalls(calls: Calls): PaymentCalls {
  const { call, page, startCall } = calls;
  const on = (payment_id: string) => ({ params: { payment_id } });
  const list: PaymentCalls['list'] = (filter = {}, options) =>
    page('listPayments', { body: filter }, options);

  /**
   * Retrieves a payment that `original` reports or suggests to exist. A suggestion that fails is
   * dropped.
   */
  const readExisting = async (
    id: string,
    original: unknown,
    options: SharedCallOptions,
  ): Promise<Payment> => {
    try {
      return await call('retrievePayment', on(id), { ...options, mustExist: true });
    } catch (cause) {
      if (!isIdInUse(original) || !(cause instanceof PaymentServiceError)) throw original;
      const isHidden = cause.httpStatus === 404;
      throw new PaymentServiceError(isHidden ? 'unavailable' : cause.kind, {
        operation: 'createPayment',
        message: `the payment exists but cannot be retrieved (${cause.message})`,
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
      const totals = startCall();
      try {
        const payment = await call('createPayment', { body: request }, { ...options, totals });
        return { payment, origin: 'created', retrySafe };
      } catch (error) {
        const id = request.payment_id;
        if (id === undefined || !(isIdInUse(error) || isUnreadable(error))) throw error;
        const payment = await readExisting(id, error, { ...options, totals });
        rejectOtherPayment(request, payment, totals);
        return { payment, origin: 'existing', retrySafe };
      }
    },
    update: (id, body, options) => call('updatePayment', { ...on(id), body }, options),
    confirm: (id, body, options) => call('confirmPayment', { ...on(id), body }, options),
    retrieve: (id, query = {}, options) => call('retrievePayment', { ...on(id), query }, options),
    list,
    listByQuery: (filter = {}, options) => page('listPaymentsByQuery', { query: filter }, options),
    iterate: createIterate('listPayments', list, ({ payment_id }) => payment_id),
    capture: (id, body = {}, options = {}) => capturePayment(calls, { id, body, options }),
    cancel: (id, body = {}, options) => call('cancelPayment', { ...on(id), body }, options),
    approve: (id, options) => call('approvePayment', on(id), options),
    reject: (id, options) => call('rejectPayment', on(id), options),
  };
}

/**
 * Prevents one order from being paid by the payment of another after an id was used twice.
 * @throws PaymentServiceError of kind `id_in_use`, which names fields and no values.
 */
function rejectOtherPayment(
  request: CreatePaymentRequest,
  payment: Payment,
  totals: CallTotals,
): void {
  const pairs = [
    ['amount', request.amount, payment.amount],
    ['currency', request.currency, payment.currency?.toUpperCase()],
    ['metadata.order_id', request.metadata?.order_id, payment.metadata?.order_id],
  ] as const;
  rejectMismatch('createPayment', 'payment_id', pairs, totals);
}
