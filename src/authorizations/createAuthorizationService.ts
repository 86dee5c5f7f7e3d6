/** Makes the AuthorizationService of a client. */
import { type CallOptions, type Lane, PaymentServiceError } from '../client/index.ts';
import { attempt } from '../outcomes/action.ts';
import { notApplied } from '../outcomes/refresh.ts';
import { limitingLockWaits } from '../platform/db/lockWaits.ts';
import {
  createObserve,
  createRetrieve,
  noteResponse,
  type RetrieveParts,
} from '../reconcile/retrieve.ts';
import type { AuthorizationRequest, AuthorizationService } from './authorizationService.ts';

/**
 * The response to a request as a body of the payment. It has no version of its own, but the time of the
 * capture or cancellation: what the ledger knew before that is older.
 */
function toBody(response: object): object {
  const { captured_at, cancelled_at } = response as Readonly<Record<string, unknown>>;
  return { modified_at: captured_at ?? cancelled_at, ...response };
}

export interface ServiceOptions {
  /** `operator` for a person, `refresh` for the scheduled check. */
  readonly lane: Lane;
  /** Aborts retrieves. A request that moves money is waited for all the same. */
  readonly signal?: AbortSignal | undefined;
}

export function createAuthorizationService(
  parts: RetrieveParts,
  { lane, signal }: ServiceOptions,
): AuthorizationService {
  const { client, db } = parts;
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
    refresh: async (id, lockWaitMs) => {
      const retrieve = createRetrieve({
        ...parts,
        db: lockWaitMs === undefined ? db : limitingLockWaits(db, lockWaitMs),
      });
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
        case 'failed':
          return notApplied(found);
      }
    },
    act: (request) =>
      attempt(async () => {
        const { onResponse, circumstances } = noteResponse();
        const response = await send(request, { lane, onResponse });
        const ref = { kind: 'payment', id: request.paymentId } as const;
        await observe(ref, toBody(response), circumstances());
        return { outcome: 'done' };
      }),
  };
}
