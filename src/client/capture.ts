/**
 * Captures a payment. service-interface.md §4.3.6 and §7.7.
 *
 * The contract asks to retry a 5xx, and says that an error means that nothing was attempted. A proxy
 * that gives up on a slow capture answers 502 as well, so a capture is never repeated blindly:
 *
 * 1. Only after a 5xx, and only if a retrieve then shows that nothing was captured.
 * 2. Only where a second capture could not take more than was asked for: one that ends the payment's
 *    captures, or takes all that is left.
 * 3. What fails after a repetition has an unknown outcome: the first request may have been carried
 *    out after the retrieve.
 */
import type { CapturePaymentRequest } from '../contract/requests/payments.ts';
import type { Payment } from '../contract/resources/payment.ts';
import type { Calls, ResultOf } from './calls.ts';
import { PaymentServiceError } from './errors.ts';
import type { CallOptions } from './send.ts';

/** Options of a capture. */
export interface CaptureOptions extends CallOptions {
  /** Whether a 5xx ends the call at once: for callers that record each attempt and repeat it themselves. */
  readonly singleAttempt?: boolean;
}

export interface CaptureCall {
  readonly id: string;
  readonly body: CapturePaymentRequest;
  readonly options: CaptureOptions;
}

export async function captureOnce(
  { one, begin, backOff }: Calls,
  { id, body, options }: CaptureCall,
): Promise<ResultOf<'capturePayment'>> {
  const spent = begin();
  const params = { payment_id: id };
  const shared = { ...options, spent };

  /** Whether the payment shows that another attempt is safe; no answer is no. */
  const isUntouched = async (): Promise<boolean> => {
    try {
      const payment = await one('retrievePayment', { params }, shared);
      return nothingWasCaptured(payment) && takesNoMore(payment, body);
    } catch {
      return false;
    }
  };

  for (let attempts = 1; ; attempts += 1) {
    try {
      return await one('capturePayment', { params, body }, shared);
    } catch (error) {
      const failure = attempts === 1 ? error : withUnknownOutcome(error);
      const mayRepeat =
        !options.singleAttempt &&
        isServerError(error) &&
        (await backOff(attempts, spent, options.signal)) &&
        (await isUntouched());
      if (!mayRepeat) throw failure;
    }
  }
}

/** A hold of which nothing was taken yet. */
const UNTOUCHED: ReadonlySet<string> = new Set([
  'requires_capture',
  'partially_authorized_and_requires_capture',
]);

function nothingWasCaptured({ status, amount_received: received }: Payment): boolean {
  return UNTOUCHED.has(status ?? '') && (received ?? 0) === 0;
}

/** Rule 2. */
function takesNoMore(
  payment: Payment,
  { amount_to_capture: asked }: CapturePaymentRequest,
): boolean {
  return (
    payment.capture_method === 'manual' ||
    asked === undefined ||
    asked === payment.amount_capturable
  );
}

function isServerError(error: unknown): boolean {
  return (
    error instanceof PaymentServiceError &&
    error.kind === 'outcome_unknown' &&
    (error.httpStatus ?? 0) >= 500
  );
}

/** Rule 3: also of a refusal, which may be about what the first request did. */
function withUnknownOutcome(error: unknown): unknown {
  if (!(error instanceof PaymentServiceError) || error.outcomeUnknown) return error;
  const { operation, attempts, httpStatus, code, requestId } = error;
  const message = error.message.slice(`${operation}: `.length);
  return new PaymentServiceError(error.kind === 'aborted' ? 'aborted' : 'outcome_unknown', {
    operation,
    message: `${message}; an earlier attempt may have been carried out`,
    attempts,
    httpStatus,
    code,
    requestId,
    outcomeUnknown: true,
    cause: error,
  });
}
