/**
 * Statements that write closings of months, and compare them with the journal.
 * docs/decisions/0118-closing-a-month.md
 *
 * What a closing contains follows from `last_transfer` and effective times alone (domain/closings.ts), so
 * every statement here returns the same at any later time.
 */
import { lockByName } from '../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import type { Closing, ClosingException } from '../domain/closings.ts';
import type { Period } from '../domain/period.ts';
import { formatInstant } from '../domain/time.ts';
import { COMPARED, type Compared, textsOf } from './comparedSums.ts';

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

/** A closing, and the closing of the month before it. */
export interface ClosingSpan {
  readonly id: number;
  readonly period: Period;
  readonly lastTransfer: number;
  readonly previous: { readonly id: number; readonly lastTransfer: number } | undefined;
}

/**
 * What a closing adds to the one before it: its own month, and late postings to the months before. The
 * parameters are those of `valuesOf`.
 */
const ADDED_DAYS = `
  select (effective_at at time zone $5)::date as day, currency, leg,
         count(*) filter (where moved > 0) as ups, count(*) filter (where moved < 0) as downs,
         sum(greatest(moved, 0)) as up_minor, sum(greatest(-moved, 0)) as down_minor,
         count(*) filter (where moved <> 0 and recorded_at >= $3) as late,
         coalesce(sum(abs(moved)) filter (where recorded_at >= $3), 0) as late_minor,
         sum(posted_up) as posted_up_minor, sum(posted_down) as posted_down_minor
    from (select currency, leg, resource_id, effective_at, max(recorded_at) as recorded_at,
                 sum(moved) as moved, sum(greatest(moved, 0)) as posted_up,
                 sum(greatest(-moved, 0)) as posted_down
            from (select currency, leg, resource_id, effective_at, recorded_at,
                         cumulative_minor - previous_minor as moved
                    from transfers
                   where effective_at >= $2 and effective_at < $3 and id <= $4
                  union all
                  select currency, leg, resource_id, effective_at, recorded_at,
                         cumulative_minor - previous_minor
                    from transfers
                   where id > $6 and id <= $4 and effective_at < $2) posted
           group by 1, 2, 3, 4) movement
   group by 1, 2, 3`;

/** What the legs had posted before the month, as the month before it was closed. */
const OPENING = (hasPrevious: boolean) =>
  hasPrevious
    ? `select currency, leg, posted_up_minor, posted_down_minor
         from closing_balances where closing_id = $7`
    : `select currency, leg, sum(greatest(cumulative_minor - previous_minor, 0)) as posted_up_minor,
              sum(greatest(previous_minor - cumulative_minor, 0)) as posted_down_minor
         from transfers
        where effective_at < $2 and id <= $4
        group by 1, 2`;

function valuesOf({ id, period, lastTransfer, previous }: ClosingSpan): readonly unknown[] {
  return [
    id,
    formatInstant(period.fromMicros),
    formatInstant(period.toMicros),
    lastTransfer,
    period.timeZone,
    previous?.lastTransfer ?? lastTransfer,
    ...(previous ? [previous.id] : []),
  ];
}

/** Adds up the journal for a closing, and keeps the sums. */
export async function insertClosingSums(tx: Queryable, closing: ClosingSpan): Promise<void> {
  const { previous } = closing;
  await tx.query(
    `with added as materialized (${ADDED_DAYS}),
     days as (
       insert into closing_days (closing_id, day, currency, leg, ups, downs, up_minor, down_minor, late,
                                 late_minor, posted_up_minor, posted_down_minor)
       select $1, day, currency, leg, ups, downs, up_minor, down_minor, late, late_minor,
              posted_up_minor, posted_down_minor
         from added)
     insert into closing_balances (closing_id, currency, leg, posted_up_minor, posted_down_minor)
     select $1, currency, leg, sum(posted_up_minor), sum(posted_down_minor)
       from (${OPENING(previous !== undefined)}
             union all
             select currency, leg, posted_up_minor, posted_down_minor from added) parts
      group by currency, leg`,
    valuesOf(closing),
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

/** Compares the sums of a closing with the journal. */
export async function compareClosing(tx: Queryable, closing: ClosingSpan): Promise<Compared> {
  const { previous } = closing;
  const name = (rest: string) =>
    `'closing:${closing.period.month}:' || currency || ':' || leg || ${rest}`;
  const rows = await tx.query<Compared>(
    `with expected as materialized (${ADDED_DAYS}),
     stored as (
       select day, currency, leg, ups, downs, up_minor, down_minor, late, late_minor, posted_up_minor,
              posted_down_minor
         from closing_days where closing_id = $1),
     expected_balances as (
       select currency, leg, sum(posted_up_minor) as posted_up_minor,
              sum(posted_down_minor) as posted_down_minor
         from (${OPENING(previous !== undefined)}
               union all
               select currency, leg, posted_up_minor, posted_down_minor from expected) parts
        group by currency, leg),
     stored_balances as (
       select currency, leg, posted_up_minor, posted_down_minor
         from closing_balances where closing_id = $1),
     both_of as (
       select ${name(`':' || to_char(day, 'YYYY-MM-DD')`)} as subject,
              ${textsOf('e', DAY_SUMS)} as expected, ${textsOf('s', DAY_SUMS)} as stored
         from expected e full join stored s using (day, currency, leg)
       union all
       select ${name(`':closing'`)}, ${textsOf('e', BALANCE_SUMS)}, ${textsOf('s', BALANCE_SUMS)}
         from expected_balances e full join stored_balances s using (currency, leg))
     ${COMPARED}`,
    valuesOf(closing),
  );
  return oneRow(rows);
}
