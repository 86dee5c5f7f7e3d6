/** What became of a request that moves money, when the service's response is an error. */
import type { PaymentServiceError } from '../client/index.ts';
import type { ActionOutcome } from './authorizationService.ts';

/**
 * What a failed request that moves money means. The service's own errors mean that nothing was
 * attempted. A 5xx without its error envelope may come from a proxy that stopped waiting for a request
 * that was carried out, and a request that was aborted here may have reached the service before.
 */
export function outcomeOf(error: PaymentServiceError): ActionOutcome {
  const { message: reason, httpStatus = 0, code, kind } = error;
  if (kind === 'unreadable_response') return { outcome: 'unknown', reason };
  if (httpStatus >= 500 && code !== undefined) return { outcome: 'failed', reason };
  if (error.outcomeUnknown) return { outcome: 'unknown', reason };
  const isTemporary = kind === 'rate_limited' || kind === 'unavailable' || code === BUSY;
  return { outcome: isTemporary ? 'failed' : 'refused', reason };
}

/** Services of this family respond with it, as 422, while another request locks the payment. */
const BUSY = 'HE_00';
