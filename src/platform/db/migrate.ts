/**
 * Applies schema changes: our files in `migrations/`, forward only, and those of the queue's
 * PostgreSQL backend in its own schema `bullmq`; then the rights of the database roles on both.
 * Several processes may run it at the same time.
 */
import { runMigrations as migrateQueue } from 'bullmq';
import pg from 'pg';
import { migrate } from 'postgres-migrations';
import type { Queryable } from './database.ts';
import { migrationsFolder } from './pendingMigrations.ts';
import { applyRights } from './rights.ts';

export interface Migrated {
  /** The names of our files that were applied. */
  readonly applied: readonly string[];
  /** Statements on roles and rights that the user may not run; an administrator must. */
  readonly refused: readonly string[];
}

/** Applies all pending migrations, and the rights of the database roles. */
export async function migrateDatabase(connectionString: string): Promise<Migrated> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const applied = await migrate({ client }, migrationsFolder());
    await migrateQueue(client);
    // The library records its own bookkeeping table as migration 0.
    const files = applied.filter(({ id }) => id > 0).map(({ fileName }) => fileName);
    return { applied: files, refused: await applyRights(queryableOf(client)) };
  } finally {
    await client.end();
  }
}

function queryableOf(client: pg.Client): Queryable {
  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const { rows } = await client.query<Row>(text, values && [...values]);
      return rows;
    },
  };
}
