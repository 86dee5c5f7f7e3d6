/** The PostgreSQL of a run, with the settings that users get, and a fresh database for each part. */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type Database, type Queryable } from '../src/platform/db/database.ts';
import { migrateDatabase } from '../src/platform/db/migrate.ts';
import { startEmbeddedPostgres } from '../src/platform/embeddedPostgres/index.ts';
import { createLog } from '../src/platform/log.ts';
import type { Cleanup } from './cleanup.ts';

export interface Postgres {
  readonly pid: number;
  readonly version: string;
  /** Makes and migrates a database called `name`. */
  createDatabase(name: string): Promise<BenchDatabase>;
  /** Makes a database called `name` for others, without tables. */
  createEmptyDatabase(name: string): Promise<BenchDatabase>;
  /** Opens a database that was made before. */
  openDatabase(name: string): BenchDatabase;
}

interface ServerFacts {
  readonly version: string;
  readonly pid: number;
  /** Settings that must be on and are not. */
  readonly notDurable: readonly string[];
}

export interface BenchDatabase {
  readonly url: string;
  query: Database['query'];
  transaction: Database['transaction'];
  drop(): Promise<void>;
}

/** Starts the PostgreSQL that Tallyhook brings, with the settings that users get. */
export async function startPostgres(dataDir: string, cleanup: Cleanup): Promise<Postgres> {
  const starting = startEmbeddedPostgres({ dataDir, log: () => undefined });
  // Registered before the server runs: the bench may end while it starts.
  cleanup.add(async () => {
    const started = await starting.catch(() => undefined);
    await started?.stop();
  });
  return usePostgres((await starting).connectionString, cleanup);
}

/**
 * Uses a server that runs already; databases are made and dropped in it.
 * @param connectionString of a superuser, who may read the id of the server's process
 * @throws Error when commits are not durable there: the figures would mean nothing
 */
export async function usePostgres(connectionString: string, cleanup: Cleanup): Promise<Postgres> {
  const admin = connect(connectionString);
  cleanup.add(() => admin.close());
  const [row] = await admin.query<ServerFacts>(
    `select current_setting('server_version') as version,
            split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid,
            array(select name from pg_settings
                   where name in ('fsync', 'synchronous_commit', 'full_page_writes')
                     and setting <> 'on') as "notDurable"`,
  );
  if (!row) throw new Error('the server returned no settings');
  if (row.notDurable.length > 0) {
    throw new Error(`the server does not write durably: ${row.notDurable.join(', ')} must be on`);
  }
  const urlOf = (name: string): string => {
    const url = new URL(connectionString);
    url.pathname = `/${name}`;
    return url.href;
  };
  const openDatabase = (name: string): BenchDatabase => {
    const url = urlOf(name);
    const db = connect(url);
    cleanup.add(() => db.close());
    return {
      url,
      query: db.query,
      transaction: db.transaction,
      drop: async () => {
        await db.close();
        await admin.query(`drop database ${name} with (force)`);
      },
    };
  };
  const createEmptyDatabase = async (name: string): Promise<BenchDatabase> => {
    await admin.query(`create database ${name}`);
    return openDatabase(name);
  };
  return {
    pid: row.pid,
    version: row.version,
    createDatabase: async (name) => {
      const db = await createEmptyDatabase(name);
      await migrateDatabase(db.url);
      return db;
    },
    createEmptyDatabase,
    openDatabase,
  };
}

function connect(connectionString: string): Database {
  let closing: Promise<void> | undefined;
  const db = createDatabase({
    connectionString,
    log: createLog('silent'),
    applicationName: 'tallyhook-bench',
    maxConnections: 2,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  return {
    ...db,
    close: () => {
      closing ??= db.close();
      return closing;
    },
  };
}

/** Events that wait to be applied. */
export async function countPending(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>('select count(*) as count from pending');
  return row?.count ?? 0;
}

/** The outcome of the events of a database. */
export interface Kept {
  readonly stored: number;
  readonly pending: number;
  readonly dead: number;
  /** Events that were not applied, according to a finding. */
  readonly notApplied: number;
  readonly payments: number;
  /** Open findings of any class. */
  readonly findings: number;
}

export async function countKept(db: Pick<Database, 'query'>): Promise<Kept> {
  const [row] = await db.query<Kept>(
    `select (select count(*) from webhook_events) as stored,
            (select count(*) from pending) as pending,
            (select count(*) from dead_events) as dead,
            (select count(*) from findings
              where state = 'open'
                and class in ('unreadable_event', 'foreign_merchant', 'event_ignored')) as "notApplied",
            (select count(*) from resources where kind = 'payment') as payments,
            (select count(*) from findings where state = 'open') as findings`,
  );
  if (!row) throw new Error('a select without a from returned no row');
  return row;
}

const SYNCS = 100;

/** Median time of a small durable write in `folder`: what each commit waits for. */
export function measureSyncMicros(folder: string): number {
  const file = openSync(join(folder, 'sync-probe'), 'w');
  try {
    const micros = Array.from({ length: SYNCS }, () => {
      const startMs = performance.now();
      writeSync(file, Buffer.alloc(8192), 0, 8192, 0);
      fdatasyncSync(file);
      return (performance.now() - startMs) * 1_000;
    });
    return Math.round(micros.sort((a, b) => a - b)[SYNCS / 2] ?? 0);
  } finally {
    closeSync(file);
  }
}
