/**
 * Statements that read the journal by the day on which money moved, or was recorded, in a time zone.
 *
 * 1. Days are days of the time zone, by the time zones of PostgreSQL.
 * 2. Rows are fetched from cursors, so memory does not grow with the journal. A cursor lives in the
 *    transaction that declares it.
 * 3. The transfers of one day are sorted at a time. By effective time they are found by currency and leg,
 *    as the index has them.
 */
import type { Queryable } from '../../../platform/db/database.ts';
import type { DayMoved } from '../../domain/entries.ts';
import type { JournalRow } from '../../domain/journalFormats.ts';
import { instantOrNull, micros } from './instants.ts';
import { JOURNAL_COLUMNS, type StoredJournalRow, toJournalRow } from './journalRow.ts';
import type { SumsAsText } from './sums.ts';

/** Which of the two times of a transfer decides its day. */
export type TimeBasis = 'effective' | 'recorded';

const COLUMNS = { effective: 'effective_at', recorded: 'recorded_at' } as const;

/** A range of days, and what of it. */
export interface DaySelection {
  readonly basis: TimeBasis;
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
    `select ${micros('$1::date::timestamp at time zone $2')} as "startMicros"`,
    [day, timeZone],
  );
  const [row] = rows;
  if (!row) throw new Error('a select without a condition returned no row');
  return row.startMicros;
}

const ROWS_AT_ONCE = 1_000;

/** What each leg moved on each day, in the order of days, currencies and legs. */
export async function* readDaysMoved(
  tx: Queryable,
  { basis, timeZone, fromMicros, toMicros, currency }: DaySelection,
): AsyncGenerator<readonly DayMoved[], void> {
  const time = COLUMNS[basis];
  const pages = fetchAll<SumsAsText<DayMoved>>(
    tx,
    'days_moved',
    `select to_char(day, 'YYYY-MM-DD') as day, currency, leg, moved::text as "movedMinor", transfers
       from (select (${time} at time zone $1)::date as day, currency, leg,
                    sum(cumulative_minor - previous_minor) as moved, count(*) as transfers
               from transfers
              where ${time} >= coalesce($2::timestamptz, '-infinity')
                and ${time} < coalesce($3::timestamptz, 'infinity')
                and ($4::text is null or currency = $4)
              group by 1, 2, 3) days
      order by days.day, currency, leg`,
    [timeZone, instantOrNull(fromMicros), instantOrNull(toMicros), currency ?? null],
  );
  for await (const rows of pages) {
    yield rows.map((row) => ({ ...row, movedMinor: BigInt(row.movedMinor) }));
  }
}

/** The transfers of one day that legs moved, in the order of their time. */
export async function* readTransfersOfDay(
  tx: Queryable,
  { basis, timeZone }: Pick<DaySelection, 'basis' | 'timeZone'>,
  moved: readonly Pick<DayMoved, 'day' | 'currency' | 'leg'>[],
): AsyncGenerator<readonly JournalRow[], void> {
  const time = COLUMNS[basis];
  const pages = fetchAll<StoredJournalRow>(
    tx,
    'transfers_of_day',
    `select ${JOURNAL_COLUMNS}
       from ${OF_DAY[basis]} t
       left join webhook_events e on e.id = t.webhook_event_id
       left join resources r on r.kind = t.kind and r.id = t.resource_id
      order by t.${time}, t.id`,
    [
      moved[0]?.day ?? null,
      timeZone,
      moved.map(({ currency }) => currency),
      moved.map(({ leg }) => leg),
    ],
  );
  for await (const rows of pages) yield rows.map(toJournalRow);
}

const BOUNDS = (time: string) =>
  `t.${time} >= ($1::date::timestamp at time zone $2)
     and t.${time} < (($1::date + 1)::timestamp at time zone $2)`;

/** The transfers of a day, through the index that each time has. */
const OF_DAY = {
  effective: `unnest($3::text[], $4::text[]) as wanted (wanted_currency, wanted_leg)
      cross join lateral (
        select * from transfers t
         where t.currency = wanted_currency and t.leg = wanted_leg
           and ${BOUNDS(COLUMNS.effective)} offset 0)`,
  recorded: `(
        select * from transfers t
         where t.currency = any ($3) and t.leg = any ($4) and ${BOUNDS(COLUMNS.recorded)})`,
} as const satisfies Record<TimeBasis, string>;

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
