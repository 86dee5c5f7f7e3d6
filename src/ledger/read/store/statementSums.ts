/**
 * The sums of a statement from stored sums (store/transferSums.ts), and what was recorded since.
 * Each result equals that of the statement in `statement.ts` that reads the journal alone.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { Period } from '../../domain/period.ts';
import type { DaySums, LegSums, OpenItems } from '../../domain/statement.ts';
import { instantOrNull } from '../../domain/time.ts';
import { addedSums, openSpans, touchedItems } from '../../store/transferSums.ts';
import { micros } from './instants.ts';
import type { EffectiveBounds } from './statement.ts';
import {
  daySumsOf,
  itemKey,
  itemKeys,
  type ListedItems,
  type OpenItemRow,
  openItemsOf,
  type SumsAsText,
} from './sums.ts';

/**
 * Transfers that are not in the sums yet. @param place where the statement has `summedTo`: with its value,
 * the planner knows that they are few
 */
const rest = (place: string) => ({ from: `${place}::timestamptz`, to: `'infinity'` });

/**
 * Transfers that were recorded before it are in the sums. Read in the snapshot of the sums. Undefined while
 * they are not to be used: in an existing installation that they do not reach the last day of yet, and
 * after the clock of the database went back.
 */
export async function readSummedTo(tx: Queryable): Promise<string | undefined> {
  const rows = await tx.query<{ to: string }>(
    `select summed_to::text as "to"
       from transfer_sums_state
      where summed_to between statement_timestamp() - interval '1 day' and statement_timestamp()
      limit 1`,
  );
  return rows[0]?.to;
}

const QUARTER_MICROS = 900_000_000;

/** Whether the sums can divide at the ends of a period. Before 1972, a time zone had seconds. */
export function isOnQuarters({ fromMicros, toMicros }: Period): boolean {
  return fromMicros % QUARTER_MICROS === 0 && toMicros % QUARTER_MICROS === 0;
}

interface SummedBounds {
  readonly currency: string | undefined;
  readonly beforeMicros: number;
  /** Up to this number. What is in the sums has a number below each that is given out an hour later. */
  readonly lastTransfer?: number;
}

/** What each leg moved before a time. */
export async function readSummedLegs(
  tx: Queryable,
  { currency, beforeMicros, lastTransfer }: SummedBounds,
  summedTo: string,
): Promise<readonly LegSums[]> {
  const quarter = `date_bin('15 minutes', $1::timestamptz, timestamptz '2000-01-01 00:00:00+00')`;
  const day = `date_trunc('day', $1::timestamptz, 'UTC')`;
  const posted = `greatest(cumulative_minor - previous_minor, 0), greatest(previous_minor - cumulative_minor, 0)`;
  const rows = await tx.query<SumsAsText<LegSums>>(
    `select currency, leg, sum(up)::text as "upMinor", sum(down)::text as "downMinor"
       from (select currency, leg, posted_up_minor as up, posted_down_minor as down
               from transfer_day_sums where day < ${day}
             union all
             select currency, leg, posted_up_minor, posted_down_minor
               from transfer_sums where quarter >= ${day} and quarter < ${quarter}
             union all
             select currency, leg, ${posted} from transfers
              where effective_at >= ${quarter} and effective_at < $1 and recorded_at < $3::timestamptz
             union all
             select currency, leg, ${posted} from transfers
              where recorded_at >= $3::timestamptz and effective_at < $1
                    and ($4::bigint is null or id <= $4)) moved
      where $2::text is null or currency = $2
      group by currency, leg
     having sum(up) <> 0 or sum(down) <> 0
      order by currency, leg
      limit 10000`,
    [instantOrNull(beforeMicros), currency ?? null, summedTo, lastTransfer ?? null],
  );
  return rows.map((row) => ({
    ...row,
    upMinor: BigInt(row.upMinor),
    downMinor: BigInt(row.downMinor),
  }));
}

/** The movements of a period by day and leg. @param period for which `isOnQuarters` */
export async function readSummedDays(
  tx: Queryable,
  { fromMicros, toMicros, timeZone }: Period,
  { currency, summedTo }: { readonly currency: string | undefined; readonly summedTo: string },
): Promise<readonly DaySums[]> {
  const rows = await tx.query<SumsAsText<DaySums>>(
    `select currency, leg, to_char(day::timestamp, 'YYYY-MM-DD') as day, ups::bigint, downs::bigint,
            up_minor::text as "upMinor", down_minor::text as "downMinor", late::bigint,
            late_minor::text as "lateMinor"
       from (select currency, leg, day, sum(ups) as ups, sum(downs) as downs, sum(up_minor) as up_minor,
                    sum(down_minor) as down_minor,
                    coalesce(sum(ups + downs) filter (where is_late), 0) as late,
                    coalesce(sum(up_minor + down_minor) filter (where is_late), 0) as late_minor
               -- The late ones apart: to filter each of the many rows would take longer.
               from (select currency, leg, (quarter at time zone $3)::date as day,
                            recorded_from >= $2 as is_late, sum(ups) as ups, sum(downs) as downs,
                            sum(up_minor) as up_minor, sum(down_minor) as down_minor
                       from (select quarter, currency, leg, recorded_from, ups, downs, up_minor, down_minor
                               from transfer_sums
                             union all
                             select quarter, currency, leg, recorded_from, ups, downs, up_minor, down_minor
                               from (${addedSums(rest('$5'))}) rest) both_of
                      where quarter >= $1 and quarter < $2 and ($4::text is null or currency = $4)
                      group by 1, 2, 3, 4) parts
              group by 1, 2, 3) days
      where ups <> 0 or downs <> 0
      order by 1, 3, 2
      limit 100000`,
    [instantOrNull(fromMicros), instantOrNull(toMicros), timeZone, currency ?? null, summedTo],
  );
  return daySumsOf(rows);
}

/** A span of `o` that no later transfer has replaced. */
const IS_STORED = `not exists (select from touched u
                                where u.item = o.item and u.resource_id = o.resource_id)`;

/** An item `o` that is not only counted: by a hash. `<> all ($5)` would compare it with each of the many. */
const IS_LISTED = `${itemKey('o', 'o.resource_id')} not in (select unnest($5::text[]))`;

/** What was under way before a time: its number and sum, and the oldest of each. */
export async function readSummedOpenItems(
  tx: Queryable,
  { currency, beforeMicros }: EffectiveBounds,
  { summedTo, most, unlisted }: ListedItems & { readonly summedTo: string },
): Promise<readonly OpenItems[]> {
  const rows = await tx.query<OpenItemRow>(
    `with touched as materialized (${touchedItems(rest('$3'))}),
     rest as materialized (${openSpans('select * from touched', rest('$3').to)}),
     sums as (
       select item, currency, sum(count)::bigint as count, sum(sum) as sum
         -- Those that are still open and those that were: each has its index, as below.
         from (select item, currency, count(*) as count, sum(open_minor) as sum
                 from open_spans
                where since < $1 and upper(span) = 'infinity' and span @> $1::timestamptz
                      and ($2::text is null or currency = $2)
                group by 1, 2
               union all
               select item, currency, count(*), sum(open_minor)
                 from open_spans
                where upper(span) < 'infinity' and span @> $1::timestamptz
                      and ($2::text is null or currency = $2)
                group by 1, 2
               union all
               -- Less the few that were replaced: to look for each of the many would take longer.
               select o.item, o.currency, -count(*), -sum(o.open_minor)
                 from touched u
                 join open_spans o on o.item = u.item and o.resource_id = u.resource_id
                where o.span @> $1::timestamptz and ($2::text is null or o.currency = $2)
                group by 1, 2
               union all
               select item, currency, count(*), sum(open_minor) from rest
                where span @> $1::timestamptz and ($2::text is null or currency = $2)
                group by 1, 2) parts
        group by 1, 2)
     select s.item, s.currency, o.id, o.open::text, ${micros('o.since')} as "sinceMicros", s.count,
            s.sum::text
       from sums s
       left join lateral (
        select * from (
          (select o.resource_id as id, o.since, o.open_minor as open from open_spans o
            where o.item = s.item and o.currency = s.currency and o.since < $1
                  and upper(o.span) = 'infinity' and o.span @> $1::timestamptz and ${IS_STORED}
                  and ${IS_LISTED}
            order by o.since, o.resource_id limit $4)
          union all
          (select o.resource_id, o.since, o.open_minor from open_spans o
            where o.item = s.item and o.currency = s.currency
                  and upper(o.span) < 'infinity' and o.span @> $1::timestamptz and ${IS_STORED}
                  and ${IS_LISTED}
            order by o.since, o.resource_id limit $4)
          union all
          select o.resource_id, o.since, o.open_minor from rest o
           where o.item = s.item and o.currency = s.currency and o.span @> $1::timestamptz
                 and ${IS_LISTED}) one
         order by since, id limit $4) o on true
      where s.count > 0
      order by s.item, s.currency, o.since, o.id
      limit 100000`,
    [instantOrNull(beforeMicros), currency ?? null, summedTo, most, itemKeys(unlisted)],
  );
  return openItemsOf(rows);
}
