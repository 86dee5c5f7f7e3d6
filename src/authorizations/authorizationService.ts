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

/** Failures of the service are outcomes here; only those of the database are thrown. */
export interface AuthorizationService {
  /**
   * Retrieves a payment and applies the response.
   * @param lockWaitMs how long to wait for what another transaction holds; undefined: as long as the database
   * lets it wait
   * @throws a contended error (platform/db/failures.ts) if the other holds it for longer
   */
  readonly refresh: (paymentId: string, lockWaitMs?: number) => Promise<RefreshOutcome>;
  /**
   * Captures or cancels, and applies the response. Never sent twice. The caller retrieves the payment
   * afterwards: the response has few fields, and may be lost.
   */
  readonly act: (request: AuthorizationRequest) => Promise<ActionOutcome>;
}
