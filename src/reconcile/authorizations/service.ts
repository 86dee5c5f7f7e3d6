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
  /** The service said no, or the request could not be made: nothing happened. */
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
  /** Captures or cancels. Never sent twice; the caller retrieves afterwards. */
  readonly act: (request: AuthorizationRequest) => Promise<Acted>;
}
