/** The four kinds of resource, in memory. */
import { type ResourceKind, sumMinor } from '../../../contract/index.ts';
import { type Resource, searchFields } from '../../domain/resource.ts';
import type {
  DueResource,
  NextDue,
  PastResource,
  RefundTotals,
  ReplacedResource,
} from '../resources.ts';
import { keyOf, type ResourceRow, type Tables, YES } from './tables.ts';
import { frozenJson, sortedBy } from './values.ts';

export function insertResource(tables: Tables, resource: Resource, recordedAt: string): boolean {
  const { kind } = resource;
  const { id } = searchFields(resource);
  if (tables.resources.get(keyOf(kind, id)) !== undefined) return false;
  updateResource(tables, resource, recordedAt);
  return true;
}

export function updateResource({ resources }: Tables, changed: Resource, recordedAt: string): void {
  const resource = frozenJson(changed);
  const fields = searchFields(resource);
  resources.put({
    resource,
    fields,
    createdMs: Date.parse(fields.createdAt),
    modifiedMs: Date.parse(fields.modifiedAt),
    recordedMs: Date.parse(recordedAt),
  });
}

export function readResource(
  { resources }: Tables,
  kind: ResourceKind,
  id: string,
): Resource | undefined {
  return resources.get(keyOf(kind, id))?.resource;
}

/** Transactions run one at a time: nothing needs a lock. */
export function lockResource(tables: Tables, kind: ResourceKind, id: string): Resource | undefined {
  return readResource(tables, kind, id);
}

export function readPastResource(
  { resources, pastResources }: Tables,
  { kind, id, asOf }: PastResource,
): Resource | undefined {
  const asOfMs = Date.parse(asOf);
  const current = resources.get(keyOf(kind, id));
  if (current !== undefined && current.recordedMs <= asOfMs) return current.resource;
  const past = [...pastResources.find('key', keyOf(kind, id))];
  return past.find((row) => row.recordedMs <= asOfMs && row.validUntilMs > asOfMs)?.resource;
}

export function insertPastResource(tables: Tables, replaced: ReplacedResource): void {
  const row = tables.resources.get(keyOf(replaced.kind, replaced.id));
  if (row === undefined) return;
  const validUntilMs = Date.parse(replaced.validUntil);
  tables.pastResources.put({ ...row, number: tables.nextNumber(), validUntilMs });
}

export function readRefundTotals({ resources }: Tables, paymentId: string): RefundTotals {
  const refunds = [...resources.find('parent', paymentId)]
    .map(({ resource }) => resource)
    .filter((resource) => resource.kind === 'refund');
  const counted = refunds.filter(({ state }) => state.status !== 'failed');
  return {
    refundedMinor: sumMinor(counted.map(({ state }) => state.amount)),
    refundCount: refunds.length,
  };
}

export function lockDue(
  { resources }: Tables,
  { until, limit }: { readonly until: Date; readonly limit: number },
): readonly DueResource[] {
  const due = [...resources.find('due', YES)].filter((row) => dueMs(row) <= until.getTime());
  return sortedBy(due, (row) => [dueMs(row), row.resource.kind, row.fields.id])
    .slice(0, limit)
    .map((row) => ({ ...row.resource, dueAt: new Date(dueMs(row)) }));
}

export function nextDue({ resources, deliveries }: Tables, inFlight: readonly number[]): NextDue {
  const waiting = [...deliveries.find('waiting', YES)].filter(({ id }) => !inFlight.includes(id));
  return {
    resourceAt: earliest([...resources.find('due', YES)].map(dueMs)),
    deliveryAt: earliest(waiting.map(({ dueAt }) => Date.parse(dueAt))),
  };
}

function dueMs({ fields }: ResourceRow): number {
  return Date.parse(fields.dueAt ?? '');
}

function earliest(timesMs: readonly number[]): Date | null {
  if (timesMs.length === 0) return null;
  return new Date(timesMs.reduce((least, time) => Math.min(least, time)));
}
