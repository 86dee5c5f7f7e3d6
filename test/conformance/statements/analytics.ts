/** Lines 397 to 443 of the interface document: analytics, and the routes of which it gives no more. */
import { advice, leftOpen, lines, requestTable, type Statement, valueTable } from './statement.ts';

const SECTION = 'Analytics';
const WHAT = 'a query about refunds';
const QUERY = 'refundMetrics';

const ANALYTICS: readonly Statement[] = [
  ...lines(SECTION, [
    [
      399,
      'endpoint',
      '`POST /analytics/v1/merchant/metrics/refunds` exists.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/refunds' },
    ],
    [399, 'type', 'The body is an array; an object is refused.', 'analyticsTakesArray'],
    [399, 'rule', 'Several queries are answered in one request.', 'analyticsAnswersSeveral'],
    [403, 'rule', 'A range that does not hold a refund does not count it.', 'analyticsHonorsRange'],
    [404, 'value', '`refund_count` counts refunds.', 'refundCount'],
    [404, 'type', '`refund_count` is an integer.', 'refundCountIsInteger'],
    [404, 'value', '`refund_success_count` counts refunds that succeeded.', 'refundSuccessCount'],
    [404, 'type', '`refund_success_count` is an integer.', 'refundSuccessCountIsInteger'],
    [
      404,
      'value',
      '`refund_success_rate` is the share that succeeded, from 0 to 1.',
      'refundSuccessRate',
    ],
    [404, 'type', '`refund_success_rate` is a number.', 'refundSuccessRateIsNumber'],
    [
      404,
      'value',
      '`refund_processed_amount` adds up what succeeded, in minor units.',
      'refundProcessedAmount',
    ],
    [404, 'type', '`refund_processed_amount` is an integer.', 'refundProcessedAmountIsInteger'],
    [
      404,
      'value',
      'A metric that is not listed is refused.',
      { by: 'refuses', request: QUERY, path: '0.metrics', value: ['refund_weight'] },
    ],
    [406, 'rule', 'What `delta` compares.', advice('the document names the field and no meaning')],
    [407, 'rule', '`timeSeries` divides the range.', 'analyticsDividesTime'],
    [408, 'rule', 'Rows are grouped by `currency`.', 'groupsByCurrency'],
    [408, 'rule', 'Rows are grouped by `refund_status`.', 'groupsByStatus'],
    [408, 'rule', 'Rows are grouped by `refund_type`, Instant or Scheduled.', 'groupsByType'],
    [408, 'rule', 'Rows are grouped by `profile_id`.', 'groupsByProfile'],
    [409, 'rule', 'A filter by `currency` selects.', 'filtersMetricsByCurrency'],
    [409, 'rule', 'A filter by `refund_status` selects.', 'filtersMetricsByStatus'],
    [409, 'rule', 'A filter by `profile_id` selects.', 'filtersMetricsByProfile'],
    [
      409,
      'type',
      'A filter has an array of values; text is refused.',
      { by: 'refuses', request: QUERY, path: '0.filters.currency', value: 'USD' },
    ],
    [
      411,
      'field',
      'The answer has `queryData`, an array.',
      { by: 'answer', sample: 'metrics', path: 'queryData', is: 'array' },
    ],
    [411, 'rule', 'A row has one key for each group and each metric.', 'rowHasGroupsAndMetrics'],
    [
      411,
      'field',
      'The answer has `metaData`, an array.',
      { by: 'answer', sample: 'metrics', path: 'metaData', is: 'array' },
    ],
    [
      411,
      'rule',
      'Totals add up the rows: `total_refund_processed_amount` is the sum.',
      'totalsAddUp',
    ],
    [
      413,
      'endpoint',
      '`POST /analytics/v1/merchant/metrics/payments` exists.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/payments' },
    ],
    [
      413,
      'endpoint',
      '`POST /analytics/v1/merchant/metrics/disputes` exists.',
      { by: 'route', method: 'POST', path: '/analytics/v1/merchant/metrics/disputes' },
    ],
    [413, 'value', '`payment_count` counts payments.', 'paymentCount'],
    [413, 'value', '`payment_success_rate` is the share that succeeded.', 'paymentSuccessRate'],
    [
      413,
      'value',
      '`payment_processed_amount` adds up what payments received.',
      'paymentProcessedAmount',
    ],
    [413, 'value', 'Payments are filtered by `currency`.', 'filtersPaymentMetricsByCurrency'],
    [413, 'value', 'Payments are filtered by `status`.', 'filtersPaymentMetricsByStatus'],
    [413, 'rule', 'Disputes are asked about in the same form.', 'disputeMetricsInSameForm'],
  ]),
  ...requestTable(SECTION, WHAT, QUERY, [
    [
      403,
      '0.timeRange',
      'object',
      'conditional',
      { value: { startTime: '2026-01-01T00:00:00Z', endTime: '2039-01-01T00:00:00Z' } },
    ],
    [403, '0.timeRange.startTime', 'timestamp', 'conditional', { value: '2026-01-01T00:00:00Z' }],
    [403, '0.timeRange.endTime', 'timestamp', 'conditional', { value: '2039-01-01T00:00:00Z' }],
    [404, '0.metrics', 'array', 'conditional', { value: ['refund_count'] }],
    [405, '0.source', 'string', 'optional', { value: 'BATCH' }],
    [406, '0.delta', 'boolean', 'optional'],
    [407, '0.timeSeries', 'object', 'optional', { value: { granularity: 'G_ONE_DAY' } }],
    [407, '0.timeSeries.granularity', 'string', 'conditional', { value: 'G_ONE_DAY' }],
    [408, '0.groupByNames', 'array', 'optional', { value: ['currency'] }],
    [409, '0.filters', 'object', 'optional', { value: { currency: ['USD'] } }],
    [409, '0.filters.currency', 'array', 'optional', { value: ['USD'] }],
    [409, '0.filters.refund_status', 'array', 'optional', { value: ['succeeded'] }],
    [409, '0.filters.profile_id', 'array', 'optional', { value: ['pro_local'] }],
  ]),
  ...valueTable(SECTION, { request: QUERY, path: '0.metrics' }, [
    [404, ['refund_count']],
    [404, ['refund_success_count']],
    [404, ['refund_success_rate']],
    [404, ['refund_processed_amount']],
  ]),
  ...valueTable(SECTION, { request: QUERY, path: '0.groupByNames' }, [
    [408, ['currency']],
    [408, ['refund_status']],
    [408, ['refund_type']],
    [408, ['profile_id']],
  ]),
  ...valueTable(SECTION, { request: 'paymentMetrics', path: '0.metrics' }, [
    [413, ['payment_count']],
    [413, ['payment_success_rate']],
    [413, ['payment_processed_amount']],
  ]),
  ...lines(SECTION, [
    [
      405,
      'value',
      'Another word as `source` is not refused: the set is open.',
      { by: 'accepts', request: QUERY, path: '0.source', value: 'STREAM' },
    ],
    [
      407,
      'value',
      'Another word as `granularity` is not refused: the set is open.',
      { by: 'accepts', request: QUERY, path: '0.timeSeries.granularity', value: 'G_ONE_WEEK' },
    ],
  ]),
  ...leftOpen(SECTION, [
    [413, 'scopes beside `merchant`'],
    [413, 'the full names of metrics and filters of payments'],
    [413, 'the full names of metrics and filters of disputes'],
    [413, 'other values of `source` and `granularity`'],
  ]),
];

const ROUTES: readonly (readonly [line: number, method: string, path: string])[] = [
  [419, 'POST', '/payments/list'],
  [420, 'GET', '/customers/list'],
  [421, 'GET', '/customers/:customer_id'],
  [422, 'POST', '/customers/:customer_id'],
  [423, 'DELETE', '/customers/:customer_id'],
  [424, 'POST', '/refunds/list'],
  [425, 'GET', '/refunds/:refund_id'],
  [426, 'POST', '/payment_link/list'],
  [427, 'GET', '/payment_link/:payment_link_id'],
  [428, 'GET', '/account/:merchant_id/business_profile'],
  [429, 'GET', '/api_keys/:merchant_id/list'],
  [430, 'GET', '/api_keys/:merchant_id/:key_id'],
  [431, 'POST', '/api_keys/:merchant_id/:key_id'],
  [432, 'DELETE', '/api_keys/:merchant_id/:key_id'],
  [433, 'GET', '/disputes/list'],
  [434, 'GET', '/disputes/:dispute_id'],
  [435, 'POST', '/disputes/accept/:dispute_id'],
  [436, 'DELETE', '/disputes/evidence'],
  [437, 'POST', '/payouts/list'],
  [438, 'GET', '/payouts/:payout_id'],
  [439, 'PUT', '/payouts/:payout_id'],
  [440, 'POST', '/payouts/:payout_id/cancel'],
  [441, 'POST', '/payouts/:payout_id/fulfill'],
];

const OTHER_ROUTES: readonly Statement[] = [
  ...lines(
    'Other routes',
    ROUTES.map(
      ([line, method, path]) =>
        [line, 'endpoint', `\`${method} ${path}\` exists.`, { by: 'route', method, path }] as const,
    ),
  ),
  ...lines('Other routes', [
    [420, 'rule', 'Customers are listed by query parameters.', 'listsCustomersByQuery'],
    [424, 'rule', 'Refunds are listed by a filter body.', 'listsRefundsByBody'],
    [426, 'rule', 'Payment links are listed by a filter body.', 'listsLinksByBody'],
    [437, 'rule', 'Payouts are listed by a filter body.', 'listsPayoutsByBody'],
    [439, 'rule', 'PUT replaces a payout: fields that are not sent go.', 'putReplaces'],
    [
      443,
      'rule',
      'There are no other routes but the two that the document presupposes: an upload of files, and the confirmation of a payout.',
      'hasNoOtherRoutes',
    ],
  ]),
  ...leftOpen('Other routes', [[443, 'the forms of requests and answers of these routes']]),
];

export const ANALYTICS_AND_ROUTES: readonly Statement[] = [...ANALYTICS, ...OTHER_ROUTES];
