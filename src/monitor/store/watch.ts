/** Statements on what the watch over the system counts and reads. Time is the database's. */

import type { Queryable } from '../../platform/db/database.ts';

export type CountName = 'signature_mismatched' | 'signature_unsigned' | 'rate_exhausted';

/** Adds to the counts of this minute. Names are distinct. */
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

/** Removes counts that no rule looks at any more. */
export async function removeOldCounts(db: Queryable): Promise<void> {
  await db.query(
    `delete from watch_counts where minute < statement_timestamp() - interval '1 day'`,
  );
}

/** How much was counted, and in how many minutes. */
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
