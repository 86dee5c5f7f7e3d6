/**
 * Whether the schema is the one that this program needs. Separate from migrate.ts, which loads the queue's
 * library.
 *
 * 1. A program refuses a schema that is older than it: migrations are pending.
 * 2. It accepts a newer one, because an upgrade runs versions side by side, unless a migration has removed
 *    what it uses (migrations/00060_schema-requirements.sql).
 */
import { join } from 'node:path';
import { loadMigrationFiles } from 'postgres-migrations';
import { OperatorError } from '../errors.ts';
import { packageRoot } from '../packageRoot.ts';
import type { Queryable } from './database.ts';

/** Names of our pending migration files, in order. */
export async function pendingMigrations(db: Queryable): Promise<readonly string[]> {
  const files = (await loadMigrationFiles(migrationsFolder())).filter(({ id }) => id > 0);
  const [exists] = await db.query<{ present: boolean }>(
    `select to_regclass('migrations') is not null as present`,
  );
  if (!exists?.present) return files.map(({ fileName }) => fileName);
  const rows = await db.query<{ id: number }>('select id from migrations order by id limit 10000');
  const applied = new Set(rows.map(({ id }) => id));
  return files.filter(({ id }) => !applied.has(id)).map(({ fileName }) => fileName);
}

/** @throws OperatorError when the schema is older than the program */
export async function refusePendingMigrations(db: Queryable): Promise<void> {
  const files = await pendingMigrations(db);
  if (files.length === 0) return;
  throw new OperatorError(
    `${files.length} migration(s) are pending: ${files.join(', ')}. ` +
      'Without them, Tallyhook would fail on the first event. Run: npx tallyhook migrate',
  );
}

/** @throws OperatorError when the schema has lost what this program uses */
export async function refuseNewerSchema(db: Queryable): Promise<void> {
  const required = await readRequiredMigration(db);
  const own = await lastMigration();
  if (required <= own) return;
  throw new OperatorError(
    `The database was upgraded for a newer version of Tallyhook: it needs migration ${required}, and ` +
      `this version has migrations up to ${own}. Start the newer version. To return to this one, restore ` +
      'the backup from before the upgrade.',
  );
}

/** The last migration of the oldest version that can use the schema. */
export async function readRequiredMigration(db: Queryable): Promise<number> {
  const [row] = await db.query<{ migration: number }>(
    'select migration from schema_requirements limit 1',
  );
  return row?.migration ?? 0;
}

let last: Promise<number> | undefined;

/** The number of this program's last migration. */
export function lastMigration(): Promise<number> {
  last ??= loadMigrationFiles(migrationsFolder()).then((files) =>
    Math.max(...files.map(({ id }) => id)),
  );
  return last;
}

export function migrationsFolder(): string {
  return join(packageRoot(), 'migrations');
}
