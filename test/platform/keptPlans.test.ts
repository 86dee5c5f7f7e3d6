/** How long a connection of a pool with plans by key keeps them. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createDatabase, type Database } from '../../src/platform/db/database.ts';
import { countRead } from '../support/countRead.ts';
import { createTestDatabase, silentLog, type TestDatabase } from '../support/database.ts';

const ROWS = 2_000;
let db: TestDatabase;
let worker: Database;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.query('create table subjects (id bigint primary key, subject text, is_open boolean)');
  await db.query('create index on subjects (subject)');
  await db.query('create index on subjects (id) where is_open');
  await db.query('analyze subjects');
  worker = createDatabase({
    connectionString: db.url,
    log: silentLog,
    applicationName: 'test',
    maxConnections: 1,
    responseTimeoutMs: 30_000,
    plans: 'by_key',
  });
});
afterAll(async () => {
  await worker.close();
  await db.drop();
});
afterEach(() => vi.restoreAllMocks());

/** How many rows are read to find one by its subject. */
async function countOne(): Promise<number> {
  const { read } = await countRead(worker, 'subjects', (tx) =>
    tx.query(
      'select id from subjects join unnest($1::text[]) as wanted (subject) using (subject) where is_open',
      [['subject 7']],
    ),
  );
  return read;
}

test('after five seconds the plan for an empty table does not read the table that it has become', async () => {
  await countOne();
  await db.query(
    `insert into subjects select i, 'subject ' || i, true from generate_series(1, $1) i`,
    [ROWS],
  );
  // Else the plan does not have the flaw that the time repairs.
  expect(await countOne()).toBe(ROWS);
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 5_000);
  expect(await countOne()).toBe(1);
});
