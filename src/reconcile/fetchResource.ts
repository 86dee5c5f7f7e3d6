/** One request for one resource of any kind. */
import type { CallOptions, PaymentServiceClient } from '../client/index.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';

/**
 * Retrieves a resource.
 * @returns the body as the client reads it, unknown fields included
 * @throws PaymentServiceError
 */
export function fetchResource(
  client: PaymentServiceClient,
  { kind, id }: ResourceRef,
  options: CallOptions,
): Promise<object> {
  switch (kind) {
    case 'payment':
      return client.payments.retrieve(id, {}, options);
    case 'refund':
      return client.refunds.retrieve(id, {}, options);
    case 'dispute':
      return client.disputes.retrieve(id, options);
    case 'payout':
      return client.payouts.retrieve(id, {}, options);
  }
}
