/** Analytics: expected figures are computed here from the created resources, not by the code under test. */
import { expect } from 'vitest';
import type { Body } from '../../../support/serviceApi.ts';
import { ok, refused, type Service } from '../service.ts';
import type { Scenario, Scenarios } from './scenario.ts';

interface World {
  readonly startTime: string;
  readonly endTime: string;
}

/**
 * Refunds in a time range of their own, so that others do not count: USD 100 and 200 that succeed,
 * USD 7710 that fails, EUR 400 that succeeds, EUR 50 that is scheduled and waits.
 */
const world = (service: Service): Promise<World> =>
  service.once('analytics', async () => {
    await service.advance(60_000);
    const startTime = await now(service);
    const dollars = await service.payment({ amount: 20_000 });
    const euros = await service.payment({ amount: 20_000, currency: 'EUR' });
    const refund = async (payment: Body, amount: number, fields: object = {}) =>
      ok(await service.post('/refunds', { payment_id: payment.payment_id, amount, ...fields }));
    await refund(dollars, 100);
    await refund(dollars, 200);
    await refund(dollars, 7710);
    await refund(euros, 400);
    await refund(euros, 50, { refund_type: 'Scheduled' });
    await service.paymentOf('final', 'UE_1001', { amount: 999 });
    await service.hold({ amount: 5000 });
    await service.advance(1_000);
    return { startTime, endTime: await now(service) };
  });

const now = async (service: Service): Promise<string> =>
  (await service.control('GET', '/clock')).now;

async function retrieveMetrics(
  service: Service,
  kind: 'refunds' | 'payments' | 'disputes',
  query: object,
): Promise<Body> {
  const timeRange = await world(service);
  return ok(
    await service.post(`/analytics/v1/merchant/metrics/${kind}`, [{ timeRange, ...query }]),
  );
}

const oneRow = async (
  service: Service,
  kind: 'refunds' | 'payments',
  query: object,
): Promise<Body> => {
  const { queryData } = await retrieveMetrics(service, kind, query);
  expect(queryData).toHaveLength(1);
  return queryData[0];
};

const refundMetric =
  (metric: string, expected: number): Scenario =>
  async (service) => {
    const row = await oneRow(service, 'refunds', { metrics: [metric] });
    expect(row[metric]).toBeCloseTo(expected, 10);
  };

const paymentMetric =
  (metric: string, expected: number): Scenario =>
  async (service) => {
    const row = await oneRow(service, 'payments', { metrics: [metric] });
    expect(row[metric]).toBeCloseTo(expected, 10);
  };

const isInteger =
  (metric: string): Scenario =>
  async (service) => {
    const row = await oneRow(service, 'refunds', { metrics: [metric] });
    expect(Number.isInteger(row[metric])).toBe(true);
  };

/** Counts by the value of one group. */
const grouped =
  (name: string, expected: Readonly<Record<string, number>>): Scenario =>
  async (service) => {
    const query = { metrics: ['refund_count'], groupByNames: [name] };
    const { queryData } = await retrieveMetrics(service, 'refunds', query);
    const counts = queryData.map((row: Body) => [row[name], row.refund_count]);
    expect(Object.fromEntries(counts)).toEqual(expected);
  };

const filtered =
  (filters: object, expected: number): Scenario =>
  async (service) => {
    const row = await oneRow(service, 'refunds', { metrics: ['refund_count'], filters });
    expect(row.refund_count).toBe(expected);
  };

const filteredPayments =
  (filters: object, expected: number): Scenario =>
  async (service) => {
    const row = await oneRow(service, 'payments', { metrics: ['payment_count'], filters });
    expect(row.payment_count).toBe(expected);
  };

const PATH = '/analytics/v1/merchant/metrics/refunds';

export const ANALYTICS: Scenarios = {
  analyticsTakesArray: async (service) => {
    const timeRange = await world(service);
    refused(await service.post(PATH, { timeRange, metrics: ['refund_count'] }), 400, 'IR_04');
  },
  analyticsReturnsSeveral: async (service) => {
    const timeRange = await world(service);
    const query = (metric: string) => ({ timeRange, metrics: [metric] });
    const reply = await service.post(PATH, [query('refund_count'), query('refund_success_count')]);
    expect(ok(reply).queryData).toEqual([{ refund_count: 5 }, { refund_success_count: 3 }]);
  },
  analyticsHonorsRange: async (service) => {
    const { startTime } = await world(service);
    const timeRange = { startTime: '2020-01-01T00:00:00Z', endTime: startTime };
    const before = ok(await service.post(PATH, [{ timeRange, metrics: ['refund_count'] }]));
    const all = { startTime: '2020-01-01T00:00:00Z', endTime: '2039-01-01T00:00:00Z' };
    const whole = ok(await service.post(PATH, [{ timeRange: all, metrics: ['refund_count'] }]));
    const { endTime } = await world(service);
    const later = { startTime: endTime, endTime: '2039-01-01T00:00:00Z' };
    const after = ok(await service.post(PATH, [{ timeRange: later, metrics: ['refund_count'] }]));
    const [a, b, c] = [before, whole, after].map((response) => response.queryData[0].refund_count);
    expect(b - a - c).toBe(5);
  },
  refundCount: refundMetric('refund_count', 5),
  refundCountIsInteger: isInteger('refund_count'),
  refundSuccessCount: refundMetric('refund_success_count', 3),
  refundSuccessCountIsInteger: isInteger('refund_success_count'),
  refundSuccessRate: refundMetric('refund_success_rate', 0.6),
  refundSuccessRateIsNumber: async (service) => {
    const row = await oneRow(service, 'refunds', { metrics: ['refund_success_rate'] });
    expect(row.refund_success_rate).toEqual(expect.any(Number));
  },
  refundProcessedAmount: refundMetric('refund_processed_amount', 700),
  refundProcessedAmountIsInteger: isInteger('refund_processed_amount'),
  analyticsDividesTime: async (service) => {
    const timeSeries = { granularity: 'G_ONE_DAY' };
    const query = { metrics: ['refund_count'], timeSeries };
    const { queryData } = await retrieveMetrics(service, 'refunds', query);
    const days = queryData.map((row: Body) => row.time_bucket.slice(0, 10));
    expect(new Set(days).size).toBe(days.length);
    const counts = queryData.map((row: Body) => row.refund_count);
    expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(5);
  },
  groupsByCurrency: grouped('currency', { USD: 3, EUR: 2 }),
  groupsByStatus: grouped('refund_status', { succeeded: 3, failed: 1, pending: 1 }),
  groupsByType: grouped('refund_type', { Instant: 4, Scheduled: 1 }),
  groupsByProfile: grouped('profile_id', { pro_local: 5 }),
  filtersMetricsByCurrency: filtered({ currency: ['EUR'] }, 2),
  filtersMetricsByStatus: filtered({ refund_status: ['failed', 'pending'] }, 2),
  filtersMetricsByProfile: filtered({ profile_id: ['pro_of_nobody'] }, 0),
  rowHasGroupsAndMetrics: async (service) => {
    const query = {
      metrics: ['refund_count', 'refund_processed_amount'],
      groupByNames: ['currency', 'refund_status'],
    };
    const { queryData } = await retrieveMetrics(service, 'refunds', query);
    for (const row of queryData) {
      expect(Object.keys(row).toSorted()).toEqual([
        'currency',
        'refund_count',
        'refund_processed_amount',
        'refund_status',
      ]);
    }
  },
  totalsAddUp: async (service) => {
    const query = { metrics: ['refund_processed_amount'], groupByNames: ['currency'] };
    const { queryData, metaData } = await retrieveMetrics(service, 'refunds', query);
    const sums = Object.fromEntries(
      queryData.map((row: Body) => [row.currency, row.refund_processed_amount]),
    );
    expect(sums).toEqual({ USD: 300, EUR: 400 });
    expect(metaData[0].total_refund_processed_amount).toBe(700);
  },
  paymentCount: paymentMetric('payment_count', 4),
  paymentSuccessRate: paymentMetric('payment_success_rate', 0.5),
  paymentProcessedAmount: paymentMetric('payment_processed_amount', 40_000),
  filtersPaymentMetricsByCurrency: filteredPayments({ currency: ['EUR'] }, 1),
  filtersPaymentMetricsByStatus: filteredPayments({ status: ['failed'] }, 1),
  disputeMetricsInSameForm: async (service) => {
    const query = { metrics: ['total_amount_disputed'], groupByNames: ['currency'] };
    const response = await retrieveMetrics(service, 'disputes', query);
    expect(Object.keys(response).toSorted()).toEqual(['metaData', 'queryData']);
  },
};
