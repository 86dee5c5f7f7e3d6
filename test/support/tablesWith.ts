/** Searches a whole database for a text. */
import type { Database } from '../../src/platform/db/database.ts';

/** Tables with a row that contains the text, as it is or in hexadecimal. */
export async function tablesWith(db: Database, text: string): Promise<readonly string[]> {
  const tables = await db.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await db.query(
      `select 1 from ${name} t
        where strpos(t::text, $1) > 0 or strpos(t::text, encode(convert_to($1, 'UTF8'), 'hex')) > 0 limit 1`,
      [text],
    );
    if (row) found.push(name);
  }
  return found;
}
