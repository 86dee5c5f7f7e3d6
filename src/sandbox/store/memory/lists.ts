/** The list endpoints, in memory. */
import { createHash } from 'node:crypto';
import type { Resource } from '../../domain/resource.ts';
import type { ListFilter, ListPage } from '../lists.ts';
import type { ResourceRow, Tables } from './tables.ts';
import { hasAllowed, sortedBy } from './values.ts';

export function listResources(
  tables: Tables,
  filter: ListFilter,
  { order, salt, asOf, limit, offset }: ListPage,
): readonly Resource[] {
  const timeOf = (row: ResourceRow): number =>
    order.startsWith('created') ? row.createdMs : row.modifiedMs;
  const selected = select(tables, filter, asOf);
  const sorted = order.endsWith('unstable')
    ? sortedBy(selected, (row) => [-timeOf(row), md5(row.fields.id + salt)])
    : sortedBy(selected, (row) => [timeOf(row), row.fields.id]).toReversed();
  return sorted.slice(offset, offset + limit).map(({ resource }) => resource);
}

export function countResources(
  tables: Tables,
  filter: ListFilter,
  asOf: string | undefined,
): number {
  return select(tables, filter, asOf).length;
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function select(
  tables: Tables,
  filter: ListFilter,
  asOf: string | undefined,
): readonly ResourceRow[] {
  return rowsAt(tables, filter, asOf).filter((row) => matches(row, filter));
}

function rowsAt(
  { resources, pastResources }: Tables,
  { kind }: ListFilter,
  asOf: string | undefined,
): readonly ResourceRow[] {
  const current = [...resources.find('kind', kind)];
  if (asOf === undefined) return current;
  const asOfMs = Date.parse(asOf);
  const past = [...pastResources.find('kind', kind)].filter((row) => row.validUntilMs > asOfMs);
  return [...current, ...past].filter(({ recordedMs }) => recordedMs <= asOfMs);
}

function matches({ resource, fields, createdMs }: ResourceRow, filter: ListFilter): boolean {
  const { amount } = resource.state;
  return (
    isOneOf(filter.statuses, fields.status) &&
    isOneOf(filter.currencies, fields.currency) &&
    isWanted(filter.customerId, fields.customerId) &&
    isWanted(filter.id, fields.id) &&
    isWanted(filter.parentId, fields.parentId) &&
    isBetween(createdMs, timeOf(filter.createdFrom), timeOf(filter.createdTo)) &&
    isBetween(amount, filter.amountFrom, filter.amountTo) &&
    hasAllowed(resource.state, filter.others ?? {})
  );
}

function isOneOf(allowed: readonly string[] | undefined, value: string): boolean {
  return allowed === undefined || allowed.length === 0 || allowed.includes(value);
}

function isWanted(wanted: string | undefined, value: string | undefined): boolean {
  return wanted === undefined || wanted === value;
}

function isBetween(value: number, from: number | undefined, to: number | undefined): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to);
}

function timeOf(bound: string | undefined): number | undefined {
  return bound === undefined ? undefined : Date.parse(bound);
}
