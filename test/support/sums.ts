/** Stored sums of a journal that a test has just recorded. */
import { sumNext } from '../../src/ledger/sumTransfers.ts';
import type { Database } from '../../src/platform/db/database.ts';

/**
 * Spreads the times of recording over the days before now, in the order of the numbers, as only the owner of
 * the table can. The last tenth stays within the hour that no step adds.
 */
export async function recordLongAgo(db: Database, days: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('alter table transfers disable trigger all');
    await tx.query(
      `update transfers t
          set recorded_at = case when share < 0.9 then now() - interval '2 hours' - (0.9 - share) * $1 * interval '1 day'
                                 else now() - (1 - share) * interval '5 minutes' end
         from (select id, percent_rank() over (order by id) as share from transfers) placed
        where placed.id = t.id`,
      [days],
    );
    await tx.query('alter table transfers enable trigger all');
  });
}

/** Runs steps until nothing is left to add. */
export async function sumAll(db: Database, limit = 1_000): Promise<void> {
  while (await sumNext(db, limit));
}

/** Sums as a step will have made them in some hours. */
export async function sumEverything(db: Database): Promise<void> {
  await recordLongAgo(db, 40);
  await sumAll(db);
}
