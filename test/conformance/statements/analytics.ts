/** service-interface.md §4.9 and §4.10: analytics and other routes. */
import { advice, leftOpen, lines, requestTable, type Statement, valueTable } from './statement.ts';

const WHAT = 'a query about refunds';
const QUERY = 'refundMetrics';

const ANALYTICS: readonly Statement[] = [
  ...lines('4.9', [
    [
      'endpoint',
      '`POST /analytics/v1/merchant/metrics/refunds` exists.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/refunds' },
    ],
    ['type', 'The body is an array; an object is rejected.', 'analyticsTakesArray'],
    ['rule', 'Several queries have their results in one response.', 'analyticsReturnsSeveral'],
    ['rule', 'A range that does not include a refund does not count it.', 'analyticsHonorsRange'],
    ['value', '`refund_count` counts refunds.', 'refundCount'],
    ['type', '`refund_count` is an integer.', 'refundCountIsInteger'],
    ['value', '`refund_success_count` counts refunds that succeeded.', 'refundSuccessCount'],
    ['type', '`refund_success_count` is an integer.', 'refundSuccessCountIsInteger'],
    [
      'value',
      '`refund_success_rate` is the share that succeeded, from 0 to 1.',
      'refundSuccessRate',
    ],
    ['type', '`refund_success_rate` is a number.', 'refundSuccessRateIsNumber'],
    [
      'value',
      '`refund_processed_amount` is the sum of what succeeded, in minor units.',
      'refundProcessedAmount',
    ],
    ['type', '`refund_processed_amount` is an integer.', 'refundProcessedAmountIsInteger'],
    [
      'value',
      'A metric that is not listed is rejected.',
      { by: 'refuses', request: QUERY, path: '0.metrics', value: ['refund_weight'] },
    ],
    ['rule', 'What `delta` compares.', advice('the document names the field and no meaning')],
    ['rule', '`timeSeries` divides the range.', 'analyticsDividesTime'],
    ['rule', 'Rows are grouped by `currency`.', 'groupsByCurrency'],
    ['rule', 'Rows are grouped by `refund_status`.', 'groupsByStatus'],
    ['rule', 'Rows are grouped by `refund_type`, Instant or Scheduled.', 'groupsByType'],
    ['rule', 'Rows are grouped by `profile_id`.', 'groupsByProfile'],
    ['rule', 'A filter by `currency` selects.', 'filtersMetricsByCurrency'],
    ['rule', 'A filter by `refund_status` selects.', 'filtersMetricsByStatus'],
    ['rule', 'A filter by `profile_id` selects.', 'filtersMetricsByProfile'],
    [
      'type',
      'A filter has an array of values; text is rejected.',
      { by: 'refuses', request: QUERY, path: '0.filters.currency', value: 'USD' },
    ],
    [
      'field',
      'The response has `queryData`, an array.',
      { by: 'response', sample: 'metrics', path: 'queryData', is: 'array' },
    ],
    ['rule', 'A row has one key for each group and each metric.', 'rowHasGroupsAndMetrics'],
    [
      'field',
      'The response has `metaData`, an array.',
      { by: 'response', sample: 'metrics', path: 'metaData', is: 'array' },
    ],
    [
      'rule',
      'Totals are sums of the rows: `total_refund_processed_amount` is the sum.',
      'totalsAddUp',
    ],
    [
      'endpoint',
      '`POST /analytics/v1/merchant/metrics/payments` exists.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/payments' },
    ],
    [
      'endpoint',
      '`POST /analytics/v1/merchant/metrics/disputes` exists.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/disputes' },
    ],
    ['value', '`payment_count` counts payments.', 'paymentCount'],
    ['value', '`payment_success_rate` is the share that succeeded.', 'paymentSuccessRate'],
    [
      'value',
      '`payment_processed_amount` is the sum of what payments received.',
      'paymentProcessedAmount',
    ],
    ['value', 'Payments are filtered by `currency`.', 'filtersPaymentMetricsByCurrency'],
    ['value', 'Payments are filtered by `status`.', 'filtersPaymentMetricsByStatus'],
    ['rule', 'Queries of disputes have the same form.', 'disputeMetricsInSameForm'],
  ]),
  ...requestTable('4.9', WHAT, QUERY, [
    [
      '0.timeRange',
      'object',
      'conditional',
      { value: { startTime: '2026-01-01T00:00:00Z', endTime: '2039-01-01T00:00:00Z' } },
    ],
    ['0.timeRange.startTime', 'timestamp', 'conditional', { value: '2026-01-01T00:00:00Z' }],
    ['0.timeRange.endTime', 'timestamp', 'conditional', { value: '2039-01-01T00:00:00Z' }],
    ['0.metrics', 'array', 'conditional', { value: ['refund_count'] }],
    ['0.source', 'string', 'optional', { value: 'BATCH' }],
    ['0.delta', 'boolean', 'optional'],
    ['0.timeSeries', 'object', 'optional', { value: { granularity: 'G_ONE_DAY' } }],
    ['0.timeSeries.granularity', 'string', 'conditional', { value: 'G_ONE_DAY' }],
    ['0.groupByNames', 'array', 'optional', { value: ['currency'] }],
    ['0.filters', 'object', 'optional', { value: { currency: ['USD'] } }],
    ['0.filters.currency', 'array', 'optional', { value: ['USD'] }],
    ['0.filters.refund_status', 'array', 'optional', { value: ['succeeded'] }],
    ['0.filters.profile_id', 'array', 'optional', { value: ['pro_local'] }],
  ]),
  ...valueTable('4.9', { request: QUERY, path: '0.metrics' }, [
    ['refund_count'],
    ['refund_success_count'],
    ['refund_success_rate'],
    ['refund_processed_amount'],
  ]),
  ...valueTable('4.9', { request: QUERY, path: '0.groupByNames' }, [
    ['currency'],
    ['refund_status'],
    ['refund_type'],
    ['profile_id'],
  ]),
  ...valueTable('4.9', { request: 'paymentMetrics', path: '0.metrics' }, [
    ['payment_count'],
    ['payment_success_rate'],
    ['payment_processed_amount'],
  ]),
  ...lines('4.9', [
    [
      'value',
      'Another value of `source` is not rejected: the set is open.',
      { by: 'accepts', request: QUERY, path: '0.source', value: 'STREAM' },
    ],
    [
      'value',
      'Another value of `granularity` is not rejected: the set is open.',
      { by: 'accepts', request: QUERY, path: '0.timeSeries.granularity', value: 'G_ONE_WEEK' },
    ],
  ]),
  ...leftOpen('4.9', [
    'scopes beside `merchant`',
    'the full names of metrics and filters of payments',
    'the full names of metrics and filters of disputes',
    'other values of `source` and `granularity`',
  ]),
];

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/payments/list'],
  ['GET', '/customers/list'],
  ['GET', '/customers/:customer_id'],
  ['POST', '/customers/:customer_id'],
  ['DELETE', '/customers/:customer_id'],
  ['POST', '/refunds/list'],
  ['GET', '/refunds/:refund_id'],
  ['POST', '/payment_link/list'],
  ['GET', '/payment_link/:payment_link_id'],
  ['GET', '/account/:merchant_id/business_profile'],
  ['GET', '/api_keys/:merchant_id/list'],
  ['GET', '/api_keys/:merchant_id/:key_id'],
  ['POST', '/api_keys/:merchant_id/:key_id'],
  ['DELETE', '/api_keys/:merchant_id/:key_id'],
  ['GET', '/disputes/list'],
  ['GET', '/disputes/:dispute_id'],
  ['POST', '/disputes/accept/:dispute_id'],
  ['DELETE', '/disputes/evidence'],
  ['POST', '/payouts/list'],
  ['GET', '/payouts/:payout_id'],
  ['PUT', '/payouts/:payout_id'],
  ['POST', '/payouts/:payout_id/cancel'],
  ['POST', '/payouts/:payout_id/fulfill'],
];

const OTHER_ROUTES: readonly Statement[] = [
  ...lines(
    '4.10',
    ROUTES.map(
      ([method, path]) =>
        ['endpoint', `\`${method} ${path}\` exists.`, { by: 'route', method, path }] as const,
    ),
  ),
  ...lines('4.10', [
    ['rule', 'Customers are listed by query parameters.', 'listsCustomersByQuery'],
    ['rule', 'Refunds are listed by a filter body.', 'listsRefundsByBody'],
    ['rule', 'Payment links are listed by a filter body.', 'listsLinksByBody'],
    ['rule', 'Payouts are listed by a filter body.', 'listsPayoutsByBody'],
    ['rule', 'PUT replaces a payout: fields that are not sent are removed.', 'putReplaces'],
    [
      'rule',
      'There are no other routes except the two that the document implies: the upload of files, and the confirmation of a payout.',
      'hasNoOtherRoutes',
    ],
  ]),
  ...leftOpen('4.10', ['the forms of requests and responses of these routes']),
];

export const ANALYTICS_AND_ROUTES: readonly Statement[] = [...ANALYTICS, ...OTHER_ROUTES];
