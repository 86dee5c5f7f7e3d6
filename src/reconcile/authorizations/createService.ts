/** The payment service as the watch over authorizations uses it: by the client. */
import { type Lane, PaymentServiceError } from '../../client/index.ts';
import { isGeneral } from '../domain/trouble.ts';
import { createRetrieve, type RetrieveParts } from '../retrieve.ts';
import type { Acted, AuthorizationRequest, AuthorizationService } from './service.ts';

/**
 * Of all that a capture can fail with, what leaves it open whether it happened. A request that was
 * ended by us may have reached the service before.
 */
function meaningOf(error: PaymentServiceError): Acted {
  const isOpen = error.outcomeUnknown || error.kind === 'unreadable_answer';
  return { outcome: isOpen ? 'unknown' : 'refused', reason: error.message };
}

export interface ServiceOptions {
  /** Who asks: an operator, or the watch itself. */
  readonly lane: Lane;
  /** Ends questions; what tells the service to move money is waited for all the same. */
  readonly signal?: AbortSignal | undefined;
}

export function createAuthorizationService(
  parts: RetrieveParts,
  { lane, signal }: ServiceOptions,
): AuthorizationService {
  const { client } = parts;
  const retrieve = createRetrieve(parts);
  const send = (request: AuthorizationRequest): Promise<unknown> => {
    const { action, paymentId, amountMinor, reason } = request;
    switch (action) {
      case 'capture':
        return client.payments.capture(
          paymentId,
          amountMinor === undefined ? {} : { amount_to_capture: amountMinor },
          { lane },
        );
      case 'cancel':
        return client.payments.cancel(
          paymentId,
          reason === undefined ? {} : { cancellation_reason: reason },
          { lane },
        );
    }
  };
  return {
    refresh: async (id) => {
      const found = await retrieve(
        { kind: 'payment', id },
        { lane, ...(signal && { signal }) },
      ).catch((error: unknown) => {
        if (error instanceof PaymentServiceError) return { outcome: 'stopped' } as const;
        throw error;
      });
      switch (found.outcome) {
        case 'applied':
        case 'stopped':
          return { outcome: found.outcome };
        case 'missing':
          return { outcome: 'failed', reason: 'the service does not know it', isAway: false };
        case 'failed':
          return { outcome: 'failed', reason: found.reason, isAway: isGeneral(found.trouble) };
      }
    },
    act: async (request) => {
      try {
        await send(request);
        return { outcome: 'done' };
      } catch (error) {
        if (error instanceof PaymentServiceError) return meaningOf(error);
        throw error;
      }
    },
  };
}
