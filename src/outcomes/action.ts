/** Sends the payment service a request that moves money, and reads what became of it. */
import { PaymentServiceError } from '../client/index.ts';

/** What became of a capture, cancellation or refund, or of an action on a payout or dispute. */
export type ActionOutcome =
  | { readonly outcome: 'done' }
  /** Nothing happened: the request was not sent, or the service could not process it. It may later. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** The service refused. Nothing happened, and the same request will be refused again. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** No response shows the outcome; it may have happened. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export type FailedAction = Exclude<ActionOutcome, { readonly outcome: 'done' }>;

/** An error of the service is an outcome. @throws what `send` throws else */
export async function attempt<Outcome>(
  send: () => Promise<Outcome>,
): Promise<Outcome | FailedAction> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof PaymentServiceError) return outcomeOf(error);
    throw error;
  }
}

/**
 * What a failed request that moves money means. The service's own errors mean that nothing was
 * attempted. A 5xx without its error envelope may come from a proxy that stopped waiting for a request
 * that was carried out, and a request that was aborted here may have reached the service before.
 */
function outcomeOf(error: PaymentServiceError): FailedAction {
  const { message: reason, httpStatus = 0, code, kind } = error;
  if (kind === 'unreadable_response') return { outcome: 'unknown', reason };
  if (httpStatus >= 500 && code !== undefined) return { outcome: 'failed', reason };
  if (error.outcomeUnknown) return { outcome: 'unknown', reason };
  const isTemporary =
    kind === 'rate_limited' || kind === 'unavailable' || TEMPORARY.has(code ?? '');
  return { outcome: isTemporary ? 'failed' : 'refused', reason };
}

/**
 * Codes of a cause that passes, at any HTTP status: the contract names none for them. HE_00:
 * services of this family respond with it, as 422, while another request locks the payment. CE_01: the
 * processor is unavailable; services of this family send the codes of processors as 400.
 */
const TEMPORARY: ReadonlySet<string> = new Set(['HE_00', 'CE_01']);
