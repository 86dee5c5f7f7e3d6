/** Statements that sum the journal by effective time, and read what was open at the end of a period. */
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import type { Period } from '../../domain/period.ts';
import type { DaySums, LegSums, OpenItems, StatementFinding } from '../../domain/statement.ts';
import { instantOrNull } from '../../domain/time.ts';
import { SIGNED_LEGS } from '../../store/transferSums.ts';
import { micros, startOfDay } from './instants.ts';
import {
  daySumsOf,
  itemKey,
  itemKeys,
  type ListedItems,
  type OpenItemRow,
  openItemsOf,
  type SumsAsText,
} from './sums.ts';

/** The bounds of a month in a time zone, by the time zones of PostgreSQL, and the time now. */
export async function readPeriod(
  tx: Queryable,
  month: string,
  timeZone: string,
): Promise<Period & { readonly knownMicros: number }> {
  const rows = await tx.query<Record<'fromMicros' | 'toMicros' | 'knownMicros', number>>(
    `select ${micros(startOfDay('first', '$2'))} as "fromMicros",
            ${micros(startOfDay("(first + interval '1 month')", '$2'))} as "toMicros",
            ${micros('statement_timestamp()')} as "knownMicros"
       from (select ($1 || '-01')::timestamp as first) month`,
    [month, timeZone],
  );
  return { month, timeZone, ...oneRow(rows) };
}

/** Whether an earlier version posted transfers that have no effective time yet. */
export async function hasUndatedTransfers(tx: Queryable): Promise<boolean> {
  const rows = await tx.query('select 1 from transfers where effective_at is null limit 1');
  return rows.length > 0;
}

export interface EffectiveBounds {
  readonly currency: string | undefined;
  /** Only what was effective before it, and recorded before `knownMicros`. */
  readonly beforeMicros: number | undefined;
  readonly knownMicros?: number | undefined;
}

interface DaySelection {
  readonly currency: string | undefined;
  readonly lastTransfer?: number;
}

/** What each leg moved before a time. Without `knownMicros` it is read from the index alone. */
export async function readLegSums(
  tx: Queryable,
  { currency, beforeMicros, knownMicros }: EffectiveBounds,
): Promise<readonly LegSums[]> {
  const known = knownMicros === undefined ? '' : 'and recorded_at < $3';
  const rows = await tx.query<SumsAsText<LegSums>>(
    `select currency, leg, sum(greatest(cumulative_minor - previous_minor, 0))::text as "upMinor",
            sum(greatest(previous_minor - cumulative_minor, 0))::text as "downMinor"
       from transfers
      where effective_at < coalesce($1::timestamptz, 'infinity')
        and ($2::text is null or currency = $2) ${known}
      group by currency, leg
      order by currency, leg
      limit 10000`,
    [
      instantOrNull(beforeMicros),
      currency ?? null,
      ...(knownMicros === undefined ? [] : [instantOrNull(knownMicros)]),
    ],
  );
  return rows.map((row) => ({
    ...row,
    upMinor: BigInt(row.upMinor),
    downMinor: BigInt(row.downMinor),
  }));
}

/**
 * The movements of a period by day and leg. Transfers of one resource and leg with one effective time
 * are one movement, so corrections that take each other back do not count.
 * @param lastTransfer only transfers up to this number; undefined: all
 */
export async function readDaySums(
  tx: Queryable,
  { fromMicros, toMicros, timeZone }: Period,
  { currency, lastTransfer }: DaySelection,
): Promise<readonly DaySums[]> {
  const rows = await tx.query<SumsAsText<DaySums>>(
    `select currency, leg, to_char(effective_at at time zone $3, 'YYYY-MM-DD') as day,
            count(*) filter (where moved > 0) as ups, count(*) filter (where moved < 0) as downs,
            coalesce(sum(moved) filter (where moved > 0), 0)::text as "upMinor",
            coalesce(-sum(moved) filter (where moved < 0), 0)::text as "downMinor",
            count(*) filter (where recorded_at >= $2) as late,
            coalesce(sum(abs(moved)) filter (where recorded_at >= $2), 0)::text as "lateMinor"
       from (select currency, leg, resource_id, effective_at,
                    sum(cumulative_minor - previous_minor) as moved, max(recorded_at) as recorded_at
               from transfers
              where effective_at >= $1 and effective_at < $2
                and ($4::text is null or currency = $4) and ($5::bigint is null or id <= $5)
              group by currency, leg, resource_id, effective_at) movement
      where moved <> 0
      group by 1, 2, 3
      order by 1, 3, 2
      limit 100000`,
    [
      instantOrNull(fromMicros),
      instantOrNull(toMicros),
      timeZone,
      currency ?? null,
      lastTransfer ?? null,
    ],
  );
  return daySumsOf(rows);
}

/** What was under way before a time: its number and sum, and the oldest of each. */
export async function readOpenItems(
  tx: Queryable,
  { currency, beforeMicros }: EffectiveBounds,
  { most, unlisted }: ListedItems,
): Promise<readonly OpenItems[]> {
  const rows = await tx.query<OpenItemRow>(
    `with open as (
       select s.item, t.currency, t.resource_id as id, min(t.effective_at) as since,
              sum(s.sign * (t.cumulative_minor - t.previous_minor)) as open
         from (values ${SIGNED_LEGS}) as s (item, kind, leg, sign)
         join transfers t on t.leg = s.leg
        where t.effective_at < $1 and ($2::text is null or t.currency = $2)
              -- No item has it; the condition of the index transfers_leg.
              and t.leg <> 'captured'
        group by 1, 2, 3
       having sum(s.sign * (t.cumulative_minor - t.previous_minor)) <> 0
     )
     select item, currency, id, open::text, ${micros('since')} as "sinceMicros", count, sum::text
       from (select open.*, count(*) over own as count, sum(open) over own as sum,
                    -- Those that are not listed come last: without any other, they show the sums.
                    -- By a hash: "= any" would compare each with all of them.
                    row_number() over (partition by item, currency
                                           order by ${itemKey('open', 'open.id')} in (select unnest($4::text[])),
                                                    since, id) as place
               from open window own as (partition by item, currency)) placed
      where place <= $3
      order by item, currency, place
      limit 100000`,
    [instantOrNull(beforeMicros), currency ?? null, most, itemKeys(unlisted)],
  );
  return openItemsOf(rows);
}

const MAX_FINDINGS = 50;

const FINDING_COLUMNS = `
  id, class, subject, ${micros('opened_at')} as "openedMicros",
  (closed_at is null or closed_at >= $1) as "isOpen", ${micros('accepted_at')} as "acceptedMicros",
  accepted_by as "acceptedBy", accepted_reason as "acceptedReason"`;

/** The findings that were open at a time: how many, and the oldest. */
export async function readFindingsOpenAt(
  tx: Queryable,
  atMicros: number,
): Promise<{ readonly count: number; readonly oldest: readonly StatementFinding[] }> {
  const rows = await tx.query<StatementFinding & { readonly count: number }>(
    `select ${FINDING_COLUMNS}, count(*) over () as count
       from findings
      where opened_at < $1 and (closed_at is null or closed_at >= $1)
      order by opened_at, id
      limit $2`,
    [instantOrNull(atMicros), MAX_FINDINGS],
  );
  return {
    count: rows[0]?.count ?? 0,
    oldest: rows.map(({ count: _count, ...finding }) => finding),
  };
}

/** The findings that a person accepted in a period. */
export function readAcceptedFindings(
  tx: Queryable,
  { fromMicros, toMicros }: Period,
): Promise<readonly StatementFinding[]> {
  return tx.query<StatementFinding>(
    `select ${FINDING_COLUMNS}
       from findings
      where accepted_at >= $2 and accepted_at < $1
      order by accepted_at, id
      limit $3`,
    [instantOrNull(toMicros), instantOrNull(fromMicros), MAX_FINDINGS],
  );
}

/** The number of resources with a state that needs a retrieve. */
export async function countUncertain(tx: Queryable): Promise<number> {
  const rows = await tx.query<{ count: number }>(
    `select count(*) as count from resources where uncertainties <> '{}'`,
  );
  return rows[0]?.count ?? 0;
}
