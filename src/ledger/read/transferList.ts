/** Lists of transfers: pages, totals, and all of a filter. */
import { sumMinor } from '../../contract/money.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { linkedPages } from '../../platform/keyset.ts';
import type { TimeBasis } from '../domain/effectiveTimes.ts';
import type { JournalRow } from '../domain/journalFormats.ts';
import { type Account, legsOf } from '../domain/legs.ts';
import { orderKeysNamed } from '../domain/orderKey.ts';
import { readConsistently } from '../store/readConsistently.ts';
import {
  isSearched,
  MAX_SCANNED_TRANSFERS,
  placeOf,
  readNumberAt,
  readTransferScanEnd,
  scanTransfers,
  sumTransfers,
  type TransferFilter,
  type TransferPlace,
  type TransferScan,
  type TransferSource,
  type TransferSum,
} from './store/transferList.ts';
import { requireDated } from './undated.ts';

export type { TransferPlace } from './store/transferList.ts';

export interface TransferQuery extends TransferFilter {
  /** The time of the range and of the order. */
  readonly basis: TimeBasis;
  readonly account?: Account | undefined;
  readonly orderId?: string | undefined;
  /** A payment with its refunds and disputes, or a refund, dispute or payout. */
  readonly resourceId?: string | undefined;
}

export interface TransferPage {
  readonly rows: readonly JournalRow[];
  /** After which the next page starts; undefined on the last page. */
  readonly next: TransferPlace | undefined;
}

/** More than any statement takes: rows that are recorded at one time have numbers this close. */
const MARGIN_MICROS = 600 * 1_000_000;

/**
 * A page of transfers, newest first. With a filter it may be shorter than the limit, or empty, although there
 * is a next one: a page searches a bounded number of transfers.
 * @throws UndatedTransfers by effective time, while some have none
 */
export function readTransferPage(
  db: Database,
  query: TransferQuery,
  { after, limit }: { readonly after: TransferPlace | undefined; readonly limit: number },
): Promise<TransferPage> {
  return readConsistently(db, async (tx) => {
    const scan = await scanOf(tx, query, 'newest');
    const below = after ?? scan.below;
    return await readPage(tx, { ...scan, below }, limit);
  });
}

async function readPage(tx: Queryable, scan: TransferScan, limit: number): Promise<TransferPage> {
  const isSearch = isSearched(scan);
  const legsEnd = isSearch ? await readLegsEnd(tx, scan) : undefined;
  const found = await scanTransfers(tx, through(scan, legsEnd), limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length > limit && last) return { rows, next: placeOf(scan.basis, last) };
  if (!isSearch) return { rows, next: undefined };
  return { rows, next: legsEnd ?? (await readTransferScanEnd(tx, scan)) };
}

/**
 * The end of a search of legs, found in the index alone. Without it, each leg is read as far as all of them
 * together, and most of that is sorted away.
 */
async function readLegsEnd(tx: Queryable, scan: TransferScan): Promise<TransferPlace | undefined> {
  return scan.source.name === 'legs' ? await readTransferScanEnd(tx, scan) : undefined;
}

/** What of a scan is no further than its end. */
function through(scan: TransferScan, end: TransferPlace | undefined): TransferScan {
  if (end === undefined) return scan;
  return scan.order === 'newest'
    ? { ...scan, above: { ...end, id: end.id - 1 } }
    : { ...scan, below: { ...end, id: end.id + 1 } };
}

/** Every transfer of a filter, oldest first, in pages. @throws UndatedTransfers as `readTransferPage` does */
export async function* readAllTransfers(
  db: Queryable,
  query: TransferQuery,
  limit: number,
): AsyncGenerator<readonly JournalRow[], void> {
  const scan = await scanOf(db, query, 'oldest');
  yield* linkedPages(scan.above, (above) => readPage(db, { ...scan, above }, limit));
}

export interface TransferTotals {
  readonly count: number;
  /** False: there are more transfers than were counted, and the sums are those of the counted ones. */
  readonly isComplete: boolean;
  readonly currencies: readonly TransferSum[];
}

/** The number of transfers that match and their sums, among the newest ones. @throws UndatedTransfers as `readTransferPage` does */
export function readTransferTotals(db: Database, query: TransferQuery): Promise<TransferTotals> {
  return readConsistently(db, async (tx) => {
    const scan = await scanOf(tx, query, 'newest');
    const sums = await sumTransfers(tx, through(scan, await readLegsEnd(tx, scan)), query.account);
    return {
      count: sumMinor(sums.map(({ matches }) => matches)),
      isComplete: sumMinor(sums.map((one) => one.scanned)) < MAX_SCANNED_TRANSFERS,
      currencies: sums.filter(({ matches }) => matches > 0),
    };
  });
}

/** @throws UndatedTransfers if the transfers cannot be listed by the time of the query yet */
export async function requireTimes(
  db: Queryable,
  { basis }: Pick<TransferQuery, 'basis'>,
): Promise<void> {
  if (basis === 'effective') await requireDated(db);
}

async function scanOf(
  tx: Queryable,
  { basis, account, orderId, resourceId, ...filter }: TransferQuery,
  order: TransferScan['order'],
): Promise<TransferScan> {
  await requireTimes(tx, { basis });
  const legs = account && legsOf(account);
  const source = sourceOf({ legs, orderId, resourceId });
  const bounds = basis === 'effective' ? effectiveBounds(filter) : await recordedBounds(tx, filter);
  return { basis, filter, source, order, legs, ...bounds };
}

function sourceOf(given: {
  readonly legs: readonly string[] | undefined;
  readonly orderId: string | undefined;
  readonly resourceId: string | undefined;
}): TransferSource {
  const { legs, orderId, resourceId } = given;
  if (resourceId !== undefined) return { name: 'resource', id: resourceId };
  if (orderId !== undefined) return { name: 'orders', orderKeys: orderKeysNamed(orderId) };
  if (legs !== undefined && !legs.includes('captured')) return { name: 'legs', legs };
  return { name: 'all' };
}

type Bounds = Pick<TransferScan, 'above' | 'below'>;

/** Before and after every transfer of a range: numbers begin with 1. */
function effectiveBounds({ fromMicros, toMicros }: TransferFilter): Bounds {
  const before = (effectiveMicros: number) => ({ id: 0, effectiveMicros });
  return {
    above: fromMicros === undefined ? undefined : before(fromMicros),
    below: toMicros === undefined ? undefined : before(toMicros),
  };
}

/** The numbers between which the transfers of a time range lie. */
async function recordedBounds(
  tx: Queryable,
  { fromMicros, toMicros }: TransferFilter,
): Promise<Bounds> {
  const first =
    fromMicros === undefined ? null : await readNumberAt(tx, fromMicros - MARGIN_MICROS);
  const end = toMicros === undefined ? null : await readNumberAt(tx, toMicros + MARGIN_MICROS);
  const at = (id: number) => ({ id, effectiveMicros: undefined });
  return {
    above: first === null ? undefined : at(first - 1),
    below: end === null ? undefined : at(end),
  };
}
