/** The payment service as authorizations use it: requests about one payment, and what became of them. */
import type { PolicyAction } from './domain/reminders.ts';
import type { FailedRead } from './refreshOutcome.ts';

/** What became of a retrieve. */
export type RefreshOutcome =
  /** The response was applied. */
  | { readonly outcome: 'applied' }
  | FailedRead
  /** The process is shutting down and did not wait for the response. */
  | { readonly outcome: 'stopped' };

/** What became of a capture or cancellation. */
export type ActionOutcome =
  | { readonly outcome: 'done' }
  /** Nothing happened: the request was not sent, or the service could not process it. It may later. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** The service refused. Nothing happened, and the same request will be refused again. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** No response shows the outcome; it may have happened. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface AuthorizationRequest {
  readonly action: PolicyAction;
  readonly paymentId: string;
  /** Capture only, in minor units; the whole hold when it is left out. */
  readonly amountMinor?: number | undefined;
  /** Cancel only. */
  readonly reason?: string | undefined;
}

/** Failures of the service are outcomes here; nothing is thrown for them. */
export interface AuthorizationService {
  /** Retrieves a payment and applies the response. */
  readonly refresh: (paymentId: string) => Promise<RefreshOutcome>;
  /**
   * Captures or cancels, and applies the response. Never sent twice. The caller retrieves the payment
   * afterwards: the response has few fields, and may be lost.
   */
  readonly act: (request: AuthorizationRequest) => Promise<ActionOutcome>;
}
