/** Whether a new database can hold the ledger. */
import { UsageError } from '../errors.ts';
import type { Queryable } from './database.ts';
import { oneRow } from './oneRow.ts';

/**
 * Checks a database without our tables. With another encoding than UTF-8, an event with a character that the
 * encoding lacks would fail, and with another schema, the tables would be where other users do not find them.
 * @throws UsageError before anything is changed
 */
export async function refuseUnsuitableDatabase(db: Queryable): Promise<void> {
  const rows = await db.query<{
    isNew: boolean;
    name: string;
    user: string;
    encoding: string;
    schema: string | null;
    searchPath: string;
    isOfAddress: boolean;
  }>(
    `select to_regclass('migrations') is null as "isNew", current_database() as name, current_user as user,
            current_setting('server_encoding') as encoding, current_schema() as schema,
            current_setting('search_path') as "searchPath",
            (select source = 'client' from pg_settings where name = 'search_path') as "isOfAddress"`,
  );
  const { isNew, name, user, encoding, schema, searchPath, isOfAddress } = oneRow(rows);
  if (!isNew) return;
  if (encoding !== 'UTF8') {
    const other = `"${name.replaceAll('"', '""')}_utf8"`;
    throw new UsageError(
      `The database ${name} has the encoding ${encoding}, which cannot store every character that an event may ` +
        `contain. Nothing was changed. Create another one for DATABASE_URL: create database ${other} encoding 'UTF8' locale 'C' template template0`,
    );
  }
  if (schema !== 'public') {
    const remedy = isOfAddress
      ? 'Remove search_path from the address of the database'
      : `Run: alter role "${user}" in database "${name}" set search_path = public`;
    throw new UsageError(
      `The tables of Tallyhook are in the schema public, but the search_path of the user ${user} in the database ` +
        `${name} (${searchPath}) leads to ${schema ?? 'no schema that exists'}. Nothing was changed. ${remedy}`,
    );
  }
}
