/**
 * A server that runs out of transaction ids, because something keeps vacuum from freezing rows. It warns with each
 * statement that takes an id, and works as before, long before it refuses to assign any.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { isDatabaseUnavailable } from '../../src/platform/db/failures.ts';
import { readIdsLeft } from '../../src/platform/db/serverVersion.ts';
import { chooseAccount } from '../../src/platform/embeddedPostgres/account.ts';
import { createLog } from '../../src/platform/log.ts';
import { memoryFolder } from '../support/memoryFolder.ts';
import { noteSkipped } from '../support/noteSkipped.ts';
import { createCluster, type PostgresServer, startServer } from '../support/replication.ts';

const BASE = '/usr/lib/postgresql';
/** Programs of a PostgreSQL that can set its next transaction id; the embedded one lacks that program. */
const programs = (existsSync(BASE) ? readdirSync(BASE) : [])
  .map((version) => join(BASE, version, 'bin'))
  .filter((bin) => existsSync(join(bin, 'pg_resetwal')))
  .map((bin) => ({
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    resetwal: join(bin, 'pg_resetwal'),
  }))[0];
if (programs === undefined) noteSkipped('pg_resetwal', 'the tests of transaction ids are');

/** Below the last id of the oldest row: PostgreSQL warns for the last 40 million, and refuses the last three. */
const LAST_ID = 2 ** 31;
const IDS_IN_FILE = 2 ** 20;
const STATUS_FILE = Buffer.alloc(IDS_IN_FILE / 4);

describe.skipIf(programs === undefined)('a server that runs out of transaction ids', () => {
  const folder = mkdtempSync(join(memoryFolder(), 'tallyhook-ids-'));
  const dir = join(folder, 'server');
  const settings = { wal_level: 'logical', autovacuum: 'off' };
  const lines: string[] = [];
  let server: PostgresServer;
  let db: Database | undefined;

  const start = async (): Promise<void> => {
    server = await startServer(dir, { settings, ...(programs && { programs }) });
  };
  /** Continues with an id so far before the last one. */
  const leave = async (ids: number): Promise<Database> => {
    await server.stop();
    const next = LAST_ID - ids;
    const file = Math.floor(next / IDS_IN_FILE)
      .toString(16)
      .toUpperCase()
      .padStart(4, '0');
    writeFileSync(join(dir, 'pg_xact', file), STATUS_FILE, { mode: 0o600 });
    const { account } = chooseAccount({
      postgres: programs?.postgres ?? '',
      dataDir: folder,
      clusterDir: dir,
    });
    const plan = account.plan(programs?.resetwal ?? '', ['-x', String(next), '-D', dir]);
    execFileSync(plan.file, plan.args, { ...plan.options, cwd: '/', stdio: 'pipe' });
    await start();
    db = createDatabase({
      connectionString: server.url,
      log: createLog('error', (line) => lines.push(line)),
      applicationName: 'test',
      maxConnections: 2,
      responseTimeoutMs: 30_000,
      plans: 'any',
    });
    return db;
  };

  beforeAll(async () => {
    createCluster(dir, programs);
    await start();
    await server.query('create table written (n int)');
    // What keeps vacuum from freezing rows: a slot that nobody reads.
    await server.query(`select pg_create_logical_replication_slot('forgotten', 'pgoutput')`);
  });
  afterEach(() => db?.close());
  afterAll(async () => {
    await server?.crash();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is used as before while it only warns, and the warning is logged', async () => {
    const warning = await leave(30_000_000);
    await warning.query('insert into written values (1)');
    await warning.transaction((tx) => tx.query('insert into written values (2)'));
    expect(await warning.query('select n from written order by n')).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await readIdsLeft(warning)).toBeLessThan(31_000_000);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        msg: 'database.out_of_ids_soon',
        warning: expect.stringMatching(/must be vacuumed within \d+ transactions/),
        hint: expect.stringMatching(/stale replication slots/),
      }),
    ]);
  });

  test('is unavailable once it assigns no id', async () => {
    const stopped = await leave(1_000_000);
    const failure = await stopped.query('insert into written values (3)').then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(String(failure)).toMatch(/wraparound/);
    expect(isDatabaseUnavailable(failure)).toBe(true);
  });
});
