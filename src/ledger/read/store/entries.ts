/**
 * Statements that read the journal by the day on which money moved, or was recorded, in a time zone.
 *
 * 1. Days are days of the time zone, by the time zones of PostgreSQL.
 * 2. Rows are fetched from cursors, so memory does not grow with the journal. A cursor lives in the
 *    transaction that declares it.
 * 3. The transfers of one day are sorted at a time. By effective time they are found by currency and leg,
 *    as the index has them.
 * 4. A transfer is booked at its effective time, and a late posting (domain/closings.ts) at the beginning of
 *    the month after the closing that it missed. Without closings these are the same.
 * 5. Closings count only for days of their own time zone: their ends are not the ends of other days.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import type { DayMoved } from '../../domain/entries.ts';
import type { JournalRow } from '../../domain/journalFormats.ts';
import type { LegSums } from '../../domain/statement.ts';
import { instantOrNull } from '../../domain/time.ts';
import { micros, startOfDay } from './instants.ts';
import { JOURNAL_COLUMNS, type StoredJournalRow, toJournalRow } from './journalRow.ts';
import type { SumsAsText } from './sums.ts';

/** Which time of a transfer decides its day: when it is booked, or when it was recorded. */
export type DayBasis = 'booked' | 'recorded';

/**
 * Closings in force in a time zone, each with the last number that the next one contains (rule 5).
 * @param timeZone a parameter of the statement
 */
const closedIn = (timeZone: '$1' | '$2') => `
  closed as materialized (
    select to_at, last_transfer,
           lead(last_transfer, 1, 9223372036854775807) over (order by to_at) as next_last
      from period_closings where reopened_at is null and time_zone = ${timeZone})`;

/** Of a transfer `t`: whether it is booked at its effective time. */
const IS_IN_TIME = `
  t.id <= coalesce((select min(c.last_transfer) from closed c where c.to_at > t.effective_at),
                   9223372036854775807)`;

/** Of a closing `c` and a transfer `t`: whether it is a late posting that is booked at the closing's end. */
const IS_LATE = 't.id > c.last_transfer and t.id <= c.next_last and t.effective_at < c.to_at';

/** Transfers by the time of a basis: `at`, and the month to which late postings belong. */
const TIMED = {
  booked: `(
      select t.currency, t.leg, t.cumulative_minor, t.previous_minor, t.effective_at as at,
             null as late_of
        from transfers t
       where t.effective_at >= coalesce($2::timestamptz, '-infinity')
         and t.effective_at < coalesce($3::timestamptz, 'infinity') and ${IS_IN_TIME}
      union all
      select t.currency, t.leg, t.cumulative_minor, t.previous_minor, c.to_at,
             to_char(t.effective_at at time zone $1, 'YYYY-MM')
        from closed c join transfers t on ${IS_LATE}
       where c.to_at >= coalesce($2::timestamptz, '-infinity')
         and c.to_at < coalesce($3::timestamptz, 'infinity'))`,
  recorded: `(
      select currency, leg, cumulative_minor, previous_minor, recorded_at as at, null as late_of
        from transfers
       where recorded_at >= coalesce($2::timestamptz, '-infinity')
         and recorded_at < coalesce($3::timestamptz, 'infinity'))`,
} as const satisfies Record<DayBasis, string>;

/** A range of days, and what of it. */
export interface DaySelection {
  readonly basis: DayBasis;
  readonly timeZone: string;
  /** Microseconds since 1970; `from` belongs to it, `to` does not. */
  readonly fromMicros: number | undefined;
  readonly toMicros: number | undefined;
  readonly currency: string | undefined;
}

/** When a day such as `2026-10-31` begins in a time zone; microseconds since 1970. */
export async function readStartOfDay(
  tx: Queryable,
  day: string,
  timeZone: string,
): Promise<number> {
  const rows = await tx.query<{ startMicros: number }>(
    `select ${micros(startOfDay('$1::date::timestamp', '$2'))} as "startMicros"`,
    [day, timeZone],
  );
  return oneRow(rows).startMicros;
}

const ROWS_AT_ONCE = 1_000;

/** What each leg moved on each day, in the order of days, currencies and legs. Late postings are apart. */
export async function* readDaysMoved(
  tx: Queryable,
  { basis, timeZone, fromMicros, toMicros, currency }: DaySelection,
): AsyncGenerator<readonly DayMoved[], void> {
  const pages = fetchAll<SumsAsText<DayMoved>>(
    tx,
    'days_moved',
    `with ${closedIn('$1')}
     select to_char(day, 'YYYY-MM-DD') as day, late_of as "lateOf", currency, leg,
            moved::text as "movedMinor", transfers
       from (select (at at time zone $1)::date as day, late_of, currency, leg,
                    sum(cumulative_minor - previous_minor) as moved, count(*) as transfers
               from ${TIMED[basis]} timed
              where ($4::text is null or currency = $4)
              group by 1, 2, 3, 4) days
      order by days.day, currency, late_of nulls first, leg`,
    [timeZone, instantOrNull(fromMicros), instantOrNull(toMicros), currency ?? null],
  );
  for await (const rows of pages) {
    yield rows.map((row) => ({ ...row, movedMinor: BigInt(row.movedMinor) }));
  }
}

/** A transfer of a day. */
export interface DayRow extends JournalRow {
  /** The day of a late posting's effective time; null for any other. */
  readonly movedOn: string | null;
}

/** The transfers of one day that legs moved, in the order of their time. */
export async function* readTransfersOfDay(
  tx: Queryable,
  { basis, timeZone }: Pick<DaySelection, 'basis' | 'timeZone'>,
  moved: readonly Pick<DayMoved, 'day' | 'currency' | 'leg' | 'lateOf'>[],
): AsyncGenerator<readonly DayRow[], void> {
  const inTime = moved.filter(({ lateOf }) => lateOf === null);
  const late = moved.filter(({ lateOf }) => lateOf !== null);
  const pages = fetchAll<StoredJournalRow & Pick<DayRow, 'movedOn'>>(
    tx,
    'transfers_of_day',
    `with ${closedIn('$2')}
     select ${JOURNAL_COLUMNS}, moved_on as "movedOn"
       from (${OF_DAY[basis]}) t
       left join webhook_events e on e.id = t.webhook_event_id
       left join resources r on r.kind = t.kind and r.id = t.resource_id
      order by t.moved_on nulls last, t.${basis === 'booked' ? 'effective_at' : 'recorded_at'}, t.id`,
    [
      moved[0]?.day ?? null,
      timeZone,
      inTime.map(({ currency }) => currency),
      inTime.map(({ leg }) => leg),
      ...(basis === 'booked'
        ? [late.map(({ currency }) => currency), late.map(({ leg }) => leg)]
        : []),
    ],
  );
  for await (const rows of pages) {
    yield rows.map(({ movedOn, ...row }) => ({ ...toJournalRow(row), movedOn }));
  }
}

const WITHIN_DAY = (time: string) =>
  `${time} >= ${startOfDay('$1::date::timestamp', '$2')}
     and ${time} < ${startOfDay('($1::date + 1)::timestamp', '$2')}`;

/** The transfers of a day, through the index that each time has. */
const OF_DAY = {
  booked: `
      select t.*, null as moved_on
        from unnest($3::text[], $4::text[]) as wanted (wanted_currency, wanted_leg)
       cross join lateral (
         select * from transfers t
          where t.currency = wanted_currency and t.leg = wanted_leg
            and ${WITHIN_DAY('t.effective_at')} and ${IS_IN_TIME} offset 0) t
      union all
      select t.*, to_char(t.effective_at at time zone $2, 'YYYY-MM-DD')
        from closed c join transfers t on ${IS_LATE}
       where ${WITHIN_DAY('c.to_at')} and t.currency = any ($5) and t.leg = any ($6)`,
  recorded: `
      select t.*, null as moved_on from transfers t
       where t.currency = any ($3) and t.leg = any ($4) and ${WITHIN_DAY('t.recorded_at')}`,
} as const satisfies Record<DayBasis, string>;

/** What each leg had moved that was booked before a time; undefined: ever. */
export async function readBookedLegs(
  tx: Queryable,
  { timeZone, currency }: Pick<DaySelection, 'timeZone' | 'currency'>,
  beforeMicros: number | undefined,
): Promise<readonly LegSums[]> {
  const rows = await tx.query<SumsAsText<LegSums>>(
    `with ${closedIn('$1')}
     select currency, leg, sum(sign * greatest(moved, 0))::text as "upMinor",
            sum(sign * greatest(-moved, 0))::text as "downMinor"
       from (select 1 as sign, currency, leg, cumulative_minor - previous_minor as moved
               from transfers where effective_at < coalesce($2::timestamptz, 'infinity')
             union all
             -- What moved before the time and is booked later.
             select -1, t.currency, t.leg, t.cumulative_minor - t.previous_minor
               from closed c join transfers t on ${IS_LATE}
              where c.to_at >= $2 and t.effective_at < $2) moved
      where $3::text is null or currency = $3
      group by currency, leg
      order by currency, leg
      limit 10000`,
    [timeZone, instantOrNull(beforeMicros), currency ?? null],
  );
  return rows.map((row) => ({
    ...row,
    upMinor: BigInt(row.upMinor),
    downMinor: BigInt(row.downMinor),
  }));
}

async function* fetchAll<Row extends object>(
  tx: Queryable,
  cursor: 'days_moved' | 'transfers_of_day',
  select: string,
  values: readonly unknown[],
): AsyncGenerator<readonly Row[], void> {
  await tx.query(`declare ${cursor} no scroll cursor for ${select}`, values);
  for (;;) {
    const rows = await tx.query<Row>(`fetch forward ${ROWS_AT_ONCE} from ${cursor}`);
    if (rows.length === 0) break;
    yield rows;
  }
  await tx.query(`close ${cursor}`);
}
