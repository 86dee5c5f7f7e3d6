/**
 * Metrics from sums. service-interface.md §4.9.
 *
 * 1. A resource belongs to the time at which it was created; a span has its start and not its end.
 * 2. Rates are from 0 to 1, and 0 where there are no resources.
 * 3. Sums are in minor units and add up all currencies; group by currency to get amounts of money. A
 *    sum beyond the exact integers is an error and never rounded.
 */
import { type AnalyticsKind, sumMinor } from '../../contract/index.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/time.ts';
import { isoTime } from './time.ts';

/** The finest sum: of one span of time, one group and one status. */
export interface StatusSum {
  /** Start of the span; null where time is not divided. */
  readonly bucket: Date | null;
  /** Values of the fields grouped by, in their order. */
  readonly groups: readonly (string | null)[];
  readonly status: string;
  readonly count: number;
  /** Minor units. */
  readonly amount: number;
  /** Minor units that a payment received; 0 for other kinds. */
  readonly received: number;
}

export interface MetricsQuery {
  readonly metrics: readonly string[];
  readonly groupByNames?: readonly string[] | undefined;
  readonly timeSeries?: { readonly granularity: string } | undefined;
}

type Values = Readonly<Record<string, number>>;
type Metric = (sums: readonly StatusSum[]) => Values;

const countOf = (sums: readonly StatusSum[], status?: string): number =>
  add(sums, status, ({ count }) => count);
const amountOf = (sums: readonly StatusSum[], status?: string): number =>
  add(sums, status, ({ amount }) => amount);

function add(
  sums: readonly StatusSum[],
  status: string | undefined,
  value: (sum: StatusSum) => number,
): number {
  const chosen = sums.filter((sum) => status === undefined || sum.status === status);
  return sumMinor(chosen.map(value));
}

function rate(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

const METRICS: Readonly<Record<AnalyticsKind, Readonly<Record<string, Metric>>>> = {
  payments: {
    payment_count: (sums) => ({ payment_count: countOf(sums) }),
    payment_success_count: (sums) => ({ payment_success_count: countOf(sums, 'succeeded') }),
    payment_success_rate: (sums) => ({
      payment_success_rate: rate(countOf(sums, 'succeeded'), countOf(sums)),
    }),
    payment_processed_amount: (sums) => ({
      payment_processed_amount: add(sums, undefined, ({ received }) => received),
    }),
  },
  refunds: {
    refund_count: (sums) => ({ refund_count: countOf(sums) }),
    refund_success_count: (sums) => ({ refund_success_count: countOf(sums, 'succeeded') }),
    refund_success_rate: (sums) => ({
      refund_success_rate: rate(countOf(sums, 'succeeded'), countOf(sums)),
    }),
    refund_processed_amount: (sums) => ({ refund_processed_amount: amountOf(sums, 'succeeded') }),
  },
  disputes: {
    dispute_status_metric: (sums) => ({
      disputes_challenged: countOf(sums, 'challenged'),
      disputes_won: countOf(sums, 'won'),
      disputes_lost: countOf(sums, 'lost'),
      total_dispute: countOf(sums),
    }),
    total_amount_disputed: (sums) => ({ total_amount_disputed: amountOf(sums) }),
    total_dispute_lost_amount: (sums) => ({ total_dispute_lost_amount: amountOf(sums, 'lost') }),
  },
};

/** Fields of the resource behind the names of analytics, where they differ. */
const FIELDS: Readonly<Record<string, string>> = { refund_status: 'status' };

export function fieldOf(name: string): string {
  return FIELDS[name] ?? name;
}

const STEPS_MS: Readonly<Record<string, number>> = {
  G_ONEMIN: MINUTE_MS,
  G_FIVEMIN: 5 * MINUTE_MS,
  G_FIFTEENMIN: 15 * MINUTE_MS,
  G_THIRTYMIN: 30 * MINUTE_MS,
  G_ONEHOUR: HOUR_MS,
  G_ONE_DAY: DAY_MS,
  G_ONEDAY: DAY_MS,
};

/**
 * Width of a query's time spans in ms; undefined where it does not divide time. The contract leaves the
 * set of granularities open, so an unknown one divides nothing.
 */
export function stepOf({ timeSeries }: MetricsQuery): number | undefined {
  if (timeSeries === undefined || !Object.hasOwn(STEPS_MS, timeSeries.granularity))
    return undefined;
  return STEPS_MS[timeSeries.granularity];
}

/** The rows of one query: one for each span and group that has anything, or one for everything. */
export function rowsOf(
  kind: AnalyticsKind,
  query: MetricsQuery,
  sums: readonly StatusSum[],
): readonly object[] {
  const { groupByNames: names = [] } = query;
  const stepMs = stepOf(query);
  if (names.length === 0 && stepMs === undefined) return [measure(kind, query, sums)];
  const rows = new Map<string, StatusSum[]>();
  for (const sum of sums) {
    const key = JSON.stringify([sum.bucket, sum.groups]);
    rows.set(key, [...(rows.get(key) ?? []), sum]);
  }
  return [...rows.values()].map((row) => ({
    ...Object.fromEntries(names.map((name, place) => [name, row[0]?.groups[place] ?? null])),
    ...measure(kind, query, row),
    ...spanOf(row[0]?.bucket, stepMs),
  }));
}

/** The totals of one query, named like its metrics. */
export function totalsOf(
  kind: AnalyticsKind,
  query: MetricsQuery,
  sums: readonly StatusSum[],
): object {
  const totals = Object.entries(measure(kind, query, sums));
  return Object.fromEntries(
    totals.map(([name, value]) => [name.startsWith('total_') ? name : `total_${name}`, value]),
  );
}

function measure(kind: AnalyticsKind, query: MetricsQuery, sums: readonly StatusSum[]): Values {
  return Object.assign({}, ...query.metrics.map((name) => METRICS[kind][name]?.(sums)));
}

function spanOf(start: Date | null | undefined, stepMs: number | undefined): object {
  if (!start || stepMs === undefined) return {};
  const startTime = start.toISOString();
  return {
    time_range: { start_time: startTime, end_time: isoTime(start.getTime() + stepMs) },
    time_bucket: startTime,
  };
}
