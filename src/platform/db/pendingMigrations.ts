/**
 * Whether the schema is the one that this program needs. Separate from migrate.ts, which loads the libraries
 * that migrate: every process checks the schema, and reads only the names of the files.
 *
 * 1. A program refuses a schema that is older than it: migrations are pending.
 * 2. It accepts a newer one, because an upgrade runs versions side by side, unless a migration has removed
 *    what it uses (migrations/00060_schema-requirements.sql).
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { counted } from '../counted.ts';
import { OperatorError } from '../errors.ts';
import { packageRoot } from '../packageRoot.ts';
import type { Queryable } from './database.ts';
import { refuseUnsuitableDatabase } from './suitable.ts';

/** Names of our pending migration files, in order. */
export async function pendingMigrations(db: Queryable): Promise<readonly string[]> {
  const files = await readFiles();
  const [exists] = await db.query<{ present: boolean }>(
    `select to_regclass('migrations') is not null as present`,
  );
  if (!exists?.present) return files.map(({ fileName }) => fileName);
  const rows = await db.query<{ id: number }>('select id from migrations order by id limit 10000');
  const applied = new Set(rows.map(({ id }) => id));
  return files.filter(({ id }) => !applied.has(id)).map(({ fileName }) => fileName);
}

/** @throws OperatorError when the schema is older than the program, or is not found */
export async function refusePendingMigrations(db: Queryable): Promise<void> {
  const files = await pendingMigrations(db);
  if (files.length === 0) return;
  // Where the user finds another schema, all would seem to be pending.
  await refuseUnsuitableDatabase(db);
  throw new OperatorError(
    `${counted(files.length, 'migration')} pending: ${files.join(', ')}. ` +
      'Tallyhook would fail on the first event. Run: npx tallyhook migrate',
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

/** The number of this program's last migration. */
export async function lastMigration(): Promise<number> {
  return (await readFiles()).at(-1)?.id ?? 0;
}

interface MigrationFile {
  readonly id: number;
  readonly fileName: string;
}

let read: Promise<readonly MigrationFile[]> | undefined;

/** This program's migrations, in order: their names begin with their numbers. */
function readFiles(): Promise<readonly MigrationFile[]> {
  read ??= readdir(migrationsFolder()).then((names) =>
    names
      .filter((name) => name.endsWith('.sql'))
      .map((fileName) => ({ id: Number.parseInt(fileName, 10), fileName }))
      .toSorted((a, b) => a.id - b.id),
  );
  return read;
}

export function migrationsFolder(): string {
  return join(packageRoot(), 'migrations');
}
