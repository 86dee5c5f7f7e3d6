/** The payment service as authorizations use it: requests about one payment. */
import type { ActionOutcome } from '../outcomes/action.ts';
import type { RefreshOutcome } from '../outcomes/refresh.ts';
import type { PolicyAction } from './domain/reminders.ts';

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
