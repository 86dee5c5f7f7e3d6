/**
 * Statements that list resources of one kind, newest first, by a filter.
 *
 * 1. A statement searches at most `MAX_SCANNED` rows, so that a filter that few rows match costs no more
 *    than one that all match. The caller continues from where it ended.
 * 2. The time of a resource is the service's time of creation. Where the service sent none, it is the
 *    time at which Tallyhook first saw it. Each of the two has its own index, so each is a source of
 *    its own. A filter by order reads the parts of that order instead.
 */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { Place } from '../../domain/listPage.ts';
import { instantOrNull } from '../../domain/time.ts';
import { micros } from './instants.ts';
import { PART_COLUMNS, type PartSummary } from './parts.ts';
import type { SumsAsText } from './sums.ts';

/** The most rows of a source that one statement searches. */
export const MAX_SCANNED = 5_000;

export interface ResourceFilter {
  readonly kind: ResourceKind;
  readonly status?: string | undefined;
  readonly currency?: string | undefined;
  readonly minMinor?: number | undefined;
  readonly maxMinor?: number | undefined;
  /** Microseconds since 1970, included. */
  readonly fromMicros?: number | undefined;
  /** Microseconds since 1970, excluded. */
  readonly toMicros?: number | undefined;
  readonly hasFinding?: boolean | undefined;
  readonly isUncertain?: boolean | undefined;
}

export interface ListedResource extends PartSummary, Place {
  readonly paymentId: string | null;
  readonly orderKey: string | null;
  /** Payouts: the merchant's reference. */
  readonly reference: string | null;
  readonly netAmountMinor: number | null;
  readonly captureMethod: string | null;
  readonly firstSeenAt: Date;
  readonly updatedAt: Date;
}

/** Where resources are searched. */
export type ResourceSource =
  | { readonly name: 'dated' | 'undated' }
  | { readonly name: 'order'; readonly orderKeys: readonly string[] }
  | { readonly name: 'reference'; readonly references: readonly string[] };

export interface ResourceScan {
  readonly filter: ResourceFilter;
  readonly source: ResourceSource;
  readonly after: Place | undefined;
}

const LISTED_COLUMNS = `${PART_COLUMNS},
  payment_id as "paymentId", order_key as "orderKey", reference,
  net_amount_minor as "netAmountMinor", capture_method as "captureMethod",
  first_seen_at as "firstSeenAt", updated_at as "updatedAt"`;

const SCANNED_COLUMNS = `
  kind, id, status, stage, currency, amount_minor, unified_code, unified_message, error_code,
  error_message, reason, reason_code, uncertainties, authorized_minor, captured_minor, open_findings,
  created_at, deadline_at, payment_id, order_key, reference, net_amount_minor, capture_method,
  first_seen_at, updated_at`;

/** Matches of a filter in one source, newest first. The search ends with the last one that is wanted. */
export function scanResources(
  db: Queryable,
  { filter, source, after }: ResourceScan,
  limit: number,
): Promise<readonly ListedResource[]> {
  const at = timeOf(source);
  return db.query<ListedResource>(
    `select ${LISTED_COLUMNS}, ${micros(at)} as "atMicros"
       from (${scanned(source, filter)} limit $14) scanned
      where ${MATCHES}
      order by ${at} desc, id collate "C" desc
      limit $13`,
    [
      ...scannedValues({ filter, source, after }),
      ...matchValues(filter),
      limit,
      isSearched(filter) ? MAX_SCANNED : limit,
    ],
  );
}

/** The last place that a scan searches; undefined if it reaches the end of its source. */
export async function readResourceScanEnd(
  db: Queryable,
  { filter, source, after }: ResourceScan,
): Promise<Place | undefined> {
  if (!isSearched(filter)) return undefined;
  const at = timeOf(source);
  const rows = await db.query<Place>(
    `select ${micros(at)} as "atMicros", id
       from (${scanned(source, filter)} offset ${MAX_SCANNED - 1} limit 1) scanned`,
    [...scannedValues({ filter, source, after })],
  );
  return rows[0];
}

/** One resource. */
export async function readListedResource(
  db: Queryable,
  { kind, id }: { readonly kind: ResourceKind; readonly id: string },
): Promise<ListedResource | undefined> {
  const rows = await db.query<ListedResource>(
    `select ${LISTED_COLUMNS}, ${micros('coalesce(created_at, first_seen_at)')} as "atMicros"
       from resources
      where kind = $1 and id = $2`,
    [kind, id],
  );
  return rows[0];
}

/** Resources by kind and id, as many of them as there are. */
export function readListedResources(
  db: Queryable,
  refs: readonly { readonly kind: ResourceKind; readonly id: string }[],
): Promise<readonly ListedResource[]> {
  return db.query<ListedResource>(
    `select ${LISTED_COLUMNS}, ${micros('coalesce(created_at, first_seen_at)')} as "atMicros"
       from resources
      where (kind, id) in (select kind, id from unnest($1::text[], $2::text[]) as wanted (kind, id))
      limit $3`,
    [refs.map(({ kind }) => kind), refs.map(({ id }) => id), refs.length],
  );
}

export interface ScannedTotal {
  /** Null: the resource itself has not arrived, so its money is unknown. */
  readonly currency: string | null;
  readonly scanned: number;
  readonly matches: number;
  readonly amountMinor: bigint;
  readonly capturedMinor: bigint;
}

/** How many rows of a source match a filter, and their amounts, among the newest `MAX_SCANNED`. */
export async function sumResources(
  db: Queryable,
  { filter, source }: Omit<ResourceScan, 'after'>,
): Promise<readonly ScannedTotal[]> {
  const rows = await db.query<SumsAsText<ScannedTotal>>(
    // With the offset, each row is compared once, and not once for each sum.
    `select currency, count(*) as scanned, count(*) filter (where matches) as matches,
            coalesce(sum(amount_minor) filter (where matches), 0)::text as "amountMinor",
            coalesce(sum(captured_minor) filter (where matches), 0)::text as "capturedMinor"
       from (select currency, amount_minor, captured_minor, ${MATCHES} as matches
               from (${scanned(source, filter)} limit ${MAX_SCANNED}) scanned
             offset 0) compared
      group by currency
      order by currency
      limit 1000`,
    [...scannedValues({ filter, source, after: undefined }), ...matchValues(filter)],
  );
  return rows.map((row) => ({
    ...row,
    amountMinor: BigInt(row.amountMinor),
    capturedMinor: BigInt(row.capturedMinor),
  }));
}

/** Whether a statement has to search more rows than it returns. */
function isSearched(filter: ResourceFilter): boolean {
  const { status, currency, minMinor, maxMinor, hasFinding, isUncertain } = filter;
  const isByValue = [status, currency, minMinor, maxMinor].some((one) => one !== undefined);
  return isByValue || hasFinding === true || isUncertain === true;
}

function timeOf(source: ResourceSource): string {
  switch (source.name) {
    case 'dated':
      return 'created_at';
    case 'undated':
      return 'first_seen_at';
    case 'order':
    case 'reference':
      return 'coalesce(created_at, first_seen_at)';
  }
}

function membersOf(source: ResourceSource): string {
  switch (source.name) {
    case 'dated':
      return 'created_at is not null and $6::text[] is null';
    case 'undated':
      return 'created_at is null and $6::text[] is null';
    case 'order':
      return 'order_key = any ($6::text[])';
    case 'reference':
      return 'reference = any ($6::text[])';
  }
}

/** The rows of a source in the time of a filter after a place, with the index of flagged ones if it applies. */
function scanned(source: ResourceSource, { hasFinding, isUncertain }: ResourceFilter): string {
  const at = timeOf(source);
  const flagged =
    hasFinding || isUncertain ? `and (open_findings <> '{}' or uncertainties <> '{}')` : '';
  return `
    select ${SCANNED_COLUMNS}
      from resources
     where kind = $1 and ${membersOf(source)} ${flagged}
       and ${at} >= coalesce($2::timestamptz, '-infinity')
       and ${at} < coalesce($3::timestamptz, 'infinity')
       and (${at}, id collate "C") < (coalesce($4::timestamptz, 'infinity'), coalesce($5::text, ''))
     order by ${at} desc, id collate "C" desc`;
}

function scannedValues({ filter, source, after }: ResourceScan): readonly unknown[] {
  return [
    filter.kind,
    instantOrNull(filter.fromMicros),
    instantOrNull(filter.toMicros),
    instantOrNull(after?.atMicros),
    after?.id ?? null,
    namesOf(source),
  ];
}

function namesOf(source: ResourceSource): readonly string[] | null {
  switch (source.name) {
    case 'dated':
    case 'undated':
      return null;
    case 'order':
      return source.orderKeys;
    case 'reference':
      return source.references;
  }
}

const MATCHES = `(
      ($7::text is null or status = $7) and ($8::text is null or currency = $8)
  and ($9::bigint is null or amount_minor >= $9) and ($10::bigint is null or amount_minor <= $10)
  and (not $11::boolean or open_findings <> '{}') and (not $12::boolean or uncertainties <> '{}'))`;

function matchValues(filter: ResourceFilter): readonly unknown[] {
  return [
    filter.status ?? null,
    filter.currency ?? null,
    filter.minMinor ?? null,
    filter.maxMinor ?? null,
    filter.hasFinding ?? false,
    filter.isUncertain ?? false,
  ];
}
