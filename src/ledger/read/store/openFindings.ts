/** Statements that count and date open findings, for other modules. */
import type { Queryable } from '../../../platform/db/database.ts';

/** How many findings are open and not accepted. */
export async function countOpenFindings(db: Queryable): Promise<number> {
  const rows = await db.query<{ open: number }>(
    `select count(*) as open from findings where state = 'open' and accepted_at is null`,
  );
  return rows[0]?.open ?? 0;
}

/** When the oldest open finding of a class was opened, in milliseconds since 1970. */
export async function readOldestFindingMs(
  db: Queryable,
  findingClass: string,
): Promise<number | null> {
  const rows = await db.query<{ openedMs: number | null }>(
    `select (extract(epoch from min(opened_at)) * 1000)::bigint as "openedMs"
       from findings
      where class = $1 and state = 'open' and accepted_at is null`,
    [findingClass],
  );
  return rows[0]?.openedMs ?? null;
}
