/**
 * Schema changes of a component with its own schema, forward only, from its own folder.
 *
 * The library that runs the main migrations cannot do this: it treats any table named `migrations`, in
 * any schema, as its own, so one component's records would pass for the other's. It still reads the
 * files, which gives them one naming rule.
 */
import { loadMigrationFiles } from 'postgres-migrations';
import { OperatorError } from '../errors.ts';
import { connectToPrimary } from './primary.ts';

export interface SchemaMigrations {
  readonly connectionString: string;
  /** A plain lowercase name; it becomes part of SQL text. */
  readonly schema: string;
  readonly folder: string;
}

/**
 * Applies pending migrations, all or none. Several processes may call it concurrently; one applies them.
 * @returns the names of the files that were applied
 * @throws OperatorError when an applied file has changed
 */
export async function migrateSchema(options: SchemaMigrations): Promise<readonly string[]> {
  const { schema } = options;
  if (!/^[a-z_]+$/.test(schema)) throw new Error(`${schema} is not a plain schema name`);
  // File 0 is the library's own record table.
  const files = (await loadMigrationFiles(options.folder)).filter(({ id }) => id > 0);
  const client = await connectToPrimary({ connectionString: options.connectionString });
  try {
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtext('migrate ${schema}'))`);
    await client.query(`create schema if not exists ${schema}`);
    await client.query(
      `create table if not exists ${schema}.applied_migrations
         (id integer primary key, file_name text not null, hash text not null)`,
    );
    const { rows } = await client.query<{ id: number; hash: string }>(
      `select id, hash from ${schema}.applied_migrations order by id limit 10000`,
    );
    const applied = new Map(rows.map(({ id, hash }) => [id, hash]));
    const pending = files.filter(({ id }) => !applied.has(id));
    for (const { id, fileName, hash } of files) {
      if (applied.has(id) && applied.get(id) !== hash) throw wasEdited(schema, fileName);
    }
    for (const { id, fileName, hash, sql } of pending) {
      await client.query(sql);
      await client.query(
        `insert into ${schema}.applied_migrations (id, file_name, hash) values ($1, $2, $3)`,
        [id, fileName, hash],
      );
    }
    await client.query('commit');
    return pending.map(({ fileName }) => fileName);
  } finally {
    // An open transaction ends with its connection.
    await client.end();
  }
}

function wasEdited(schema: string, fileName: string): OperatorError {
  return new OperatorError(
    `The schema ${schema} was created by another version of ${fileName}, so its tables may differ from ` +
      `what this version expects. Return to that version, or drop the schema if you do not need its data.`,
  );
}
