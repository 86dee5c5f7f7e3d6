/** Lists of payments, refunds, disputes and payouts: pages and totals of a filter. */

import { sumExactly, sumMinor } from '../../contract/money.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { groupBy } from '../../platform/collections.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { linkedPages } from '../../platform/keyset.ts';
import { type ListPage, mergeScans, type Place, type Scan } from '../domain/listPage.ts';
import { orderKeysNamed } from '../domain/orderKey.ts';
import { readConsistently } from '../store/readConsistently.ts';
import {
  type ListedResource,
  MAX_SCANNED,
  type ResourceFilter,
  type ResourceScan,
  type ResourceSource,
  readResourceScanEnd,
  type ScannedTotal,
  scanResources,
  sumResources,
} from './store/resourceList.ts';

export interface ResourceQuery extends ResourceFilter {
  /** Only resources of this order; payouts: with this reference. */
  readonly orderId?: string | undefined;
}

/**
 * A page of resources of one kind, newest first. It may be shorter than the limit, or empty, although
 * there is a next one: a page searches a bounded number of rows.
 */
export function readResourcePage(
  db: Database,
  query: ResourceQuery,
  { after, limit }: { readonly after: Place | undefined; readonly limit: number },
): Promise<ListPage<ListedResource>> {
  return readConsistently(db, async (tx) => {
    const scans: Scan<ListedResource>[] = [];
    for (const source of sourcesOf(query)) {
      scans.push(await scan(tx, { filter: query, source, after }, limit));
    }
    return mergeScans(scans, limit);
  });
}

async function scan(
  tx: Queryable,
  wanted: ResourceScan,
  limit: number,
): Promise<Scan<ListedResource>> {
  const rows = await scanResources(tx, wanted, limit + 1);
  const end = rows.length > limit ? undefined : await readResourceScanEnd(tx, wanted);
  return { rows, end };
}

/** Every row of a filter from a place on, page by page, each page from its own moment. */
export function readAllResources(
  db: Database,
  query: ResourceQuery,
  { from, limit }: { readonly from?: Place | undefined; readonly limit: number },
): AsyncIterable<readonly ListedResource[]> {
  return linkedPages(from, (after) => readResourcePage(db, query, { after, limit }));
}

export interface CurrencyTotal {
  /** Null: the resources themselves have not arrived. */
  readonly currency: string | null;
  readonly count: number;
  readonly amountMinor: bigint;
  readonly capturedMinor: bigint;
}

export interface ListTotals {
  readonly count: number;
  /** False: there are more rows than were counted, and the sums are those of the counted ones. */
  readonly isComplete: boolean;
  readonly currencies: readonly CurrencyTotal[];
}

/** The number of matches of a filter and their sums, by currency, among the newest rows. */
export function readResourceTotals(db: Database, query: ResourceQuery): Promise<ListTotals> {
  return readConsistently(db, async (tx) => {
    const found: (readonly ScannedTotal[])[] = [];
    for (const source of sourcesOf(query)) {
      found.push(await sumResources(tx, { filter: query, source }));
    }
    return {
      count: sumMinor(found.flat().map(({ matches }) => matches)),
      isComplete: found.every((rows) => sumMinor(rows.map((row) => row.scanned)) < MAX_SCANNED),
      currencies: addUp(found.flat()),
    };
  });
}

function addUp(rows: readonly ScannedTotal[]): readonly CurrencyTotal[] {
  const matched = rows.filter(({ matches }) => matches > 0);
  return [...groupBy(matched, ({ currency }) => currency)].map(([currency, own]) => ({
    currency,
    count: sumMinor(own.map(({ matches }) => matches)),
    amountMinor: sumExactly(own.map(({ amountMinor }) => amountMinor)),
    capturedMinor: sumExactly(own.map(({ capturedMinor }) => capturedMinor)),
  }));
}

function sourcesOf({ kind, orderId }: ResourceQuery): readonly ResourceSource[] {
  if (orderId === undefined) return [{ name: 'dated' }, { name: 'undated' }];
  return [ofOrder(kind, orderId)];
}

function ofOrder(kind: ResourceKind, orderId: string): ResourceSource {
  if (kind !== 'payout') return { name: 'order', orderKeys: orderKeysNamed(orderId) };
  return { name: 'reference', references: [orderId] };
}
