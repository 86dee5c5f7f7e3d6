/** Statements of the system watch. Times are the database's. */

import type { Queryable } from '../../platform/db/database.ts';
import { oneRow } from '../../platform/db/oneRow.ts';
import type { Mismatched } from '../domain/facts.ts';

export type CountName =
  | 'signature_mismatched'
  | 'signature_unsigned'
  | 'rate_limit_exhausted'
  | 'receiver_running';

/** Adds to the counts of the current minute. Names are distinct. */
export async function addCounts(
  db: Queryable,
  counts: readonly { readonly name: CountName; readonly count: number }[],
): Promise<void> {
  await db.query(
    `insert into watch_counts as c (minute, name, count)
     select date_trunc('minute', statement_timestamp()), name, count
       from unnest($1::text[], $2::bigint[]) as u (name, count)
      order by name
     on conflict (minute, name) do update set count = c.count + excluded.count`,
    [counts.map(({ name }) => name), counts.map(({ count }) => count)],
  );
}

/**
 * Deletes counts that no rule reads anymore. Rules read those of a day; that a receiver runs has to be known for
 * longer than the day within which missed webhooks count.
 */
export async function removeOldCounts(db: Queryable): Promise<void> {
  await db.query(
    `delete from watch_counts where minute < statement_timestamp() - interval '2 days'`,
  );
}

/** A restart or an upgrade is over sooner. */
const SHORTEST_ABSENCE = `interval '3 minutes'`;

/**
 * Since when receivers have run without an absence, in milliseconds since 1970, as far as the counts show: at most
 * two days. Null before the first count.
 */
export async function readReceivingSinceMs(db: Queryable): Promise<number | null> {
  const [row] = await db.query<{ sinceMs: number | null }>(
    `select (extract(epoch from max(minute)) * 1000)::bigint as "sinceMs"
       from (select minute, lag(minute) over (order by minute) as previous
               from watch_counts
              where name = 'receiver_running') as counted
      where previous is null or minute - previous > ${SHORTEST_ABSENCE}`,
  );
  return row?.sinceMs ?? null;
}

/** The sum of a count within a window, and in how many minutes it was counted. */
export async function readCount(
  db: Queryable,
  name: CountName,
  windowMs: number,
): Promise<{ readonly count: number; readonly minutes: number }> {
  const rows = await db.query<{ count: number; minutes: number }>(
    `select coalesce(sum(count), 0)::bigint as count, count(*) as minutes
       from watch_counts
      where name = $1 and minute > statement_timestamp() - $2 * interval '1 millisecond'`,
    [name, windowMs],
  );
  return rows[0] ?? { count: 0, minutes: 0 };
}

/** A receiver writes its counts after this time; a count belongs to the minute in which it was written. */
const WRITTEN_WITHIN = `interval '10 seconds'`;

/** Deliveries with a wrong signature in the minutes that began after the last webhook. */
export async function readMismatchedSince(
  db: Queryable,
  lastWebhookMs: number | null,
  windowMs: number,
): Promise<Mismatched> {
  const rows = await db.query<Mismatched>(
    `select coalesce(sum(count), 0)::bigint as total,
            coalesce(sum(count) filter (
              where minute > statement_timestamp() - $2 * interval '1 millisecond'), 0)::bigint
              as recent,
            (coalesce(extract(epoch from min(minute)), 0) * 1000)::bigint as "firstMs",
            (coalesce(extract(epoch from max(minute)), 0) * 1000)::bigint as "lastMs"
       from watch_counts
      where name = 'signature_mismatched'
        and minute > statement_timestamp() - interval '1 day'
        and ($1::double precision is null
             or minute > to_timestamp($1::double precision / 1000) + ${WRITTEN_WITHIN})`,
    [lastWebhookMs, windowMs],
  );
  return oneRow(rows);
}
