/**
 * Schema changes: our files in `migrations/`, forward only, and those of the queue's PostgreSQL
 * backend, which brings its own into its schema `bullmq`. Both are safe with several starters.
 */
import { join } from 'node:path';
import { runMigrations as migrateQueue } from 'bullmq';
import pg from 'pg';
import { loadMigrationFiles, migrate } from 'postgres-migrations';
import { packageRoot } from '../packageRoot.ts';
import type { Queryable } from './database.ts';

/** Applies everything that is pending. Returns the names of our files that were applied. */
export async function migrateDatabase(connectionString: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const applied = await migrate({ client }, migrationsFolder());
    await migrateQueue(client);
    // The library records its own bookkeeping table as migration 0.
    return applied.filter(({ id }) => id > 0).map(({ fileName }) => fileName);
  } finally {
    await client.end();
  }
}

/** Names of our migration files that the database does not have yet, in order. */
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

function migrationsFolder(): string {
  return join(packageRoot(), 'migrations');
}
