/** Calls about analytics. service-interface.md §4.9. */
import type {
  DisputeMetricsRequest,
  PaymentMetricsRequest,
  RefundMetricsRequest,
} from '../contract/requests/analytics.ts';
import type { Metrics } from '../contract/resources/analytics.ts';
import type { Calls } from './calls.ts';
import type { CallOptions } from './send.ts';

/**
 * Every method throws PaymentServiceError. Sums are in minor units of whatever currencies they
 * hold: group by `currency` to have money.
 */
export interface AnalyticsCalls {
  /** Counts, rates (0 to 1) and sums of payments, up to ten questions at once. */
  payments: (queries: PaymentMetricsRequest, options?: CallOptions) => Promise<Metrics>;
  /** The same of refunds. */
  refunds: (queries: RefundMetricsRequest, options?: CallOptions) => Promise<Metrics>;
  /** The same of disputes. */
  disputes: (queries: DisputeMetricsRequest, options?: CallOptions) => Promise<Metrics>;
}

export function createAnalyticsCalls({ one }: Calls): AnalyticsCalls {
  return {
    payments: (body, options) => one('retrievePaymentMetrics', { body }, options),
    refunds: (body, options) => one('retrieveRefundMetrics', { body }, options),
    disputes: (body, options) => one('retrieveDisputeMetrics', { body }, options),
  };
}
