/**
 * Fills the ledger, on a server that writes without waiting for the disk. What is measured afterwards
 * runs on a server with the settings that users get.
 */
import { createDatabase, type Database, type Queryable } from '../../src/platform/db/database.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../../src/platform/embeddedPostgres/index.ts';
import { createLog } from '../../src/platform/log.ts';
import type { Cleanup } from '../cleanup.ts';
import { createCopier, FILLED_TABLES, hasTemplate, moveTemplateAside } from './copies.ts';
import { rebuildIndexes, suspendIndexes } from './indexes.ts';
import { applyTemplate } from './template.ts';

export const DATABASE = 'bench_growth';

const FILL_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '4GB',
  shared_buffers: '1GB',
  maintenance_work_mem: '256MB',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

/** A vacuum of the largest ledger takes minutes. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

export interface Plan {
  readonly dataDir: string;
  readonly bodyBytes: number;
  readonly eventsPerDay: number;
  /** Events after the last fill; decides how old the first of all is. */
  readonly finalEvents: number;
}

/**
 * Fills the ledger up to a number of events; goes on with one that was filled before.
 * @returns how many it holds
 */
export function fill(plan: Plan, events: number, cleanup: Cleanup): Promise<number> {
  return onFastServer(plan.dataDir, cleanup, async (server) => {
    const url = await makeDatabase(server);
    if (!(await withDatabase(url, hasTemplate))) {
      const run = await applyTemplate(url, plan.bodyBytes);
      await withDatabase(url, (db) => moveTemplateAside(db, run));
    }
    return await withDatabase(url, (db) => copyUpTo(db, plan, events));
  });
}

/** Makes the database, unless it exists, and migrates it. */
async function makeDatabase(server: string): Promise<string> {
  await withDatabase(server, async (db) => {
    const found = await db.query('select from pg_database where datname = $1', [DATABASE]);
    if (found.length === 0) await db.query(`create database ${DATABASE}`);
  });
  const url = databaseOf(server);
  await migrateDatabase(url);
  return url;
}

async function copyUpTo(db: Database, plan: Plan, events: number): Promise<number> {
  const copier = await createCopier(db);
  const { eventsPerCopy } = copier;
  if (copier.copies * eventsPerCopy < events) await suspendIndexes(db, FILLED_TABLES);
  while (copier.copies * eventsPerCopy < events) {
    const eventsAfter = plan.finalEvents - copier.copies * eventsPerCopy;
    await copier.copyNext(Math.max(0, eventsAfter) / plan.eventsPerDay);
    if (process.stderr.isTTY) process.stderr.write(`\r  copy ${copier.copies} `);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  // An earlier fill of the same folder may have been interrupted before this.
  if ((await rebuildIndexes(db, FILLED_TABLES)) > 0) {
    await continueSequences(db);
    // As autovacuum would have, some time after so many rows came in.
    await db.query('vacuum analyze');
  }
  return copier.copies * eventsPerCopy;
}

async function continueSequences(db: Queryable): Promise<void> {
  await db.query(
    `select setval(pg_get_serial_sequence('webhook_events', 'id'), (select max(id) from webhook_events)),
            setval(pg_get_serial_sequence('transfers', 'id'), (select max(id) from transfers)),
            setval(pg_get_serial_sequence('messages', 'number'), (select max(number) from messages))`,
  );
  await db.query(
    'update order_webhook_position set change_number = (select max(number) from changes)',
  );
}

async function onFastServer<T>(
  dataDir: string,
  cleanup: Cleanup,
  work: (url: string) => Promise<T>,
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

async function withDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = createDatabase({
    connectionString: url,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench-growth',
    maxConnections: 1,
    responseTimeoutMs: STATEMENT_TIMEOUT_MS,
    plans: 'any',
  });
  try {
    // Rows of the template have passed the checks that triggers make.
    await db.query('set session_replication_role = replica');
    return await work(db);
  } finally {
    await db.close();
  }
}

function databaseOf(url: string): string {
  const database = new URL(url);
  database.pathname = `/${DATABASE}`;
  return database.href;
}
