/**
 * Statements that list transfers by a filter, in the order in which they were posted or of their effective time.
 *
 * 1. A statement searches at most `MAX_SCANNED_TRANSFERS` rows of each leg, so that a filter that few rows
 *    match costs no more than one that all match. The caller continues from where it ended.
 * 2. By recorded time, transfers are ordered by their numbers, which rise with it except among transactions
 *    that run at the same time. A time range is therefore found by bisecting the numbers, with a margin, and
 *    checked for each row. By effective time, those of one time are ordered by their numbers.
 * 3. Transfers of an account are those of its legs. Captures are most of a journal, and are found among all
 *    transfers; an index has those of the other legs. Each basis has both indexes.
 * 4. A filter by order or resource reads the transfers of these resources instead.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { TimeBasis } from '../../domain/effectiveTimes.ts';
import type { JournalRow } from '../../domain/journalFormats.ts';
import { instantOrNull } from '../../domain/time.ts';
import { micros } from './instants.ts';
import { JOURNAL_COLUMNS, type StoredJournalRow, toJournalRow } from './journalRow.ts';
import type { SumsAsText } from './sums.ts';

/** The most transfers of a source that one statement searches. */
export const MAX_SCANNED_TRANSFERS = 5_000;

export interface TransferFilter {
  readonly currency?: string | undefined;
  readonly minMinor?: number | undefined;
  readonly maxMinor?: number | undefined;
  /** At or after this; microseconds since 1970. */
  readonly fromMicros?: number | undefined;
  /** Before this; microseconds since 1970. */
  readonly toMicros?: number | undefined;
}

/** Where transfers are searched. */
export type TransferSource =
  | { readonly name: 'all' }
  /** None of them `captured`. */
  | { readonly name: 'legs'; readonly legs: readonly string[] }
  | { readonly name: 'orders'; readonly orderKeys: readonly string[] }
  /** Payments: with their refunds and disputes. */
  | { readonly name: 'resource'; readonly id: string };

/** A place in the order of a basis. */
export interface TransferPlace {
  readonly id: number;
  /** Undefined by recorded time, where the number decides. */
  readonly effectiveMicros: number | undefined;
}

export interface TransferScan {
  readonly basis: TimeBasis;
  readonly filter: TransferFilter;
  readonly source: TransferSource;
  readonly order: 'newest' | 'oldest';
  /** Legs of the account of the filter; undefined: any. */
  readonly legs: readonly string[] | undefined;
  /** Only what is between these places, neither included; undefined: no bound. */
  readonly above: TransferPlace | undefined;
  readonly below: TransferPlace | undefined;
}

/** Matches of a filter in a source, each with its event and with the order that its resource is in now. */
export async function scanTransfers(
  db: Queryable,
  scan: TransferScan,
  limit: number,
): Promise<readonly JournalRow[]> {
  const scannedLimit = isSearched(scan) ? MAX_SCANNED_TRANSFERS : limit;
  const rows = await db.query<StoredJournalRow>(
    `with found as materialized (
       select * from (${scanned(scan)}) t
        where ${matches(scan)}
        order by ${ordered(scan)}
        limit $10
     )
     select ${JOURNAL_COLUMNS}
       from found t
       left join webhook_events e on e.id = t.webhook_event_id
       left join resources r on r.kind = t.kind and r.id = t.resource_id
      order by ${ordered(scan)}`,
    [...scannedValues(scan, scannedLimit), ...matchValues(scan), limit],
  );
  return rows.map(toJournalRow);
}

/** The last place that a scan searches; undefined if it reaches the end of its source. */
export async function readTransferScanEnd(
  db: Queryable,
  scan: TransferScan,
): Promise<TransferPlace | undefined> {
  const rows = await db.query<{ id: number; effectiveMicros: number | null }>(
    `select t.id, ${micros('t.effective_at')} as "effectiveMicros"
       from (${scanned(scan)}) t
      order by ${ordered(scan)}
     offset ${MAX_SCANNED_TRANSFERS - 1} limit 1`,
    scannedValues(scan, MAX_SCANNED_TRANSFERS),
  );
  return rows[0] && placeOf(scan.basis, rows[0]);
}

/** The place of a row in the order of a basis. */
export function placeOf(
  basis: TimeBasis,
  {
    id,
    effectiveMicros,
  }: { readonly id: number; readonly effectiveMicros?: number | null | undefined },
): TransferPlace {
  return {
    id,
    effectiveMicros: basis === 'effective' ? (effectiveMicros ?? undefined) : undefined,
  };
}

export interface TransferSum {
  readonly currency: string;
  readonly scanned: number;
  readonly matches: number;
  readonly amountMinor: bigint;
  /** What the account of the filter was debited and credited with; 0 without one. */
  readonly debitedMinor: bigint;
  readonly creditedMinor: bigint;
}

/** How many transfers match, and their amounts, among the first that one statement searches. */
export async function sumTransfers(
  db: Queryable,
  scan: TransferScan,
  account: string | undefined,
): Promise<readonly TransferSum[]> {
  const rows = await db.query<SumsAsText<TransferSum>>(
    // With the offset, each row is compared once, and not once for each sum.
    `select currency, count(*) as scanned, count(*) filter (where matches) as matches,
            coalesce(sum(amount_minor) filter (where matches), 0)::text as "amountMinor",
            coalesce(sum(amount_minor) filter (where matches and debit = $10), 0)::text
              as "debitedMinor",
            coalesce(sum(amount_minor) filter (where matches and credit = $10), 0)::text
              as "creditedMinor"
       from (select currency, amount_minor, debit, credit, ${matches(scan)} as matches
               from (${scanned(scan)}) t
             offset 0) compared
      group by currency
      order by currency
      limit 1000`,
    [...scannedValues(scan, MAX_SCANNED_TRANSFERS), ...matchValues(scan), account ?? null],
  );
  return rows.map((row) => ({
    ...row,
    amountMinor: BigInt(row.amountMinor),
    debitedMinor: BigInt(row.debitedMinor),
    creditedMinor: BigInt(row.creditedMinor),
  }));
}

/** The first number that was recorded at or after a time, found by about twenty reads; null if there is none. */
export async function readNumberAt(db: Queryable, atMicros: number): Promise<number | null> {
  const rows = await db.query<{ number: number | null }>(
    `with recursive bisected (low, high) as (
       select min(id), max(id) + 1 from transfers
       union all
       select case when next.recorded_at < $1 then next.id + 1 else low end,
              case when next.recorded_at < $1 then high else (low + high) / 2 end
         from bisected
        cross join lateral (
          select id, recorded_at from transfers where id >= (low + high) / 2 order by id limit 1) next
        where low < high
     )
     select min(low) as number from bisected where low >= high limit 1`,
    [instantOrNull(atMicros)],
  );
  return rows[0]?.number ?? null;
}

/** Whether a statement has to search more transfers than it returns. */
export function isSearched({ basis, filter, source, legs }: TransferScan): boolean {
  const { currency, minMinor, maxMinor, fromMicros, toMicros } = filter;
  const isByMoney = [currency, minMinor, maxMinor].some((one) => one !== undefined);
  // The places of effective times are exact.
  const isByTime = basis === 'recorded' && (fromMicros !== undefined || toMicros !== undefined);
  return isByMoney || isByTime || (legs !== undefined && source.name !== 'legs');
}

const COLUMNS = `t.id, t.kind, t.resource_id, t.leg, t.leg_seq, t.currency, t.debit, t.credit,
  t.amount_minor, t.head_hash, t.webhook_event_id, t.recorded_at, t.effective_at,
  t.effective_source`;

/**
 * Of a basis: the time that a range is compared with, the columns of its order, and the bounds of a scan as rows
 * of these, from the places $1 and $2.
 */
const BASES = {
  effective: {
    time: 'effective_at',
    key: ['t.effective_at', 't.id'],
    /** The collation of the index by leg, which is not that of the other: transfers_leg cannot be mistaken for it. */
    legCollation: 'collate "C"',
    above: `coalesce(($1::text[])[2]::timestamptz, '-infinity'), coalesce(($1::text[])[1]::bigint, 0)`,
    below: `coalesce(($2::text[])[2]::timestamptz, 'infinity'), coalesce(($2::text[])[1]::bigint, 0)`,
  },
  recorded: {
    time: 'recorded_at',
    key: ['t.id'],
    legCollation: '',
    above: 'coalesce(($1::text[])[1]::bigint, 0)',
    below: 'coalesce(($2::text[])[1]::bigint, 9223372036854775807)',
  },
} as const satisfies Record<TimeBasis, unknown>;

/** The order of a scan, by its key or by what is given. */
function ordered(
  { basis, order }: TransferScan,
  columns: readonly string[] = BASES[basis].key,
): string {
  const direction = order === 'newest' ? 'desc' : 'asc';
  return columns.map((column) => `${column} ${direction}`).join(', ');
}

/** The rows of a source between the bounds, from its beginning. */
function scanned(scan: TransferScan): string {
  const { key, legCollation, above, below } = BASES[scan.basis];
  const isInBounds = `(${key.join(', ')}) > (${above}) and (${key.join(', ')}) < (${below})`;
  const end = `order by ${ordered(scan)} limit $4`;
  switch (scan.source.name) {
    case 'all':
      return `select ${COLUMNS} from transfers t where ${isInBounds} and $3::text[] is null ${end}`;
    case 'legs': {
      // Compared as rows: with `leg = wanted.leg` the planner may read all transfers in their order, which
      // takes seconds for a leg that is rare.
      const legKey = [`t.leg ${legCollation}`, ...key];
      return `
        select t.* from unnest($3::text[]) as wanted (leg)
         cross join lateral (
           select ${COLUMNS} from transfers t
            where (${legKey.join(', ')}) > (wanted.leg ${legCollation}, ${above})
              and (${legKey.join(', ')}) < (wanted.leg ${legCollation}, ${below})
              and t.leg <> 'captured'
            order by ${ordered(scan, legKey)} limit $4) t
         ${end}`;
    }
    case 'orders':
      return `
        select ${COLUMNS} from resources r
          join transfers t on t.kind = r.kind and t.resource_id = r.id
         where r.order_key = any ($3::text[]) and ${isInBounds} ${end}`;
    case 'resource':
      return `
        select ${COLUMNS}
          from (select kind, id from resources
                 where kind in ('payment', 'refund', 'dispute', 'payout') and id = any ($3::text[])
                 union
                select kind, id from resources where payment_id = any ($3::text[])) r
          join transfers t on t.kind = r.kind and t.resource_id = r.id
         where ${isInBounds} ${end}`;
  }
}

function scannedValues(scan: TransferScan, limit: number): readonly unknown[] {
  return [placeText(scan.above), placeText(scan.below), namesOf(scan.source), limit];
}

/** Its number and, by effective time, its time. */
function placeText(place: TransferPlace | undefined): readonly (string | null)[] | null {
  return place === undefined ? null : [String(place.id), instantOrNull(place.effectiveMicros)];
}

function namesOf(source: TransferSource): readonly string[] | null {
  switch (source.name) {
    case 'all':
      return null;
    case 'legs':
      return source.legs;
    case 'orders':
      return source.orderKeys;
    case 'resource':
      return [source.id];
  }
}

function matches({ basis }: TransferScan): string {
  const { time } = BASES[basis];
  return `(
      ($5::text is null or currency = $5)
  and ($6::bigint is null or amount_minor >= $6) and ($7::bigint is null or amount_minor <= $7)
  and ${time} >= coalesce(($8::timestamptz[])[1], '-infinity')
  and ${time} < coalesce(($8::timestamptz[])[2], 'infinity')
  and ($9::text[] is null or leg = any ($9)))`;
}

function matchValues({ filter, legs }: TransferScan): readonly unknown[] {
  return [
    filter.currency ?? null,
    filter.minMinor ?? null,
    filter.maxMinor ?? null,
    [instantOrNull(filter.fromMicros), instantOrNull(filter.toMicros)],
    legs ?? null,
  ];
}
