/** Analytics calls. service-interface.md §4.9. */
import type {
  DisputeMetricsRequest,
  PaymentMetricsRequest,
  RefundMetricsRequest,
} from '../contract/requests/analytics.ts';
import type { Metrics } from '../contract/resources/analytics.ts';
import type { Calls } from './calls.ts';
import type { CallOptions } from './send.ts';

/**
 * Every method throws PaymentServiceError. Sums are in minor units and can mix currencies: group by
 * `currency` to get amounts.
 */
export interface AnalyticsCalls {
  /** Counts, rates (0 to 1) and sums of payments, for up to ten queries at once. */
  payments: (queries: PaymentMetricsRequest, options?: CallOptions) => Promise<Metrics>;
  /** The same for refunds. */
  refunds: (queries: RefundMetricsRequest, options?: CallOptions) => Promise<Metrics>;
  /** The same for disputes. */
  disputes: (queries: DisputeMetricsRequest, options?: CallOptions) => Promise<Metrics>;
}

export function createAnalyticsCalls({ call }: Calls): AnalyticsCalls {
  return {
    payments: (body, options) => call('retrievePaymentMetrics', { body }, options),
    refunds: (body, options) => call('retrieveRefundMetrics', { body }, options),
    disputes: (body, options) => call('retrieveDisputeMetrics', { body }, options),
  };
}
