/** Routes for analytics. service-interface.md §4.9. */
import type { AnalyticsKind, ResourceKind } from '../../contract/index.ts';
import { fieldOf, type MetricsQuery, rowsOf, stepOf, totalsOf } from '../domain/analytics.ts';
import { accept, type Decision, rejectValue } from '../domain/decision.ts';
import { isoBound } from '../domain/time.ts';
import type { Services } from '../services.ts';
import type { Handlers } from './handler.ts';

type Analytics = 'retrievePaymentMetrics' | 'retrieveRefundMetrics' | 'retrieveDisputeMetrics';

export const ANALYTICS_HANDLERS: Handlers<Analytics> = {
  retrievePaymentMetrics: ({ input }, services) => queryMetrics(services, 'payments', input),
  retrieveRefundMetrics: ({ input }, services) => queryMetrics(services, 'refunds', input),
  retrieveDisputeMetrics: ({ input }, services) => queryMetrics(services, 'disputes', input),
};

interface Query extends MetricsQuery {
  readonly timeRange: { readonly startTime: string; readonly endTime?: string | undefined };
  readonly filters?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
}

const RESOURCE_OF: Readonly<Record<AnalyticsKind, ResourceKind>> = {
  payments: 'payment',
  refunds: 'refund',
  disputes: 'dispute',
};

/** A query with more sums than this is rejected: totals of a part would be wrong. */
const MAX_SUMS = 100_000;

/** The rows of all queries in their order, and the totals of each. */
async function queryMetrics(
  { store }: Services,
  kind: AnalyticsKind,
  queries: readonly Query[],
): Promise<Decision<object>> {
  const queryData: (readonly object[])[] = [];
  const metaData: object[] = [];
  for (const query of queries) {
    const { startTime, endTime } = query.timeRange;
    const stepMs = stepOf(query);
    const filters = Object.entries(query.filters ?? {}).flatMap(([name, values]) =>
      values === undefined ? [] : [[fieldOf(name), values] as const],
    );
    const sums = await store.sumResources({
      kind: RESOURCE_OF[kind],
      from: isoBound(startTime, Math.ceil),
      to: endTime && isoBound(endTime, Math.ceil),
      stepSeconds: stepMs && stepMs / 1000,
      groups: (query.groupByNames ?? []).map(fieldOf),
      filters: Object.fromEntries(filters),
      limit: MAX_SUMS + 1,
    });
    if (sums.length > MAX_SUMS) {
      return rejectValue(
        `timeRange: covers more than ${MAX_SUMS} spans, groups and statuses; narrow it, or use ` +
          'a coarser granularity',
      );
    }
    queryData.push(rowsOf(kind, query, sums));
    metaData.push(totalsOf(kind, query, sums));
  }
  return accept({ queryData: queryData.flat(), metaData });
}
