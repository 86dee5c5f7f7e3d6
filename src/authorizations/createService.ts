/** The payment service as the watch over authorizations uses it: by the client. */
import {
  type CallOptions,
  type Lane,
  PaymentServiceError,
  type ResponseMetadata,
} from '../client/index.ts';
import { startStopwatch } from '../platform/clock.ts';
import { isGeneral } from '../reconcile/domain/trouble.ts';
import { createObserve, createRetrieve, type RetrieveParts } from '../reconcile/retrieve.ts';
import type { Acted, AuthorizationRequest, AuthorizationService } from './service.ts';

/**
 * What a failed request to capture or cancel means. The service's own errors say that nothing was
 * attempted; a 5xx in other words may come from a proxy that gave up waiting for a request that was
 * carried out. One that was ended by us may have reached the service before.
 */
function meaningOf(error: PaymentServiceError): Acted {
  const { message: reason, httpStatus = 0, code, kind } = error;
  if (kind === 'unreadable_response') return { outcome: 'unknown', reason };
  if (httpStatus >= 500 && code !== undefined) return { outcome: 'failed', reason };
  if (error.outcomeUnknown) return { outcome: 'unknown', reason };
  const isTemporary = kind === 'rate_limited' || kind === 'unavailable' || code === BUSY;
  return { outcome: isTemporary ? 'failed' : 'refused', reason };
}

/** Services of this family answer so, as 422, while another request holds the payment. */
const BUSY = 'HE_00';

/**
 * The answer to a request as a body of the payment. It has no version of its own, but says when it was
 * captured or cancelled: what was known before that is older.
 */
function toBody(answer: object): object {
  const { captured_at, cancelled_at } = answer as Readonly<Record<string, unknown>>;
  return { modified_at: captured_at ?? cancelled_at, ...answer };
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
  const observe = createObserve(parts);
  const send = (
    { action, paymentId, amountMinor, reason }: AuthorizationRequest,
    call: CallOptions,
  ) => {
    switch (action) {
      case 'capture':
        return client.payments.capture(
          paymentId,
          amountMinor === undefined ? {} : { amount_to_capture: amountMinor },
          // Each attempt is claimed in a commit, so the client adds none of its own.
          { ...call, singleAttempt: true },
        );
      case 'cancel':
        return client.payments.cancel(
          paymentId,
          reason === undefined ? {} : { cancellation_reason: reason },
          call,
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
      const sinceAsked = startStopwatch();
      let serviceTimeMs: number | undefined;
      const onResponse = (answer: ResponseMetadata): void => {
        ({ serviceTimeMs } = answer);
      };
      let answer: object;
      try {
        answer = await send(request, { lane, onResponse });
      } catch (error) {
        if (error instanceof PaymentServiceError) return meaningOf(error);
        throw error;
      }
      const ref = { kind: 'payment', id: request.paymentId } as const;
      await observe(ref, toBody(answer), { serviceTimeMs, secondsSinceAsked: sinceAsked });
      return { outcome: 'done' };
    },
  };
}
