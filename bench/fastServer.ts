/**
 * The server that fills large ledgers: it writes without waiting for the disk. What is measured afterwards runs
 * on a server with the settings that users get.
 */
import { createDatabase, type Database } from '../src/platform/db/database.ts';
import { migrateDatabase } from '../src/platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../src/platform/embeddedPostgres/index.ts';
import { createLog } from '../src/platform/log.ts';
import type { Cleanup } from './cleanup.ts';

const FILL_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '4GB',
  shared_buffers: '1GB',
  maintenance_work_mem: '256MB',
  work_mem: '256MB',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/** A vacuum of the largest ledger takes minutes. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

/** @param work gets the address of the server */
export async function onFastServer<T>(
  dataDir: string,
  cleanup: Cleanup,
  work: (server: string) => Promise<T>,
): Promise<T> {
  const starting = startEmbeddedPostgres({
    dataDir,
    log: () => undefined,
    settings: FILL_SETTINGS,
  });
  cleanup.add(async () => {
    const started = await starting.catch(() => undefined);
    await started?.stop();
  });
  const server = await starting;
  try {
    return await work(server.connectionString);
  } finally {
    // Stopping writes a checkpoint, so the next server begins with everything on disk.
    await server.stop();
  }
}

/** Makes the database, unless it exists, and migrates it. Returns its address. */
export async function makeDatabase(server: string, name: string): Promise<string> {
  await withDatabase(server, async (db) => {
    const found = await db.query('select from pg_database where datname = $1', [name]);
    if (found.length === 0) await db.query(`create database ${name}`);
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  await migrateDatabase(url.href);
  return url.href;
}

/** @param work gets a database with one connection, so that what it sets stays set */
export async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({
    connectionString: url,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench-fill',
    maxConnections: 1,
    responseTimeoutMs: STATEMENT_TIMEOUT_MS,
    plans: 'any',
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
