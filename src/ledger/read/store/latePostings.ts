/**
 * Statements that read late postings (domain/closings.ts): transfers that are effective in a span and have a
 * number above that of the closing which they missed.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import { keysetRows } from '../../../platform/keyset.ts';
import type { ItemWithLatePostings } from '../../domain/openAtClosing.ts';
import type { LatePosting, LateSums } from '../../domain/statement.ts';
import { instantOrNull } from '../../domain/time.ts';
import { SIGNED_LEGS } from '../../store/transferSums.ts';
import { micros } from './instants.ts';
import type { SumsAsText } from './sums.ts';

/** Which late postings. Microseconds since 1970; `from` belongs to it, `to` does not. */
export interface LateSelection {
  readonly fromMicros: number | undefined;
  readonly toMicros: number;
  /** Numbers of transfers: later than `after`, up to and including `until`. */
  readonly after: number;
  readonly until: number | undefined;
  readonly currency: string | undefined;
}

const LATE = `
  id > $3 and ($4::bigint is null or id <= $4)
  and ($1::timestamptz is null or effective_at >= $1) and effective_at < $2
  and ($5::text is null or currency = $5)`;

function valuesOf(selection: LateSelection): readonly unknown[] {
  const { fromMicros, toMicros, after, until, currency } = selection;
  return [
    instantOrNull(fromMicros),
    instantOrNull(toMicros),
    after,
    until ?? null,
    currency ?? null,
  ];
}

/** Months that were closed after the missed closing, each with the last number in it. */
export interface Bookings {
  readonly closed: readonly { readonly month: string; readonly lastTransfer: number }[];
  /** The first open month. */
  readonly open: string;
}

/** What late postings moved, by month and leg; those that correct each other count as one movement. */
export async function readLateSums(
  tx: Queryable,
  selection: LateSelection,
  { timeZone, bookings }: { readonly timeZone: string; readonly bookings: Bookings },
): Promise<readonly LateSums[]> {
  const rows = await tx.query<SumsAsText<LateSums>>(
    `select to_char(effective_at at time zone $6, 'YYYY-MM') as month, booked_in as "bookedIn", currency,
            leg, count(*) filter (where moved > 0) as ups, count(*) filter (where moved < 0) as downs,
            sum(greatest(moved, 0))::text as "upMinor", sum(greatest(-moved, 0))::text as "downMinor"
       from (select currency, leg, resource_id, effective_at, booked_in,
                    sum(cumulative_minor - previous_minor) as moved
               from (select currency, leg, resource_id, effective_at, cumulative_minor, previous_minor,
                            coalesce((select min(b.month) from unnest($7::text[], $8::bigint[]) as b (month, last)
                                       where t.id <= b.last), $9) as booked_in
                       from transfers t where ${LATE}) late
              group by 1, 2, 3, 4, 5) movement
      where moved <> 0
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      limit 100000`,
    [
      ...valuesOf(selection),
      timeZone,
      bookings.closed.map(({ month }) => month),
      bookings.closed.map(({ lastTransfer }) => lastTransfer),
      bookings.open,
    ],
  );
  return rows.map((row) => ({
    ...row,
    upMinor: BigInt(row.upMinor),
    downMinor: BigInt(row.downMinor),
  }));
}

const FIRST = 50;

/** The first of them, by number. */
export async function readLatePostings(
  tx: Queryable,
  selection: LateSelection,
): Promise<readonly LatePosting[]> {
  const rows = await tx.query<SumsAsText<LatePosting>>(
    `select id as number, kind, resource_id as "resourceId", leg, currency,
            (cumulative_minor - previous_minor)::text as "movedMinor",
            ${micros('effective_at')} as "effectiveMicros", ${micros('recorded_at')} as "recordedMicros"
       from transfers
      where ${LATE}
      order by id
      limit ${FIRST}`,
    valuesOf(selection),
  );
  return rows.map((row) => ({ ...row, movedMinor: BigInt(row.movedMinor) }));
}

/** Each part reads the late postings again. */
const ITEMS_AT_ONCE = 100_000;

/**
 * Resources with late postings on the legs of open items, each with what it has open by the whole journal and by
 * the closing that they missed. Those with nothing open by either are left out: after an import of the past they are
 * nearly all.
 */
export async function readItemsWithLatePostings(
  tx: Queryable,
  selection: LateSelection,
  itemsAtOnce = ITEMS_AT_ONCE,
): Promise<readonly ItemWithLatePostings[]> {
  const items: ItemWithLatePostings[] = [];
  const rows = keysetRows<SumsAsText<ItemWithLatePostings>>(itemsAtOnce, (last, limit) =>
    tx.query<SumsAsText<ItemWithLatePostings>>(
      `with signed (item, kind, leg, sign) as (values ${SIGNED_LEGS}),
       late as materialized (
         select distinct s.item, t.kind, t.resource_id
           from (select kind, resource_id, leg from transfers where ${LATE}) t
           join signed s on s.kind = t.kind and s.leg = t.leg)
       select l.item, t.currency, l.resource_id as id,
              sum(s.sign * (t.cumulative_minor - t.previous_minor))::text as "nowMinor",
              coalesce(sum(s.sign * (t.cumulative_minor - t.previous_minor)) filter (where t.id <= $3), 0)::text
                as "closedMinor",
              ${micros('min(t.effective_at) filter (where t.id <= $3)')} as "sinceMicros"
         from late l
         join signed s on s.item = l.item
         join transfers t on t.kind = l.kind and t.resource_id = l.resource_id and t.leg = s.leg
        where t.effective_at < $2 and ($5::text is null or t.currency = $5)
              and (l.item, t.currency, l.resource_id) > ($6, $7, $8)
        group by 1, 2, 3
       having sum(s.sign * (t.cumulative_minor - t.previous_minor)) <> 0
           or sum(s.sign * (t.cumulative_minor - t.previous_minor)) filter (where t.id <= $3) <> 0
        order by 1, 2, 3
        limit $9`,
      [...valuesOf(selection), last?.item ?? '', last?.currency ?? '', last?.id ?? '', limit],
    ),
  );
  for await (const row of rows) {
    items.push({ ...row, nowMinor: BigInt(row.nowMinor), closedMinor: BigInt(row.closedMinor) });
  }
  return items;
}
