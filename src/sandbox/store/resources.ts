/** What is stored of the four kinds of resource. */
import type { ResourceKind } from '../../contract/index.ts';
import type { Resource } from '../domain/resource.ts';

export interface ResourceStatements {
  /**
   * @param recordedAt ISO 8601, by the sandbox's own clock
   * @returns false when the id exists; of concurrent inserts of one id, one succeeds
   */
  insertResource(resource: Resource, recordedAt: string): Promise<boolean>;
  /**
   * Writes a changed resource, which is locked by the caller.
   * @param recordedAt ISO 8601, by the sandbox's own clock
   */
  updateResource(resource: Resource, recordedAt: string): Promise<void>;
  readResource(kind: ResourceKind, id: string): Promise<Resource | undefined>;
  /** Reads a resource and locks it until the transaction ends. */
  lockResource(kind: ResourceKind, id: string): Promise<Resource | undefined>;
  /** A resource at a past time; undefined where it did not exist then. */
  readPastResource(wanted: PastResource): Promise<Resource | undefined>;
  /** Copies a resource before a change, for lists and retrieves that show an older time. */
  insertPastResource(replaced: ReplacedResource): Promise<void>;
  /** Totals of a payment's refunds. The payment is locked by the caller. */
  readRefundTotals(paymentId: string): Promise<RefundTotals>;
  /** Locks resources with something due, earliest first. @returns at most `limit` */
  lockDue(due: { readonly until: Date; readonly limit: number }): Promise<readonly DueResource[]>;
  /**
   * The next due times of resources and of deliveries.
   * @param inFlight ids of deliveries to leave out
   */
  nextDue(inFlight: readonly number[]): Promise<NextDue>;
}

interface ResourceKey {
  readonly kind: ResourceKind;
  readonly id: string;
}

export interface PastResource extends ResourceKey {
  /** ISO 8601. */
  readonly asOf: string;
}

export interface ReplacedResource extends ResourceKey {
  /** ISO 8601: the time of the change. */
  readonly validUntil: string;
}

export interface RefundTotals {
  /** Of the refunds that did not fail, minor units. */
  readonly refundedMinor: number;
  /** Failed ones included. */
  readonly refundCount: number;
}

export type DueResource = Resource & { readonly dueAt: Date };

export interface NextDue {
  readonly resourceAt: Date | null;
  readonly deliveryAt: Date | null;
}
