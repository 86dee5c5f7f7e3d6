/**
 * Statements that list orders, newest first, by a filter.
 *
 * 1. A statement searches at most `MAX_SCANNED_ORDERS` orders if it filters by money, and the caller
 *    continues from where it ended.
 * 2. No index has all orders by their age: the newest of each status are read by index, then merged.
 * 3. Orders with something open are few. They are found by the indexes of open findings and of flagged
 *    resources.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { OrderStatus } from '../../../webhooks/orderStatuses.ts';
import type { Place } from '../../domain/listPage.ts';
import { instantOrNull } from '../../domain/time.ts';
import { micros } from './instants.ts';
import type { ListedOrder, OrderRow } from './orders.ts';
import type { SumsAsText } from './sums.ts';

/** The most orders that one statement searches for money that matches. */
export const MAX_SCANNED_ORDERS = 1_000;

export interface OrderFilter {
  readonly currency?: string | undefined;
  /** Of what was captured or is held in one currency. */
  readonly minMinor?: number | undefined;
  readonly maxMinor?: number | undefined;
  /** First seen at or after this; microseconds since 1970. */
  readonly fromMicros?: number | undefined;
  /** First seen before this; microseconds since 1970. */
  readonly toMicros?: number | undefined;
  /** The order or one of its parts has an open finding. */
  readonly hasFinding?: boolean | undefined;
  /** A part is uncertain. */
  readonly isUncertain?: boolean | undefined;
}

export interface OrderScan extends OrderFilter {
  readonly statuses: readonly OrderStatus[];
  readonly after?: Place | undefined;
}

/** Whether a statement has to search more orders than it returns. */
export function isSearched({ currency, minMinor, maxMinor }: OrderFilter): boolean {
  return currency !== undefined || minMinor !== undefined || maxMinor !== undefined;
}

export interface ScannedOrders {
  /** Matches, newest first. */
  readonly rows: readonly ListedOrder[];
  /** The last place that was searched; undefined if the scan reached the oldest order. */
  readonly end: Place | undefined;
}

/** Orders of the ledger that match, newest first, and where the search ended. */
export async function scanOrders(
  db: Queryable,
  scan: OrderScan,
  limit: number,
): Promise<ScannedOrders> {
  const scannedLimit = isSearched(scan) ? MAX_SCANNED_ORDERS : limit;
  const found = await db.query<ListedOrder & { readonly isEnd: boolean }>(
    `with scanned as materialized (${scanned(scan)}),
     found as (
       select *, false as is_end from scanned
        where ${HAS_MONEY}
        order by first_seen_at desc, order_key desc
        limit $10
     ), ending as (
       select *, true as is_end from scanned
        order by first_seen_at desc, order_key desc
       offset $6::bigint - 1 limit 1
     )
     select order_key as "orderKey", order_id as "orderId", status, moved_to as "movedTo",
            ${micros('first_seen_at')} as "firstSeenMicros", ${micros('updated_at')} as "updatedMicros",
            is_end as "isEnd"
       from (select * from found union all select * from ending) both_parts
      order by first_seen_at desc, order_key desc`,
    [...values(scan, scannedLimit), limit],
  );
  const end = found.find(({ isEnd }) => isEnd);
  return {
    rows: found.filter(({ isEnd }) => !isEnd).map(({ isEnd: _isEnd, ...row }) => row),
    end: end && { atMicros: end.firstSeenMicros, id: end.orderKey },
  };
}

export interface OrderSum {
  readonly currency: string;
  readonly count: number;
  readonly authorizedMinor: bigint;
  readonly capturedMinor: bigint;
  readonly refundedMinor: bigint;
  readonly disputedMinor: bigint;
  readonly chargedBackMinor: bigint;
}

export interface OrderSums {
  readonly scanned: number;
  readonly matches: number;
  readonly currencies: readonly OrderSum[];
}

interface OrderSumRow extends SumsAsText<Omit<OrderSum, 'currency'>> {
  readonly scanned: number;
  readonly matches: number;
  /** Null: no order that matches has money. */
  readonly currency: string | null;
}

/** How many orders match, and their money in the currencies of the filter, among the newest `MAX_SCANNED_ORDERS`. */
export async function sumOrders(db: Queryable, scan: OrderScan): Promise<OrderSums> {
  const rows = await db.query<OrderSumRow>(
    `with scanned as materialized (${scanned(scan)}),
     matched as materialized (
       select t.* from scanned s join order_totals t on t.order_key = s.order_key where ${MONEY}
     ), counted as (
       select (select count(*) from scanned) as scanned,
              (select count(distinct order_key) from matched) as matches
     ), sums as (
       select currency, count(*) as count, sum(authorized_minor)::text as "authorizedMinor",
              sum(captured_minor)::text as "capturedMinor",
              sum(refunded_minor)::text as "refundedMinor",
              sum(disputed_minor)::text as "disputedMinor",
              sum(charged_back_minor)::text as "chargedBackMinor"
         from matched
        group by currency
     )
     select c.scanned, c.matches, s.*
       from counted c
       left join sums s on true
      order by s.currency
      limit 1000`,
    values(scan, MAX_SCANNED_ORDERS),
  );
  const [{ scanned: searched, matches } = { scanned: 0, matches: 0 }] = rows;
  return {
    scanned: searched,
    // Without a filter by money, an order without money matches, too.
    matches: isSearched(scan) ? matches : searched,
    currencies: rows.flatMap(sumOf),
  };
}

function sumOf({ currency, ...row }: OrderSumRow): readonly OrderSum[] {
  if (currency === null) return [];
  return [
    {
      currency,
      count: row.count,
      authorizedMinor: BigInt(row.authorizedMinor),
      capturedMinor: BigInt(row.capturedMinor),
      refundedMinor: BigInt(row.refundedMinor),
      disputedMinor: BigInt(row.disputedMinor),
      chargedBackMinor: BigInt(row.chargedBackMinor),
    },
  ];
}

/** Registered orders without any event that match, newest first. */
export function readRegisteredRows(
  db: Queryable,
  { after, ...filter }: Omit<OrderScan, 'statuses'>,
  limit: number,
): Promise<readonly OrderRow[]> {
  return db.query<OrderRow>(
    `select e.order_key as "orderKey", e.order_id as "orderId", 'registered' as status,
            '{}'::text[] as "movedTo", ${micros('e.registered_at')} as "firstSeenMicros",
            ${micros('e.registered_at')} as "updatedMicros"
       from order_expectations e
      where e.replaced_at is null and e.is_awaited
        and not exists (select from orders o where o.order_key = e.order_key)
        and (e.registered_at, e.order_key)
              < (coalesce($1::timestamptz, 'infinity'), coalesce($2::text, ''))
        and e.registered_at >= coalesce($3::timestamptz, '-infinity')
        and e.registered_at < coalesce($4::timestamptz, 'infinity')
        and ($5::text is null or e.currency = $5)
        and ($6::bigint is null or e.amount_minor >= $6)
        and ($7::bigint is null or e.amount_minor <= $7)
      order by e.registered_at desc, e.order_key desc
      limit $8`,
    [
      instantOrNull(after?.atMicros),
      after?.id ?? null,
      instantOrNull(filter.fromMicros),
      instantOrNull(filter.toMicros),
      ...moneyValues(filter),
      limit,
    ],
  );
}

const MONEY = `($7::text is null or t.currency = $7)
  and ($8::bigint is null or t.captured_minor + t.authorized_minor >= $8)
  and ($9::bigint is null or t.captured_minor + t.authorized_minor <= $9)`;

const HAS_MONEY = `($7::text is null and $8::bigint is null and $9::bigint is null or exists (
  select from order_totals t where t.order_key = scanned.order_key and ${MONEY}))`;

const COLUMNS = 'o.order_key, o.order_id, o.status, o.moved_to, o.first_seen_at, o.updated_at';

const IN_RANGE = `
      (o.first_seen_at, o.order_key) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::text, ''))
  and o.first_seen_at >= coalesce($4::timestamptz, '-infinity')
  and o.first_seen_at < coalesce($5::timestamptz, 'infinity')`;

/** The newest orders of the statuses within the time of the filter, after its place. */
function scanned({ hasFinding, isUncertain }: OrderFilter): string {
  if (!hasFinding && !isUncertain) return NEWEST_OF_EACH_STATUS;
  const flags = [hasFinding ? WITH_FINDINGS : '', isUncertain ? UNCERTAIN : ''];
  return `
    select ${COLUMNS}
      from orders o
     where o.status = any ($1::text[]) and ${IN_RANGE} ${flags.join(' ')}
     order by o.first_seen_at desc, o.order_key desc
     limit $6`;
}

const NEWEST_OF_EACH_STATUS = `
  select ${COLUMNS}
    from unnest($1::text[]) as wanted (status)
   cross join lateral (
     select ${COLUMNS}
       from orders o
      where o.status = wanted.status and ${IN_RANGE}
      order by o.first_seen_at desc, o.order_key desc
      limit $6) as o
   order by o.first_seen_at desc, o.order_key desc
   limit $6`;

/** The condition that the index of flagged resources has. */
const FLAGGED = `
  r.order_key is not null and (r.open_findings <> '{}' or r.uncertainties <> '{}')`;

const WITH_FINDINGS = `
  and o.order_key in (
    select r.order_key from resources r where ${FLAGGED} and r.open_findings <> '{}'
    union all
    select f.order_key from orders f where f.open_findings <> '{}')`;

const UNCERTAIN = `
  and o.order_key in (
    select r.order_key from resources r where ${FLAGGED} and r.uncertainties <> '{}')`;

function values(scan: OrderScan, scannedLimit: number): readonly unknown[] {
  return [...scannedValues(scan, scannedLimit), ...moneyValues(scan)];
}

function scannedValues(scan: OrderScan, scannedLimit: number): readonly unknown[] {
  return [
    scan.statuses,
    instantOrNull(scan.after?.atMicros),
    scan.after?.id ?? null,
    instantOrNull(scan.fromMicros),
    instantOrNull(scan.toMicros),
    scannedLimit,
  ];
}

function moneyValues({ currency, minMinor, maxMinor }: OrderFilter): readonly unknown[] {
  return [currency ?? null, minMinor ?? null, maxMinor ?? null];
}
