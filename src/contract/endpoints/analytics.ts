/** Endpoints of analytics. service-interface.md §4.9, scope `merchant`. */
import * as requests from '../requests/analytics.ts';
import { metricsSchema } from '../resources/analytics.ts';
import { type Endpoint, noParams, SAFE, SECRET_KEYS } from './endpoint.ts';

const metrics = {
  method: 'POST',
  params: noParams,
  response: metricsSchema,
  success: 200,
  errors: [],
  repetition: SAFE,
  keys: SECRET_KEYS,
} as const;

export const ANALYTICS_ENDPOINTS = {
  retrievePaymentMetrics: {
    ...metrics,
    path: '/analytics/v1/merchant/metrics/payments',
    summary: 'Counts, rates and sums of payments',
    body: requests.paymentMetricsRequest,
  },
  retrieveRefundMetrics: {
    ...metrics,
    path: '/analytics/v1/merchant/metrics/refunds',
    summary: 'Counts, rates and sums of refunds',
    body: requests.refundMetricsRequest,
  },
  retrieveDisputeMetrics: {
    ...metrics,
    path: '/analytics/v1/merchant/metrics/disputes',
    summary: 'Counts and sums of disputes',
    body: requests.disputeMetricsRequest,
  },
} as const satisfies Record<string, Endpoint>;
