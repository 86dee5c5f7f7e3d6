/**
 * Statements that keep sums of the journal by effective time.
 *
 * 1. What was recorded before `summed_to` is in the sums, and nothing else. Both change in one transaction,
 *    so a reader with one snapshot adds the transfers that were recorded from then on.
 * 2. Only a step (sumTransfers.ts) writes sums, one transaction at a time, under the lock of the state's row.
 * 3. A movement can get a further transfer later, which changes or ends it. So what is added for a span of
 *    recording is what its movements are after it, less what they were before it.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { OPEN_ITEMS } from '../domain/statement.ts';

/** A span of recording time as SQL: `from` belongs to it, `to` does not. */
export interface RecordedSpan {
  readonly from: string;
  readonly to: string;
}

export const QUARTER = (time: string) =>
  `date_bin('15 minutes', ${time}, timestamptz '2000-01-01 00:00:00+00')`;

/** What transfers of a span add to the sums. */
export function addedSums({ from, to }: RecordedSpan): string {
  const recorded = `recorded_at >= ${from} and recorded_at < ${to}`;
  return `
    select quarter, currency, leg, recorded_from, sum(ups) as ups, sum(downs) as downs,
           sum(up_minor) as up_minor, sum(down_minor) as down_minor,
           sum(posted_up_minor) as posted_up_minor, sum(posted_down_minor) as posted_down_minor
      from (
        select ${QUARTER('effective_at')} as quarter, currency, leg,
               recorded_part(recorded_at) as recorded_from,
               case when moved > 0 then sign else 0 end as ups,
               case when moved < 0 then sign else 0 end as downs,
               sign * greatest(moved, 0) as up_minor, sign * greatest(-moved, 0) as down_minor,
               0::numeric as posted_up_minor, 0::numeric as posted_down_minor
          from (select t.currency, t.leg, t.effective_at, s.sign,
                       sum(t.cumulative_minor - t.previous_minor) as moved,
                       max(t.recorded_at) as recorded_at
                  from (select kind, resource_id, leg, currency, effective_at,
                               min(leg_seq) > 1 as has_before
                          from transfers where ${recorded} group by 1, 2, 3, 4, 5) touched
                 cross join lateral (
                   select 1 as sign union all select -1 where touched.has_before) s
                  join transfers t
                    on t.kind = touched.kind and t.resource_id = touched.resource_id
                   and t.leg = touched.leg and t.currency = touched.currency
                   and t.effective_at = touched.effective_at
                   and t.recorded_at < case s.sign when 1 then ${to} else ${from} end
                 group by t.currency, t.leg, t.resource_id, t.effective_at, s.sign) movement
         where moved <> 0
        union all
        select ${QUARTER('effective_at')}, currency, leg, recorded_part(recorded_at), 0, 0, 0, 0,
               greatest(cumulative_minor - previous_minor, 0),
               greatest(previous_minor - cumulative_minor, 0)
          from transfers where ${recorded}
      ) added
     group by quarter, currency, leg, recorded_from`;
}

const SIGNED = Object.entries(OPEN_ITEMS).flatMap(([item, { kind, plus, minus }]) => [
  ...plus.map((leg) => ({ item, kind, leg, sign: 1 })),
  ...minus.map((leg) => ({ item, kind, leg, sign: -1 })),
]);
/** As `values` with the columns item, kind, leg and sign. Names of the code, which need no quoting. */
export const SIGNED_LEGS = SIGNED.map(
  ({ item, kind, leg, sign }) => `('${item}', '${kind}', '${leg}', ${sign})`,
).join(', ');

/** The resources that can have got or lost something open in a span. */
export function touchedItems({ from, to }: RecordedSpan): string {
  return `
    select distinct s.item, t.kind, t.resource_id
      from transfers t
      join (values ${SIGNED_LEGS}) as s (item, kind, leg, sign) on s.kind = t.kind and s.leg = t.leg
     where t.recorded_at >= ${from} and t.recorded_at < ${to}`;
}

/** The spans of time in which such resources had something open. @param touched as `touchedItems` returns */
export function openSpans(touched: string, to: string): string {
  return `
    select item, currency, resource_id, tstzrange(at, until, '(]') as span, since, open as open_minor
      from (select item, currency, resource_id, effective_at as at,
                   lead(effective_at, 1, 'infinity') over own as until,
                   min(effective_at) over (partition by item, resource_id, currency) as since,
                   sum(moved) over own as open
              from (select u.item, t.currency, t.resource_id, t.effective_at,
                           sum(s.sign * (t.cumulative_minor - t.previous_minor)) as moved
                      from (${touched}) u
                      join (values ${SIGNED_LEGS}) as s (item, kind, leg, sign) on s.item = u.item
                      join transfers t on t.kind = s.kind and t.resource_id = u.resource_id
                                      and t.leg = s.leg
                     where t.recorded_at < ${to}
                     group by 1, 2, 3, 4) steps
            window own as (partition by item, resource_id, currency order by effective_at)) spans
     where open <> 0`;
}

/** How far the sums reach. Times are texts of PostgreSQL. */
export interface SumsState {
  readonly summedTo: string;
  readonly lastId: number;
  /** The sums begin again. */
  readonly isBegun: boolean;
  /** The clock of the database went back by more than an hour: what is recorded now would not be added. */
  readonly isAhead: boolean;
}

/** Locks the state for a step, until the transaction ends. */
export async function lockSums(tx: Queryable): Promise<SumsState> {
  const rows = await tx.query<SumsState>(
    `select summed_to::text as "summedTo", last_id as "lastId", summed_to > '-infinity' as "isBegun",
            summed_to > statement_timestamp() as "isAhead"
       from transfer_sums_state
      limit 1
        for update`,
  );
  if (!rows[0]) throw new Error('the state of the sums was removed');
  return rows[0];
}

/** Lets the sums begin again. Until they are complete, readings add up the journal. */
export async function restartSums(db: Queryable): Promise<void> {
  await db.query(`update transfer_sums_state set summed_to = '-infinity', last_id = 0`);
}

/** Removes sums that begin again. @param limit rows of each table @returns how many rows were removed */
export async function removeSums(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query<{ removed: number }>(
    `with quarters as (
       delete from transfer_sums
        where ctid = any (array(select ctid from transfer_sums limit $1)) returning 1),
     days as (
       delete from transfer_day_sums
        where ctid = any (array(select ctid from transfer_day_sums limit $1)) returning 1),
     spans as (
       delete from open_spans
        where ctid = any (array(select ctid from open_spans limit $1)) returning 1)
     select (select count(*) from quarters) + (select count(*) from days)
            + (select count(*) from spans) as removed`,
    [limit],
  );
  return rows[0]?.removed ?? 0;
}

export interface SummedSpan {
  readonly from: string;
  readonly to: string;
  /** About the last transfer of the span. */
  readonly lastId: number;
}

/**
 * The span of the next step, of about so many transfers. Undefined if there is nothing to add: what is
 * recorded later than an hour ago may not be visible yet (read/closedDays.ts).
 */
export async function readNextSpan(
  tx: Queryable,
  { summedTo, lastId }: SumsState,
  limit: number,
): Promise<SummedSpan | undefined> {
  const rows = await tx.query<SummedSpan>(
    `with closing as (select ${QUARTER(`statement_timestamp() - interval '1 hour'`)} as closed),
     next as (select id, recorded_at from transfers where id > $2 order by id limit $3),
     ends as (
       select max(id) filter (where recorded_at < closed) as last_id,
              case when count(*) < $3 then 'infinity'
                   else greatest(max(recorded_at) + interval '1 microsecond',
                                 $1::timestamptz + interval '1 minute') end as until
         from next cross join closing)
     select $1::text as "from", least(until, closed)::text as "to", coalesce(last_id, $2) as "lastId"
       from ends cross join closing
      where closed > $1::timestamptz`,
    [summedTo, lastId, limit],
  );
  return rows[0];
}

const SPAN: RecordedSpan = { from: '$1::timestamptz', to: '$2::timestamptz' };

/** Adds a span that begins where the sums end (invariant 1). */
export async function addToSums(tx: Queryable, { from, to, lastId }: SummedSpan): Promise<void> {
  await tx.query(
    `with added as materialized (${addedSums(SPAN)}),
     quarters as (
       insert into transfer_sums as s (quarter, currency, leg, recorded_from, ups, downs, up_minor,
                                       down_minor, posted_up_minor, posted_down_minor)
       select quarter, currency, leg, recorded_from, ups, downs, up_minor, down_minor, posted_up_minor,
              posted_down_minor
         from added
       on conflict (quarter, currency, leg, recorded_from) do update
          set ups = s.ups + excluded.ups, downs = s.downs + excluded.downs,
              up_minor = s.up_minor + excluded.up_minor, down_minor = s.down_minor + excluded.down_minor,
              posted_up_minor = s.posted_up_minor + excluded.posted_up_minor,
              posted_down_minor = s.posted_down_minor + excluded.posted_down_minor)
     insert into transfer_day_sums as s (day, currency, leg, posted_up_minor, posted_down_minor)
     select date_trunc('day', quarter, 'UTC'), currency, leg, sum(posted_up_minor), sum(posted_down_minor)
       from added group by 1, 2, 3
     on conflict (day, currency, leg) do update
        set posted_up_minor = s.posted_up_minor + excluded.posted_up_minor,
            posted_down_minor = s.posted_down_minor + excluded.posted_down_minor`,
    [from, to],
  );
  await tx.query(
    `delete from open_spans o using (${touchedItems(SPAN)}) u
      where o.item = u.item and o.resource_id = u.resource_id`,
    [from, to],
  );
  await tx.query(
    `insert into open_spans (item, currency, resource_id, span, since, open_minor)
     ${openSpans(touchedItems(SPAN), SPAN.to)}`,
    [from, to],
  );
  await tx.query('update transfer_sums_state set summed_to = $1, last_id = $2', [to, lastId]);
}
