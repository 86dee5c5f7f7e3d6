/** Which migrations are pending. Separate from migrate.ts, which loads the queue's library. */
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

export function migrationsFolder(): string {
  return join(packageRoot(), 'migrations');
}
