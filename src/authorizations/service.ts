/** What is asked of the payment service about authorizations, and what can come of it. */
import type { PolicyAction } from './domain/authorization.ts';

/** What became of a retrieve. */
export type Asked =
  /** The answer was applied. */
  | { readonly outcome: 'applied' }
  /** Nothing was learned; `isAway` when asking about another payment would fare no better. */
  | { readonly outcome: 'failed'; readonly reason: string; readonly isAway: boolean }
  /** We are being stopped, and did not wait for the answer. */
  | { readonly outcome: 'stopped' };

/** What became of a capture or cancellation. */
export type Acted =
  | { readonly outcome: 'done' }
  /** Nothing happened: the request was not sent, or the service could not work on it. It may later. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** The service said no: nothing happened, and the same request will be refused again. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** No answer tells; it may have happened. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export interface AuthorizationRequest {
  readonly action: PolicyAction;
  readonly paymentId: string;
  /** Capture only, in minor units; everything that is held when it is left out. */
  readonly amountMinor?: number | undefined;
  /** Cancel only. */
  readonly reason?: string | undefined;
}

/** Nothing here throws for what the service does. */
export interface AuthorizationService {
  /** Retrieves a payment and applies what the service says of it. */
  readonly refresh: (paymentId: string) => Promise<Asked>;
  /**
   * Captures or cancels, and applies the answer. Never sent twice; the caller retrieves afterwards,
   * since an answer has few fields, and may be lost.
   */
  readonly act: (request: AuthorizationRequest) => Promise<Acted>;
}
