/** Statements that compare the stored sums with the journal. */
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import { COMPARED, type Compared, textsOf } from './comparedSums.ts';
import { openSpans, QUARTER, SIGNED_LEGS } from './transferSums.ts';

/** The currencies and legs of the journal, each found by one step in the index. For `with recursive`. */
const PAIRS = `pairs as (
       (select currency, leg from transfers where effective_at is not null order by currency, leg limit 1)
       union all
       select following.currency, following.leg
         from pairs p
        cross join lateral (select currency, leg from transfers
                             where effective_at is not null and (currency, leg) > (p.currency, p.leg)
                             order by currency, leg limit 1) following)`;

export interface SumEnds {
  /** Days since 1970 of the first and the last effective time. */
  readonly firstDay: number;
  readonly lastDay: number;
  /** About how many transfers there are. */
  readonly rows: number;
}

/** Undefined while the journal is empty. */
export async function readSumEnds(tx: Queryable): Promise<SumEnds | undefined> {
  const day = (time: string) => `floor(extract(epoch from ${time}) / 86400)::int`;
  const rows = await tx.query<SumEnds>(
    `with recursive ${PAIRS},
     ends as (
       select min(first) as first, max(last) as last
         from pairs p
        cross join lateral (select min(effective_at) as first, max(effective_at) as last
                              from transfers t
                             where t.currency = p.currency and t.leg = p.leg
                                   and effective_at is not null offset 0) own)
     select ${day('first')} as "firstDay", ${day('last')} as "lastDay",
            (select case when reltuples > 0 then reltuples else pg_relation_size(oid) / 150 end::bigint
               from pg_class where oid = to_regclass('transfers')) as rows
       from ends
      where first is not null`,
  );
  return rows[0];
}

/** What the sums reach in the snapshot of `tx`; undefined while they begin again. Text of PostgreSQL. */
export async function readProvableTo(tx: Queryable): Promise<string | undefined> {
  const rows = await tx.query<{ to: string }>(
    `select summed_to::text as "to" from transfer_sums_state where summed_to > '-infinity' limit 1`,
  );
  return rows[0]?.to;
}

/** Effective times of a range. Texts of PostgreSQL: `from` belongs to it, `to` does not. */
export interface SumRange {
  readonly from: string;
  readonly to: string;
  readonly summedTo: string;
}

const MOVED = ['ups', 'downs', 'up_minor', 'down_minor'];
const POSTED = ['posted_up_minor', 'posted_down_minor'];

/** Compares the sums of quarters and days with the journal. */
export async function compareSums(
  tx: Queryable,
  { from, to, summedTo }: SumRange,
): Promise<Compared> {
  const name = (time: string, format: string) =>
    `'sums:' || currency || ':' || leg || ':' || to_char(${time} at time zone 'UTC', '${format}')`;
  const rows = await tx.query<Compared>(
    `with recursive ${PAIRS},
     moves as materialized (
       select t.currency, t.leg, t.resource_id, t.effective_at, t.recorded_at, t.moved
         from pairs p
        cross join lateral (
          select currency, leg, resource_id, effective_at, recorded_at,
                 cumulative_minor - previous_minor as moved
            from transfers
           where currency = p.currency and leg = p.leg and effective_at >= $1::timestamptz
                 and effective_at < $2::timestamptz and recorded_at < $3::timestamptz
          offset 0) t),
     expected as materialized (
       select quarter, currency, leg, recorded_from, sum(ups) as ups, sum(downs) as downs,
              sum(up_minor) as up_minor, sum(down_minor) as down_minor,
              sum(posted_up_minor) as posted_up_minor, sum(posted_down_minor) as posted_down_minor
         from (select ${QUARTER('effective_at')} as quarter, currency, leg,
                      recorded_part(max(recorded_at)) as recorded_from,
                      (sum(moved) > 0)::int as ups, (sum(moved) < 0)::int as downs,
                      greatest(sum(moved), 0) as up_minor, greatest(-sum(moved), 0) as down_minor,
                      0 as posted_up_minor, 0 as posted_down_minor
                 from moves
                group by resource_id, leg, currency, effective_at
               union all
               select ${QUARTER('effective_at')}, currency, leg, recorded_part(recorded_at), 0, 0, 0, 0,
                      greatest(moved, 0), greatest(-moved, 0)
                 from moves) one
        group by quarter, currency, leg, recorded_from),
     stored as (
       select quarter, currency, leg, recorded_from, ups, downs, up_minor, down_minor, posted_up_minor,
              posted_down_minor
         from transfer_sums where quarter >= $1::timestamptz and quarter < $2::timestamptz),
     expected_days as (
       select date_trunc('day', quarter, 'UTC') as day, currency, leg,
              sum(posted_up_minor) as posted_up_minor, sum(posted_down_minor) as posted_down_minor
         from expected group by 1, 2, 3),
     stored_days as (
       select day, currency, leg, posted_up_minor, posted_down_minor
         from transfer_day_sums where day >= $1::timestamptz and day < $2::timestamptz),
     both_of as (
       select ${name('quarter', 'YYYY-MM-DD"T"HH24:MI"Z"')} as subject,
              ${textsOf('e', [...MOVED, ...POSTED])} as expected,
              ${textsOf('s', [...MOVED, ...POSTED])} as stored
         from expected e full join stored s using (quarter, currency, leg, recorded_from)
       union all
       select ${name('day', 'YYYY-MM-DD')}, ${textsOf('e', POSTED)}, ${textsOf('s', POSTED)}
         from expected_days e full join stored_days s using (day, currency, leg))
     ${COMPARED}`,
    [from, to, summedTo],
  );
  return oneRow(rows);
}

const SPAN_TEXTS = (row: string) =>
  `jsonb_build_object('since', ${row}.since::text, 'open_minor', ${row}.open_minor::text)`;

const spanSubject = (kind: string, row: string) =>
  `${kind} || ':' || ${row}.resource_id || ' ' || ${row}.currency || ' from ' || lower(${row}.span)::text`;

/** Compares the open spans of what has a transfer in the range with the journal. */
export async function compareSpans(
  tx: Queryable,
  { from, to, summedTo }: SumRange,
): Promise<Compared> {
  const rows = await tx.query<Compared>(
    `with recursive ${PAIRS},
     touched as materialized (
       select distinct s.item, t.kind, t.resource_id
         from pairs p
         join (values ${SIGNED_LEGS}) as s (item, kind, leg, sign) on s.leg = p.leg
        cross join lateral (
          select kind, resource_id
            from transfers
           where currency = p.currency and leg = p.leg and effective_at >= $1::timestamptz
                 and effective_at < $2::timestamptz and recorded_at < $3::timestamptz
          offset 0) t
        where t.kind = s.kind),
     expected as materialized (${openSpans('select item, kind, resource_id from touched', '$3::timestamptz')}),
     stored as (
       select o.item, o.currency, o.resource_id, o.span, o.since, o.open_minor
         from touched u
        cross join lateral (
          select item, currency, resource_id, span, since, open_minor
            from open_spans where item = u.item and resource_id = u.resource_id offset 0) o),
     both_of as (
       select ${spanSubject('item', 'b')} as subject, b.expected, b.stored
         from (select item, resource_id, currency, span, ${SPAN_TEXTS('e')} as expected,
                      ${SPAN_TEXTS('s')} as stored
                 from expected e full join stored s using (item, resource_id, currency, span)) b)
     ${COMPARED}`,
    [from, to, summedTo],
  );
  return oneRow(rows);
}

/** Open spans of what has no transfer at all, as if each should not be. Reads every open span. */
export async function compareStraySpans(tx: Queryable): Promise<Compared> {
  const rows = await tx.query<Compared>(
    `with both_of as (
       select ${spanSubject('item', 'o')} as subject,
              '{"since": null, "open_minor": null}'::jsonb as expected, ${SPAN_TEXTS('o')} as stored
         from open_spans o
        where not exists (select from (values ${SIGNED_LEGS}) as s (item, kind, leg, sign)
                            join transfers t on t.kind = s.kind and t.leg = s.leg
                           where s.item = o.item and t.resource_id = o.resource_id))
     ${COMPARED}`,
  );
  return oneRow(rows);
}
