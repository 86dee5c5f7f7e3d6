/** Which errors of a call are of the payment service. */
import { PaymentServiceError } from '../client/index.ts';

/**
 * What a failed call shows about the service. The client has one error for every failed call; an abort is the
 * caller's, and an unusable rate budget the database's. As a failure of the service, each would open a finding
 * about it.
 * @throws what is not of the service, as it was thrown before the client had it
 */
export function serviceErrorOf(error: unknown): PaymentServiceError {
  if (!(error instanceof PaymentServiceError) || error.kind === 'aborted') throw error;
  if (error.kind === 'unavailable' && error.cause !== undefined) throw error.cause;
  return error;
}
