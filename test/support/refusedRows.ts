/** A database that fails at one kind of row. */
import type { Database } from '../../src/platform/db/database.ts';

/**
 * Has the database refuse rows of a table, as it does under contention.
 * @param when a condition on `new`
 * @returns what ends it
 */
export async function refuseRows(
  db: Database,
  table: string,
  when: string,
): Promise<() => Promise<void>> {
  await db.query(
    `create or replace function refuse_row() returns trigger language plpgsql as
     $$ begin raise exception 'could not serialize access' using errcode = '40001'; end $$`,
    [],
  );
  await db.query(
    `create trigger refuse_row before insert or update on ${table} for each row when (${when})
     execute function refuse_row()`,
    [],
  );
  return async () => {
    await db.query(`drop trigger refuse_row on ${table}`, []);
  };
}
