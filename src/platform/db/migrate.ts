/**
 * Applies schema changes: our files in `migrations/`, forward only, and those of the queue's
 * PostgreSQL backend in its own schema `bullmq`. Several processes may run both at the same time.
 */
import { runMigrations as migrateQueue } from 'bullmq';
import pg from 'pg';
import { migrate } from 'postgres-migrations';
import { migrationsFolder } from './pendingMigrations.ts';

/** Applies all pending migrations. Returns the names of our files that were applied. */
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
