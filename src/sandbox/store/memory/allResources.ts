/** What the control routes read of all resources, in memory. */
import { sumMinor } from '../../../contract/index.ts';
import { groupBy } from '../../../platform/collections.ts';
import type { Resource } from '../../domain/resource.ts';
import {
  RECENT_EVENTS,
  type RecentQuery,
  type RecentResource,
  type ResourceSum,
  type ResourcesAfter,
} from '../allResources.ts';
import { keyOf, type Tables } from './tables.ts';
import { sortedBy, textOf } from './values.ts';

export function listAllResources(
  { resources }: Tables,
  { kind, after, limit }: ResourcesAfter,
): readonly Resource[] {
  const rows = [...resources.find('kind', kind)].filter(({ fields }) => fields.id > after);
  return sortedBy(rows, ({ fields }) => [fields.id])
    .slice(0, limit)
    .map(({ resource }) => resource);
}

export function listRecent(
  tables: Tables,
  { orderId, limit }: RecentQuery,
): readonly RecentResource[] {
  const newest = [...tables.events.all()].slice(-RECENT_EVENTS).toReversed();
  const keys = new Set(newest.map(({ kind, objectId }) => keyOf(kind, objectId)));
  return [...keys]
    .flatMap((key) => tables.resources.get(key)?.resource ?? [])
    .map((resource) => ({ ...resource, orderId: orderOf(tables, resource) }))
    .filter((resource) => orderId === undefined || resource.orderId === orderId)
    .slice(0, limit);
}

function orderOf({ resources }: Tables, { state }: Resource): string | null {
  const payment = 'payment_id' in state && resources.get(keyOf('payment', state.payment_id));
  const paid = payment ? payment.resource.state : {};
  return (
    textIn(paid, 'metadata', 'order_id') ??
    textIn(state, 'metadata', 'order_id') ??
    textOf(state, 'merchant_order_reference_id')
  );
}

function textIn(state: object, field: string, name: string): string | null {
  const value = (state as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'object' && value !== null ? textOf(value, name) : null;
}

export function sumAllResources({ resources }: Tables): readonly ResourceSum[] {
  const groups = groupBy(resources.all(), ({ resource, fields }) =>
    JSON.stringify([resource.kind, fields.status, fields.currency]),
  );
  const sums = [...groups.values()].flatMap((rows) => {
    const [first] = rows;
    if (first === undefined) return [];
    const { status, currency } = first.fields;
    const sumOf = (name: string): number =>
      sumMinor(rows.map(({ resource }) => Number(textOf(resource.state, name) ?? 0)));
    return {
      kind: first.resource.kind,
      status,
      currency,
      count: rows.length,
      amount: sumOf('amount'),
      amount_received: sumOf('amount_received'),
      attempts: sumOf('attempt_count'),
    };
  });
  return sortedBy(sums, ({ kind, status, currency }) => [kind, status, currency]);
}
