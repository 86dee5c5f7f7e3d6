/** The sums behind analytics. */
import type { ResourceKind } from '../../contract/index.ts';
import type { StatusSum } from '../domain/analytics.ts';

export interface AnalyticsStatements {
  /** Counts and sums in minor units, by span, group and status, in that order; at most `limit`. */
  sumResources(query: SumQuery): Promise<readonly StatusSum[]>;
}

export interface SumQuery {
  readonly kind: ResourceKind;
  /** ISO 8601, included. */
  readonly from: string;
  /** ISO 8601, excluded; undefined for no end. */
  readonly to: string | undefined;
  /** Width of the spans of time to divide by; undefined for one span. */
  readonly stepSeconds: number | undefined;
  /** Fields of the resource to group by, in order. */
  readonly groups: readonly string[];
  /** Values allowed, by field. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  readonly limit: number;
}
