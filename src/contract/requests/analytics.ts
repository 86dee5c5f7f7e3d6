/**
 * Analytics queries. service-interface.md §4.9. The names that it leaves open are the family's, as
 * far as the contract's resources can provide them.
 */
import { z } from 'zod';
import { openSet, text, timestamp } from './fields.ts';

/**
 * What can be queried about each kind. The metrics of refunds are the contract's, the others the
 * family's.
 */
export const ANALYTICS = {
  payments: {
    metrics: [
      'payment_count',
      'payment_success_count',
      'payment_success_rate',
      'payment_processed_amount',
    ],
    groups: [
      'currency',
      'status',
      'payment_method',
      'payment_method_type',
      'authentication_type',
      'profile_id',
    ],
    filters: ['currency', 'status', 'payment_method', 'payment_method_type', 'profile_id'],
  },
  refunds: {
    metrics: [
      'refund_count',
      'refund_success_count',
      'refund_success_rate',
      'refund_processed_amount',
    ],
    groups: ['currency', 'refund_status', 'refund_type', 'profile_id'],
    filters: ['currency', 'refund_status', 'profile_id'],
  },
  disputes: {
    metrics: ['dispute_status_metric', 'total_amount_disputed', 'total_dispute_lost_amount'],
    groups: ['connector', 'dispute_stage', 'currency'],
    filters: ['connector', 'dispute_stage', 'currency'],
  },
} as const;
export type AnalyticsKind = keyof typeof ANALYTICS;

/**
 * The contract shows `G_ONE_DAY`; the others are the family's, including its own spelling of a day.
 */
const GRANULARITIES = [
  'G_ONEMIN',
  'G_FIVEMIN',
  'G_FIFTEENMIN',
  'G_THIRTYMIN',
  'G_ONEHOUR',
  'G_ONE_DAY',
  'G_ONEDAY',
] as const;
/** The family accepts one; the contract shows an array. */
const MAX_QUERIES = 10;

function queriesAbout<Metric extends string, Group extends string, Filter extends string>(names: {
  readonly metrics: readonly Metric[];
  readonly groups: readonly Group[];
  readonly filters: readonly Filter[];
}) {
  const filters = Object.fromEntries(names.filters.map((name) => [name, z.array(text).optional()]));
  const query = z.strictObject({
    timeRange: z.strictObject({
      startTime: timestamp,
      /** Now by default. */
      endTime: timestamp.optional(),
    }),
    metrics: z.array(z.enum(names.metrics)).min(1),
    /** An open set; the contract shows `BATCH`. */
    source: text.optional(),
    delta: z.boolean().optional(),
    timeSeries: z.strictObject({ granularity: openSet(GRANULARITIES) }).optional(),
    groupByNames: z.array(z.enum(names.groups)).optional(),
    filters: z
      .strictObject(filters as Record<Filter, z.ZodOptional<z.ZodArray<typeof text>>>)
      .optional(),
  });
  return z.array(query).min(1).max(MAX_QUERIES);
}

/** The queries of payment metrics. service-interface.md §4.9. */
export const paymentMetricsRequest = queriesAbout(ANALYTICS.payments);
export type PaymentMetricsRequest = z.input<typeof paymentMetricsRequest>;
/** The queries of refund metrics. service-interface.md §4.9. */
export const refundMetricsRequest = queriesAbout(ANALYTICS.refunds);
export type RefundMetricsRequest = z.input<typeof refundMetricsRequest>;
/** The queries of dispute metrics. service-interface.md §4.9. */
export const disputeMetricsRequest = queriesAbout(ANALYTICS.disputes);
export type DisputeMetricsRequest = z.input<typeof disputeMetricsRequest>;
