/**
 * Captures a payment. service-interface.md §4.3.6 and §7.7.
 *
 * The contract requires a retry of a 5xx and states that an error means nothing was attempted. A proxy that
 * times out on a slow capture returns 502 as well, so a capture is never repeated blindly:
 *
 * 1. Only after a 5xx, and only if a retrieve then shows that nothing was captured.
 * 2. Only if a second capture cannot exceed the requested amount: either it ends the payment's
 *    captures, or it captures everything that is left.
 * 3. A failure after a retry has an unknown outcome: the first request may have been processed
 *    after the retrieve.
 * 4. A response that contradicts the requested amount has an unknown outcome.
 */
import type { CapturePaymentRequest } from '../contract/requests/payments.ts';
import type { Payment } from '../contract/resources/payment.ts';
import type { Calls, ResultOf } from './calls.ts';
import { contradictedFields } from './domain/correspondence.ts';
import { PaymentServiceError } from './errors.ts';
import type { CallOptions } from './send.ts';

/** Options of a capture. */
export interface CaptureOptions extends CallOptions {
  /** Fail on the first 5xx, for callers that record each attempt and retry themselves. */
  readonly singleAttempt?: boolean | undefined;
}

export interface CaptureInput {
  readonly id: string;
  readonly body: CapturePaymentRequest;
  readonly options: CaptureOptions;
}

export async function capturePayment(
  { call, startCall, backOff }: Calls,
  { id, body, options }: CaptureInput,
): Promise<ResultOf<'capturePayment'>> {
  const totals = startCall();
  const params = { payment_id: id };
  const shared = { ...options, totals };
  let before: Payment | undefined;

  const contradictions = (response: Payment) => contradictedFields(body, { before, response });
  /** Whether the payment shows that another attempt is safe. If it cannot be read, it is not. */
  const isSafeToRepeat = async (): Promise<boolean> => {
    try {
      before = await call('retrievePayment', { params }, shared);
      return isUncaptured(before) && cannotExceed(before, body);
    } catch {
      return false;
    }
  };

  for (let attempts = 1; ; attempts += 1) {
    try {
      return await call('capturePayment', { params, body }, { ...shared, contradictions });
    } catch (error) {
      const failure = attempts === 1 ? error : withUnknownOutcome(error);
      const mayRetry =
        !options.singleAttempt &&
        isServerError(error) &&
        (await backOff(attempts, totals, options.signal)) &&
        (await isSafeToRepeat());
      if (!mayRetry) throw failure;
    }
  }
}

/** Authorized payments of which nothing was captured. */
const AUTHORIZED: ReadonlySet<string> = new Set([
  'requires_capture',
  'partially_authorized_and_requires_capture',
]);

function isUncaptured({ status, amount_received: received }: Payment): boolean {
  return AUTHORIZED.has(status ?? '') && (received ?? 0) === 0;
}

/** Rule 2. */
function cannotExceed(
  payment: Payment,
  { amount_to_capture: requested }: CapturePaymentRequest,
): boolean {
  return (
    payment.capture_method === 'manual' ||
    requested === undefined ||
    requested === payment.amount_capturable
  );
}

function isServerError(error: unknown): boolean {
  return (
    error instanceof PaymentServiceError &&
    error.kind === 'outcome_unknown' &&
    (error.httpStatus ?? 0) >= 500
  );
}

/** Rule 3. It includes rejections, which may be caused by what the first request did. */
function withUnknownOutcome(error: unknown): unknown {
  if (!(error instanceof PaymentServiceError) || error.outcomeUnknown) return error;
  const { operation, attempts, httpStatus, code, requestId } = error;
  const message = error.message.slice(`${operation}: `.length);
  return new PaymentServiceError(error.kind === 'aborted' ? 'aborted' : 'outcome_unknown', {
    operation,
    message: `${message}; an earlier attempt may have been processed`,
    attempts,
    httpStatus,
    code,
    requestId,
    outcomeUnknown: true,
    cause: error,
  });
}
