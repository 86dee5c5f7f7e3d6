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
