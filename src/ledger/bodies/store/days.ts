/** Statements on the partitions of bodies, one for each day in UTC. */
import type { Queryable } from '../../../platform/db/database.ts';

/**
 * Makes the missing partitions of today and of the next days. Any number of processes may call it at
 * the same time. Fails with a lock timeout rather than hold up intake.
 * @returns how many it made
 */
export async function ensureBodyDays(db: Queryable, daysAhead: number): Promise<number> {
  const [row] = await db.query<{ made: number }>('select ensure_body_days($1) as made', [
    daysAhead,
  ]);
  return row?.made ?? 0;
}

/** The first day with bodies, YYYY-MM-DD; null if retention has removed none. */
export async function readFirstBodyDay(db: Queryable): Promise<string | null> {
  const [row] = await db.query<{ day: string | null }>(
    `select (max(day) + 1)::text as day from body_days where state = 'removed'`,
  );
  return row?.day ?? null;
}

/** An event with a body that stops the packing of its day. */
export interface DamagedBody {
  readonly eventId: number;
  /** YYYY-MM-DD. */
  readonly day: string;
}

/** Damaged bodies that packing found, oldest first. */
export function readDamagedBodies(db: Queryable, limit: number): Promise<readonly DamagedBody[]> {
  return db.query<DamagedBody>(
    `select u.id as "eventId", d.day::text as day
       from body_days d
      cross join lateral unnest(d.damaged_event_ids) as u (id)
      where d.state = 'open'
      order by d.day, u.id
      limit $1`,
    [limit],
  );
}

/** More partitions than any process makes ahead. */
const MAX_DAYS_AHEAD = 60;

/**
 * For how many days after today the partitions exist without a gap; -1 if today's is missing.
 * Reads the catalog and not `body_days`, because an insert needs the partition.
 */
export async function readBodyDaysAhead(db: Queryable): Promise<number> {
  const [row] = await db.query<{ ahead: number }>(
    `select min(n) - 1 as ahead
       from generate_series(0, $1::integer) as n
      where not exists (
              select from pg_inherits i
                join pg_class c on c.oid = i.inhrelid
               where i.inhparent = 'webhook_bodies'::regclass
                 and c.relname = 'webhook_bodies_'
                       || to_char((now() at time zone 'UTC')::date + n, 'YYYYMMDD'))`,
    [MAX_DAYS_AHEAD],
  );
  return row?.ahead ?? MAX_DAYS_AHEAD;
}
