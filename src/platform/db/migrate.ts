/**
 * Applies schema changes: our files in `migrations/`, forward only, and those of the queue's
 * PostgreSQL backend in its own schema `bullmq`; then the rights of the database roles on both.
 * Several processes may run it at the same time.
 *
 * 1. Where nothing is pending it only reads: it waits for no lock, and needs no right to create anything.
 */
import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  runMigrations as migrateQueue,
  SchemaMigrationRequiredError,
} from 'bullmq';
import type pg from 'pg';
import { loadMigrationFiles, migrate } from 'postgres-migrations';
import { QUEUES } from '../queue/names.ts';
import type { Queryable } from './database.ts';
import { LOCK_WAITS, type LockWaits, type OnWait, retryWhileLocked } from './migrationLocks.ts';
import { migrationsFolder, pendingMigrations } from './pendingMigrations.ts';
import { poolingOf, refuseSharedSessions } from './pooler.ts';
import { connectToPrimary } from './primary.ts';
import { applyRights, readRoleRights } from './rights.ts';
import { refuseOldServer } from './serverVersion.ts';
import { refuseUnsuitableDatabase } from './suitable.ts';

export interface Migrated {
  /** The names of our files that were applied. */
  readonly applied: readonly string[];
  /** Statements on roles and rights that the user may not run; an administrator must. */
  readonly refused: readonly string[];
}

export interface MigrationOptions {
  readonly waits?: LockWaits;
  /** Receives what the migration waits for. */
  readonly onWait?: OnWait;
}

/**
 * Applies all pending migrations, and the rights of the database roles.
 * @throws OperatorError behind a pooler that shares sessions: the lock of the migrations belongs to a session;
 * on a server that is too old; for a new database with another encoding or schema; or if others hold a table for minutes
 */
export async function migrateDatabase(
  connectionString: string,
  { waits = LOCK_WAITS, onWait = () => undefined }: MigrationOptions = {},
): Promise<Migrated> {
  const client = await connectToPrimary({
    connectionString,
    application_name: 'tallyhook-migrate',
  });
  try {
    refuseSharedSessions(await poolingOf(client, connectionString), {
      work: 'a migration',
      remedy: 'Set MIGRATE_DATABASE_URL or QUEUE_DATABASE_URL to the PostgreSQL server itself.',
    });
    const db = queryableOf(client);
    await refuseOldServer(db);
    await refuseUnsuitableDatabase(db);
    const pending = await pendingMigrations(db);
    let attempts = 0;
    return await retryWhileLocked(client, { waits, onWait }, async (watched) => {
      attempts += 1;
      const files = (await isCurrent(watched)) ? [] : await applyFiles(watched);
      const refused = (await hasAllRights(watched)) ? [] : await applyRights(queryableOf(watched));
      return { applied: attempts === 1 ? files : pending, refused };
    });
  } finally {
    await client.end();
  }
}

/** @returns the names of our files that were applied */
async function applyFiles(client: pg.Client): Promise<readonly string[]> {
  const files = await migrate({ client }, migrationsFolder());
  await migrateQueue(client);
  await createQueueSequences(client);
  // The library records its own bookkeeping table as migration 0, and returns only what this call applied.
  return files.filter(({ id }) => id > 0).map(({ fileName }) => fileName);
}

/** Whether everything that `applyFiles` does is done. Reads only. */
async function isCurrent(client: pg.Client): Promise<boolean> {
  const db = queryableOf(client);
  if ((await pendingMigrations(db)).length > 0) return false;
  const applied = await db.query<{ id: number; hash: string }>(
    'select id, hash from migrations order by id limit 10000',
  );
  const hashes = new Map(applied.map(({ id, hash }) => [id, hash]));
  const files = await loadMigrationFiles(migrationsFolder());
  // The library names a file that was edited after it was applied.
  if (files.some(({ id, hash }) => id > 0 && hashes.get(id) !== hash)) return false;
  return (await readQueueVersion(client)) >= LATEST_SCHEMA_VERSION && (await hasSequences(db));
}

async function readQueueVersion(client: pg.Client): Promise<number> {
  try {
    return await assertSchemaCompatibility(client);
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return 0;
    throw error;
  }
}

async function hasSequences(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ complete: boolean }>(
    `select coalesce(bool_and(exists (
              select from pg_class c join pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'bullmq' and c.relkind = 'S'
                 and c.relname = bullmq.job_id_seq_name(queue))), true) as complete
       from unnest($1::text[]) as queue`,
    [Object.values(QUEUES)],
  );
  return row?.complete ?? false;
}

async function hasAllRights(client: pg.Client): Promise<boolean> {
  const roles = await readRoleRights(queryableOf(client));
  return roles.every(
    ({ exists, missing, surplus }) => exists && missing.length === 0 && surplus.length === 0,
  );
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
