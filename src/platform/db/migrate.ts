/**
 * Applies schema changes: our files in `migrations/`, forward only, and those of the queue's
 * PostgreSQL backend in its own schema `bullmq`; then the rights of the database roles on both.
 * Several processes may run it at the same time.
 */
import { runMigrations as migrateQueue } from 'bullmq';
import type pg from 'pg';
import { migrate } from 'postgres-migrations';
import { QUEUES } from '../queue/names.ts';
import type { Queryable } from './database.ts';
import { LOCK_WAITS, retryWhileLocked } from './migrationLocks.ts';
import { migrationsFolder, pendingMigrations } from './pendingMigrations.ts';
import { refuseSharedSessions } from './pooler.ts';
import { connectToPrimary } from './primary.ts';
import { applyRights } from './rights.ts';
import { refuseOldServer } from './serverVersion.ts';

export interface Migrated {
  /** The names of our files that were applied. */
  readonly applied: readonly string[];
  /** Statements on roles and rights that the user may not run; an administrator must. */
  readonly refused: readonly string[];
}

/**
 * Applies all pending migrations, and the rights of the database roles.
 * @throws OperatorError behind a pooler that shares sessions: the lock of the migrations belongs to a session;
 * on a server that is too old; or if others hold a table for minutes
 */
export async function migrateDatabase(
  connectionString: string,
  lockWaits = LOCK_WAITS,
): Promise<Migrated> {
  await refuseSharedSessions(connectionString, {
    work: 'a migration',
    remedy: 'Set MIGRATE_DATABASE_URL or QUEUE_DATABASE_URL to the PostgreSQL server itself.',
  });
  const client = await connectToPrimary({ connectionString });
  try {
    const db = queryableOf(client);
    await refuseOldServer(db);
    const pending = await pendingMigrations(db);
    let attempts = 0;
    return await retryWhileLocked(client, lockWaits, async (watched) => {
      attempts += 1;
      const files = await migrate({ client: watched }, migrationsFolder());
      await migrateQueue(watched);
      await createQueueSequences(watched);
      const refused = await applyRights(queryableOf(watched));
      // The library records its own bookkeeping table as migration 0, and returns only what this call applied.
      const inOneCall = files.filter(({ id }) => id > 0).map(({ fileName }) => fileName);
      return { applied: attempts === 1 ? inOneCall : pending, refused };
    });
  } finally {
    await client.end();
  }
}

/**
 * The queue's library creates a sequence for each queue when its first job is added. A process with the
 * least rights may create nothing, and the sequences of one role could not be used by another.
 */
async function createQueueSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('create sequence if not exists bullmq.%I', bullmq.job_id_seq_name(queue)) as statement
       from unnest($1::text[]) as queue`,
    [Object.values(QUEUES)],
  );
  for (const { statement } of rows) await client.query(statement);
}

function queryableOf(client: pg.Client): Queryable {
  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const { rows } = await client.query<Row>(text, values && [...values]);
      return rows;
    },
  };
}
