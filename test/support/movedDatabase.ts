/**
 * A database on a real server that runs days ahead of the machine's clock, at the will of a test. Stored
 * times, due times and partitions follow the database's clock, so moving it moves the installation.
 *
 * Functions with the names of PostgreSQL's clock are in the schema `public`, which precedes `pg_catalog` in
 * the search path. Migrations run with that path, so that defaults of columns use the moved clock, too.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { createDatabase } from '../../src/platform/db/database.ts';
import { migrateDatabase } from '../../src/platform/db/migrate.ts';
import { administer, copyDatabase, silentLog, type TestDatabase } from './database.ts';
import { databaseUrl } from './globalSetup.ts';

export interface MovedDatabase extends TestDatabase {
  /** The database's clock. */
  readonly clock: Clock;
  /** Sets the database's clock. It goes on from there. */
  moveTo(timeMs: number): Promise<void>;
}

const PATH = 'public, pg_catalog';
const CLOCKS = ['now', 'statement_timestamp', 'transaction_timestamp', 'clock_timestamp'] as const;

/** Migrated once for all tests of a worker; it ends with the server. */
let template: Promise<string> | undefined;

export async function createMovedDatabase(): Promise<MovedDatabase> {
  template ??= createTemplate();
  const name = await copyDatabase(await template);
  await administer(setPathOf(name));
  const url = databaseUrl(inject('postgresUrl'), name);
  const db = createDatabase({
    connectionString: url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 8,
    responseTimeoutMs: 60_000,
    plans: 'any',
  });
  let shiftMs = 0;
  return {
    ...db,
    url,
    clock: { nowMs: () => systemClock.nowMs() + shiftMs },
    moveTo: async (timeMs) => {
      shiftMs = timeMs - systemClock.nowMs();
      await db.query(`update clock_shift set by = $1 * interval '1 millisecond'`, [shiftMs]);
    },
    drop: async () => {
      await db.close();
      await administer(`drop database ${name} with (force)`);
    },
  };
}

/** Belongs to a database and not to what is in it, so a copy does not have it. */
function setPathOf(database: string): string {
  return `alter database ${database} set search_path = ${PATH}`;
}

async function createTemplate(): Promise<string> {
  const name = `moved_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name}`);
  await prepare(databaseUrl(inject('postgresUrl'), name), name);
  return name;
}

async function prepare(url: string, name: string): Promise<void> {
  await run(url, [
    `create table public.clock_shift as select interval '0' as by`,
    'grant select on public.clock_shift to public',
    ...CLOCKS.map(
      (clock) =>
        `create function public.${clock}() returns timestamptz language sql
           ${clock === 'clock_timestamp' ? 'volatile' : 'stable'}
           as 'select pg_catalog.${clock}() + by from public.clock_shift'`,
    ),
    setPathOf(name),
  ]);
  await migrateDatabase(url);
  // Functions that fix a search path of their own.
  const [{ statements } = { statements: [] }] = await run<{ statements: string[] }>(url, [
    `select coalesce(array_agg(format('alter function %s set search_path = ${PATH}, pg_temp',
                                      p.oid::regprocedure)), '{}') as statements
       from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and exists (select from unnest(p.proconfig) as c where c like 'search_path=%')`,
  ]);
  await run(url, statements);
}

/** Runs statements. @returns the rows of the last one */
async function run<Row extends object>(
  url: string,
  statements: readonly string[],
): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
