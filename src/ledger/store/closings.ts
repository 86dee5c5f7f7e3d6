/**
 * Statements that write closings of months, and add the journal up for them in parts (sumClosing.ts).
 * docs/decisions/0118-closing-a-month.md
 *
 * What a closing contains follows from `last_transfer` and effective times alone (domain/closings.ts), so
 * every statement here returns the same at any later time.
 */
import { lockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import { keysetPages } from '../../platform/keyset.ts';
import type { Closing, ClosingException, ClosingSum } from '../domain/closings.ts';
import type { Period } from '../domain/period.ts';
import { formatInstant } from '../domain/time.ts';
import { textsOf } from './comparedSums.ts';

/** Lets one transaction at a time close and reopen, until it ends. */
export async function lockClosings(tx: Queryable): Promise<void> {
  await lockByName(tx, 'tallyhook closings');
}

/** The last number that a transfer got, committed or not. */
export async function readLastTransferNumber(tx: Queryable): Promise<number> {
  const rows = await tx.query<{ last: number }>('select last_transfer_number() as last');
  return oneRow(rows).last;
}

/** The transactions that may have inserted transfers and are not over. */
export async function readJournalWriters(tx: Queryable): Promise<readonly string[]> {
  const rows = await tx.query<{ writer: string }>(
    `select virtualtransaction as writer
       from pg_locks
      where locktype = 'relation' and relation = 'transfers'::regclass and granted
            and database = (select oid from pg_database where datname = current_database())
            and mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
      limit 10000`,
  );
  return rows.map(({ writer }) => writer);
}

export interface NewClosing {
  readonly period: Period;
  readonly version: number;
  readonly previous: Closing | undefined;
  readonly lastTransfer: number;
  readonly by: string;
  readonly reason: string | undefined;
  readonly exceptions: readonly ClosingException[];
}

/** @returns its number */
export async function insertClosing(tx: Queryable, closing: NewClosing): Promise<number> {
  const { period, version, previous, lastTransfer, by, reason, exceptions } = closing;
  const rows = await tx.query<{ id: number }>(
    `insert into period_closings (month, version, time_zone, from_at, to_at, previous_id, last_transfer,
                                  closed_by, reason, exceptions)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     returning id`,
    [
      period.month,
      version,
      period.timeZone,
      formatInstant(period.fromMicros),
      formatInstant(period.toMicros),
      previous?.id ?? null,
      lastTransfer,
      by,
      reason ?? null,
      JSON.stringify(exceptions),
    ],
  );
  return oneRow(rows).id;
}

/** Records that a month was reopened. */
export async function markReopened(
  tx: Queryable,
  id: number,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> {
  await tx.query(
    `update period_closings
        set reopened_at = statement_timestamp(), reopened_by = $2, reopened_reason = $3
      where id = $1`,
    [id, by, reason],
  );
}

const DAY_SUMS = [
  'ups',
  'downs',
  'up_minor',
  'down_minor',
  'late',
  'late_minor',
  'posted_up_minor',
  'posted_down_minor',
];
const BALANCE_SUMS = ['posted_up_minor', 'posted_down_minor'];

/** Numbers of transfers: greater than `after`, up to and including `until`. */
export interface NumberSpan {
  readonly after: number;
  readonly until: number;
}

/** Times in microseconds since 1970: `from` belongs to it, `to` does not. */
export interface TimeSpan {
  readonly fromMicros: number;
  readonly toMicros: number;
}

/** What transfers of a span of numbers posted before a time. */
export function readPostedBefore(
  tx: Queryable,
  { after, until }: NumberSpan,
  beforeMicros: number,
): Promise<readonly ClosingSum[]> {
  return tx.query<ClosingSum>(
    `select currency, leg, null as day, ${textsOf('p', BALANCE_SUMS)} as sums
       from (select currency, leg, sum(greatest(cumulative_minor - previous_minor, 0)) as posted_up_minor,
                    sum(greatest(previous_minor - cumulative_minor, 0)) as posted_down_minor
               from transfers
              where id > $1 and id <= $2 and effective_at < $3
              group by 1, 2) p
      limit 10000`,
    [after, until, formatInstant(beforeMicros)],
  );
}

/** The days, as in UTC, on which transfers of a span of numbers were effective before a time. */
export async function readDaysBefore(
  tx: Queryable,
  { after, until }: NumberSpan,
  beforeMicros: number,
): Promise<readonly number[]> {
  const rows = await tx.query<{ dayMicros: number }>(
    `select distinct (extract(epoch from date_trunc('day', effective_at, 'UTC')) * 1000000)::bigint
            as "dayMicros"
       from transfers
      where id > $1 and id <= $2 and effective_at < $3
      order by 1
      limit 100000`,
    [after, until, formatInstant(beforeMicros)],
  );
  return rows.map(({ dayMicros }) => dayMicros);
}

/**
 * What transfers of a span of numbers posted within a span of effective time, by day. Transfers with one effective time
 * are one movement, so spans of time divide it exactly.
 * @param period the month that is closed: it has the time zone, and after its end transfers are late
 */
export function readPostedDays(
  tx: Queryable,
  { numbers, times, period }: PostedSpan,
): Promise<readonly ClosingSum[]> {
  return tx.query<ClosingSum>(
    `select currency, leg, to_char(day, 'YYYY-MM-DD') as day, ${textsOf('d', DAY_SUMS)} as sums
       from (select (effective_at at time zone $5)::date as day, currency, leg,
                    count(*) filter (where moved > 0) as ups, count(*) filter (where moved < 0) as downs,
                    sum(greatest(moved, 0)) as up_minor, sum(greatest(-moved, 0)) as down_minor,
                    count(*) filter (where moved <> 0 and recorded_at >= $6) as late,
                    coalesce(sum(abs(moved)) filter (where recorded_at >= $6), 0) as late_minor,
                    sum(posted_up) as posted_up_minor, sum(posted_down) as posted_down_minor
               from (select currency, leg, resource_id, effective_at, max(recorded_at) as recorded_at,
                            sum(moved) as moved, sum(greatest(moved, 0)) as posted_up,
                            sum(greatest(-moved, 0)) as posted_down
                       from (select currency, leg, resource_id, effective_at, recorded_at,
                                    cumulative_minor - previous_minor as moved
                               from transfers
                              where effective_at >= $1 and effective_at < $2 and id > $3 and id <= $4) posted
                      group by 1, 2, 3, 4) movement
              group by 1, 2, 3) d
      limit 100000`,
    [
      formatInstant(times.fromMicros),
      formatInstant(times.toMicros),
      numbers.after,
      numbers.until,
      period.timeZone,
      formatInstant(period.toMicros),
    ],
  );
}

interface PostedSpan {
  readonly numbers: NumberSpan;
  readonly times: TimeSpan;
  readonly period: Period;
}

/** Keeps the sums of a closing. */
export async function insertClosingSums(
  tx: Queryable,
  id: number,
  { days, balances }: Readonly<Record<'days' | 'balances', readonly ClosingSum[]>>,
): Promise<void> {
  await tx.query(
    `insert into closing_days (closing_id, day, currency, leg, ${DAY_SUMS.join(', ')})
     select $1, day, currency, leg, ${DAY_SUMS.join(', ')}
       from jsonb_to_recordset($2::jsonb) as d (
              day date, currency text, leg text, ups bigint, downs bigint, up_minor numeric,
              down_minor numeric, late bigint, late_minor numeric, posted_up_minor numeric,
              posted_down_minor numeric)`,
    [id, recordsOf(days)],
  );
  await tx.query(
    `insert into closing_balances (closing_id, currency, leg, ${BALANCE_SUMS.join(', ')})
     select $1, currency, leg, ${BALANCE_SUMS.join(', ')}
       from jsonb_to_recordset($2::jsonb) as b (
              currency text, leg text, posted_up_minor numeric, posted_down_minor numeric)`,
    [id, recordsOf(balances)],
  );
}

function recordsOf(rows: readonly ClosingSum[]): string {
  return JSON.stringify(
    rows.map(({ day, currency, leg, sums }) => ({ day, currency, leg, ...sums })),
  );
}

const DAYS_AT_ONCE = 10_000;

/**
 * The stored sums of a closing by day, in the form in which they are added up. An import of years into a closed ledger
 * gives the next closing hundreds of thousands, so they are read in pages.
 * @param currency undefined: every currency
 */
export async function readStoredDays(
  tx: Queryable,
  id: number,
  currency?: string,
): Promise<readonly ClosingSum[]> {
  const days: ClosingSum[] = [];
  const pages = keysetPages<ClosingSum>(DAYS_AT_ONCE, (last, limit) =>
    tx.query<ClosingSum>(
      `select currency, leg, to_char(day, 'YYYY-MM-DD') as day, ${textsOf('d', DAY_SUMS)} as sums
         from closing_days d
        where closing_id = $1 and ($2::text is null or currency = $2)
              and (d.day, d.currency, d.leg) > ($3::date, $4, $5)
        order by d.day, d.currency, d.leg
        limit $6`,
      [
        id,
        currency ?? null,
        last?.day ?? '-infinity',
        last?.currency ?? '',
        last?.leg ?? '',
        limit,
      ],
    ),
  );
  for await (const page of pages) days.push(...page);
  return days;
}

/** The stored balances of a closing. */
export function readStoredBalances(tx: Queryable, id: number): Promise<readonly ClosingSum[]> {
  return tx.query<ClosingSum>(
    `select currency, leg, null as day, ${textsOf('b', BALANCE_SUMS)} as sums
       from closing_balances b
      where closing_id = $1
      limit 10000`,
    [id],
  );
}
