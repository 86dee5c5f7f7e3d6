/** A separate database for a test file, created from the migrated template. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { databaseUrl, SANDBOX_TEMPLATE, TEMPLATE } from './globalSetup.ts';
import { waitFor } from './waitFor.ts';

export interface TestDatabase extends Database {
  readonly url: string;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** Longer than nearly all tests. */
const LONGEST_TEST_MS = 30_000;

export const silentLog = createLog('silent');

/**
 * Waits for the next day if this one ends within `longestTestMs`: what a test stores for yesterday is not
 * two days old when it looks.
 */
export async function createTestDatabase(longestTestMs = LONGEST_TEST_MS): Promise<TestDatabase> {
  await waitFor('the next day', () => leftOfDayMs() > longestTestMs, 2 * longestTestMs);
  return createFrom(TEMPLATE);
}

/** A database for a sandbox, which has no ledger. */
export function createSandboxDatabase(): Promise<TestDatabase> {
  return createFrom(SANDBOX_TEMPLATE);
}

/** @returns the name of a new database */
export async function copyDatabase(template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Copied as files: through the write-ahead log it costs nearly twice as much. PostgreSQL 14 has no other way,
  // and no name for it.
  const strategy = process.env.TEST_POSTGRES === undefined ? 'strategy file_copy' : '';
  await administer(`create database ${name} template ${template} ${strategy}`);
  return name;
}

async function createFrom(template: string): Promise<TestDatabase> {
  const name = await copyDatabase(template);
  const url = databaseUrl(inject('postgresUrl'), name);
  const db = createDatabase({
    connectionString: url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 8,
    responseTimeoutMs: 30_000,
    plans: 'any',
  });
  return {
    ...db,
    query: (text, values) => onceConnected(() => db.query(text, values)),
    prepared: (text, values) => onceConnected(() => db.prepared(text, values)),
    transaction: (work) => onceConnected(() => db.transaction(work)),
    url,
    drop: async () => {
      await db.close();
      await administer(`drop database ${name} with (force)`);
    },
  };
}

const MAX_CONNECTS = 10;
/** As `pg` and `pg-pool` name a connection that was not opened in time. */
const NOT_CONNECTED = /connection timeout|timeout exceeded when trying to connect/;

/** Does again what got no connection in the five seconds that a program has: a test has more on a busy machine. */
async function onceConnected<T>(work: () => Promise<T>): Promise<T> {
  for (let connects = 1; ; connects += 1) {
    try {
      return await work();
    } catch (error) {
      const isConnected = !(error instanceof Error && NOT_CONNECTED.test(error.message));
      if (isConnected || connects === MAX_CONNECTS) throw error;
    }
  }
}

/** By a clock that no test replaces. */
function leftOfDayMs(): number {
  return DAY_MS - ((performance.timeOrigin + performance.now()) % DAY_MS);
}

let maintenance: pg.Pool | undefined;

/**
 * Runs a statement in the maintenance database. All files of a worker share its connections: opening one takes the
 * server as much processor time as copying a database.
 */
export async function administer(statement: string): Promise<void> {
  maintenance ??= openMaintenance();
  await maintenance.query(statement);
}

function openMaintenance(): pg.Pool {
  // Kept while fake timers are in use, too; an idle connection does not keep the worker from ending.
  const connectionString = inject('postgresUrl');
  const pool = new pg.Pool({ connectionString, idleTimeoutMillis: 0, allowExitOnIdle: true });
  // The server stops before the workers end.
  pool.on('error', () => undefined);
  return pool;
}
