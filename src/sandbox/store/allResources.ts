/** What the control routes read of all resources. */
import type { ResourceKind } from '../../contract/index.ts';
import type { Resource } from '../domain/resource.ts';

export interface AllResourceStatements {
  /** Resources of a kind by id. */
  listAllResources(page: ResourcesAfter): Promise<readonly Resource[]>;
  /** The resources of the newest events, the last change first. */
  listRecent(wanted: RecentQuery): Promise<readonly RecentResource[]>;
  /** Counts and amounts in minor units, by kind, status and currency. */
  sumAllResources(): Promise<readonly ResourceSum[]>;
}

export interface ResourcesAfter {
  readonly kind: ResourceKind;
  /** The id after which the page begins. */
  readonly after: string;
  readonly limit: number;
}

export interface RecentQuery {
  /** Only of this order; undefined for all. */
  readonly orderId: string | undefined;
  readonly limit: number;
}

/** How many events back `listRecent` looks. */
export const RECENT_EVENTS = 1_000;

export type RecentResource = Resource & {
  /** The order in the metadata of the payment; a payout's reference. */
  readonly orderId: string | null;
};

export interface ResourceSum {
  readonly kind: ResourceKind;
  readonly status: string;
  readonly currency: string;
  readonly count: number;
  readonly amount: number;
  readonly amount_received: number;
  /** Times that a payment was sent to the processor. */
  readonly attempts: number;
}
