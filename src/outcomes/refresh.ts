/** What became of a request that reads, for a person or a policy. */
import { PaymentServiceError } from '../client/index.ts';
import { affectsEveryRequest, failureOf } from '../reconcile/domain/failures.ts';
import type { Retrieved } from '../reconcile/retrieve.ts';

/** What became of a retrieve. */
export type RefreshOutcome =
  /** The response was applied. */
  | { readonly outcome: 'applied' }
  | FailedRead
  /** The process is shutting down and did not wait for the response. */
  | { readonly outcome: 'stopped' };

/** Nothing was learned. */
export interface FailedRead {
  readonly outcome: 'failed';
  readonly reason: string;
  /** A request for another resource would fail, too. */
  readonly isUnavailable: boolean;
}

/** Why a retrieve applied nothing. */
export function notApplied(found: Exclude<Retrieved, { readonly outcome: 'applied' }>): FailedRead {
  switch (found.outcome) {
    case 'missing':
      return { outcome: 'failed', reason: 'the service does not know it', isUnavailable: false };
    case 'failed': {
      const isUnavailable = affectsEveryRequest(found.failure);
      return { outcome: 'failed', reason: found.reason, isUnavailable };
    }
  }
}

/** Why a request failed; throws what is not of the service. */
export function failedRead(error: unknown): FailedRead {
  if (!(error instanceof PaymentServiceError)) throw error;
  const isUnavailable = affectsEveryRequest(failureOf(error));
  return { outcome: 'failed', reason: error.message, isUnavailable };
}
